import { existsSync, readFileSync } from 'node:fs';
import { ed25519Signer } from '@svc/auth/audit';
import { auditKeys } from '../audit-signer.ts';
import type { Config } from '../config.ts';
import { configuredFile } from '../configured-file.ts';
import { databasePlace } from './database.ts';

/** The files with keys beside a database, by their name in a backup. */
export const KEY_FILES = {
  'secret-key': '-secret-key',
  'audit-key.pem': '-audit-key.pem',
  'bundle-key.pem': '-bundle-key.pem',
} as const;

/** The keys of a host, as far as they exist. Nothing is created. */
export interface PresentKeys {
  /** The current and the former keys that seal secrets at rest. */
  readonly secretKeys: readonly Uint8Array[];
  /** The public key of the signer of audit checkpoints; undefined when its private key is missing. */
  readonly auditPublicKey: string | undefined;
  /** `auditPublicKey`, and the configured former public keys. */
  readonly auditPublicKeys: readonly string[];
}

/**
 * Reads the keys that a configuration names or that are beside its database.
 *
 * @param instead paths of key files, by their name in a backup, for those that are not beside the database
 */
export async function presentKeys(
  config: Pick<Config, 'store' | 'secretKey' | 'formerSecretKeys' | 'audit'>,
  instead: Readonly<Partial<Record<keyof typeof KEY_FILES, string>>> = {},
): Promise<PresentKeys> {
  const place = databasePlace(config);
  if (place.store === 'postgres') return await configuredKeys(config);
  const { path } = place;
  const beside = (name: keyof typeof KEY_FILES) =>
    [`${path}${KEY_FILES[name]}`, instead[name]].find((file) => file !== undefined && existsSync(file));
  const current = config.secretKey ?? contentOf(beside('secret-key'));
  const secretKeys = [...(current === undefined ? [] : [current]), ...config.formerSecretKeys];
  const { signingKeyFile, formerPublicKeys } = config.audit;
  const pem =
    signingKeyFile === null
      ? contentOf(beside('audit-key.pem'))
      : configuredFile('audit.signingKeyFile', signingKeyFile);
  const auditPublicKey = pem === undefined ? undefined : (await ed25519Signer(pem)).publicKey;
  return {
    secretKeys: secretKeys.map((text) => Buffer.from(text, 'base64')),
    auditPublicKey,
    auditPublicKeys: [...(auditPublicKey === undefined ? [] : [auditPublicKey]), ...formerPublicKeys],
  };
}

/** With PostgreSQL, every key is configured, or derived from one that is. */
async function configuredKeys(
  config: Pick<Config, 'store' | 'secretKey' | 'formerSecretKeys' | 'audit'>,
): Promise<PresentKeys> {
  const [secret = new Uint8Array(), ...formerSecrets] = [config.secretKey ?? '', ...config.formerSecretKeys].map(
    (text) => new Uint8Array(Buffer.from(text, 'base64')),
  );
  const { signer, formerPublicKeys } = await auditKeys(config, secret, formerSecrets);
  return {
    secretKeys: [secret, ...formerSecrets],
    auditPublicKey: signer.publicKey,
    auditPublicKeys: [signer.publicKey, ...formerPublicKeys],
  };
}

function contentOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, 'utf8');
}
