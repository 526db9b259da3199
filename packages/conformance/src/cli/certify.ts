import { readFileSync } from 'node:fs';
import { certificationBundle, publicKeyOf } from '../certification/bundle.ts';
import { verifyCertificationBundle } from '../certification/verify.ts';
import { UsageError } from '../options.ts';
import type { Report } from '../report/report.ts';
import type { Terminal } from './terminal.ts';

/** The options of `--bundle`. */
export interface BundleArguments {
  /** Path of the private key in PEM. */
  readonly signingKey: string;
  readonly keyId: string;
}

/**
 * Returns the text of the signed report. The public key is told on stderr, for those who verify.
 *
 * @throws {UsageError} when the key cannot be read or used
 */
export function signedReport(report: Report, { signingKey, keyId }: BundleArguments, { stderr }: Terminal): string {
  const privateKey = textIn('signing-key', signingKey);
  try {
    const bundle = certificationBundle(report, { privateKey, keyId });
    stderr.write(`svc-conformance: signed with the key ${keyId}, whose public key is ${publicKeyOf(privateKey)}.\n`);
    return `${JSON.stringify(bundle, undefined, 2)}\n`;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`--signing-key: ${error.message}`);
  }
}

/**
 * Verifies a signed report, and prints the verdict.
 *
 * @returns 0 when a given key signed it and the host conforms, 1 otherwise
 * @throws {UsageError} when the file cannot be read, or no key is given
 */
export function verifyCommand(path: string, keys: readonly string[], { stdout, stderr }: Terminal): number {
  const trusted = keys.map((text) => {
    const [, keyId, publicKey] = /^([A-Za-z0-9._~-]{1,128})=([A-Za-z0-9_-]{43})$/.exec(text) ?? [];
    if (keyId === undefined || publicKey === undefined)
      throw new UsageError('--public-key: must be ID=KEY, with the 32 bytes of the key in base64url (43 characters).');
    return { keyId, publicKey };
  });
  if (trusted.length === 0)
    throw new UsageError(
      '--verify: needs a key that you trust. Pass --public-key ID=KEY, from a source other than the bundle.',
    );
  const verdict = verifyCertificationBundle(textIn('verify', path), trusted);
  if (!verdict.ok) {
    stderr.write(`svc-conformance: ${path}: ${FAULTS[verdict.fault]}\n`);
    return 1;
  }
  const { isConforming, createdAt, report, signature } = verdict.bundle;
  const { host, url, profiles, summary, suiteVersion } = report;
  const state = isConforming ? `conforms to ${profiles.join(', ')}` : 'does not conform';
  const lines = [
    `${url} ${state}`,
    `host       ${[host.name ?? 'without a name', host.version ?? ''].join(' ').trim()}, versions ${host.protocolVersions.join(' and ')}`,
    `checks     ${summary.passed} passed, ${summary.failed} failed, ${summary.warned} warned, ${summary.skipped} skipped`,
    `made       ${createdAt} by suite ${suiteVersion}, signed with ${signature.keyId}`,
  ];
  // Text of a host may contain commands for the terminal.
  stdout.write(lines.map((line) => `${line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\u{FFFD}')}\n`).join(''));
  return isConforming ? 0 : 1;
}

const FAULTS = {
  'not-a-bundle': 'is no certification bundle of version 3. Make one with --bundle FILE.',
  'unknown-key': 'is signed with a key that --public-key does not name. Pass that key if you trust it.',
  'retired-key': 'is signed with a key that was retired before. Ask for a bundle of a newer key.',
  'signature-mismatch': 'has a signature that does not fit its content. It was changed, or another key signed it.',
  contradiction: 'is signed, and contradicts itself: its results do not show what it says. Do not trust its signer.',
} as const;

function textIn(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(`--${option}: ${path} cannot be read. Pass the path of a file.`);
  }
}
