import { existsSync, readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { configuredFile } from '../configured-file.ts';
import { databasePlace } from './database.ts';
import type { KeyFile } from './manifest.ts';
import { KEY_FILES } from './present-keys.ts';

/** A key as the text of its file. */
export interface KeyText {
  readonly name: KeyFile;
  readonly text: string;
}

/**
 * Reads the keys of a configuration: the configured ones, and otherwise those beside the database. Former secret keys are
 * in one file, one a line: records and audit checkpoints of a former key need it.
 */
export function keyTexts(
  config: Pick<Config, 'store' | 'secretKey' | 'formerSecretKeys' | 'audit' | 'debugBundles'>,
): readonly KeyText[] {
  const place = databasePlace(config);
  const beside = (name: keyof typeof KEY_FILES) => {
    const file = place.store === 'sqlite' ? `${place.path}${KEY_FILES[name]}` : undefined;
    return file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  };
  const configured = (option: string, file: string | null) =>
    file === null ? undefined : String(configuredFile(option, file));
  const { formerSecretKeys: former } = config;
  const texts: readonly [KeyFile, string | undefined][] = [
    ['secret-key', config.secretKey ?? beside('secret-key')],
    ['former-secret-keys', former.length === 0 ? undefined : `${former.join('\n')}\n`],
    ['audit-key.pem', configured('audit.signingKeyFile', config.audit.signingKeyFile) ?? beside('audit-key.pem')],
    [
      'bundle-key.pem',
      configured('debugBundles.signingKeyFile', config.debugBundles.signingKeyFile) ?? beside('bundle-key.pem'),
    ],
  ];
  return texts.flatMap(([name, text]) => (text === undefined ? [] : [{ name, text }]));
}
