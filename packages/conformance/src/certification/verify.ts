import { createPublicKey, verify } from 'node:crypto';
import { z } from 'zod';
import type { ProfileName } from '../profile-name.ts';
import { PROFILES } from '../profiles.ts';
import { type CertificationBundle, signedBytes } from './bundle.ts';
import { isConforming } from './conforming.ts';

/** A public key that is trusted to sign bundles, in the form of `signingKeys` in a discovery document. */
export interface BundleKey {
  readonly keyId: string;
  /** The 32 bytes of the Ed25519 key in base64url. */
  readonly publicKey: string;
  /** Time from which the key signs nothing, as an RFC 3339 timestamp. Absent: it is in use. */
  readonly retiredAt?: string | undefined;
}

/** The reason why a bundle is rejected. */
export type CertificationFault =
  /** The text is no certification bundle of version 3. */
  | 'not-a-bundle'
  /** None of the keys has the id of the signature. */
  | 'unknown-key'
  /** The key was retired when the bundle was made. */
  | 'retired-key'
  /** The signature is not one of the key over the content. */
  | 'signature-mismatch'
  /** The bundle says that the host conforms, and its report does not show it; or the counts of the report differ from its results. */
  | 'contradiction';

/** The verdict on a bundle. */
export type CertificationVerdict =
  | { readonly ok: true; readonly bundle: CertificationBundle }
  | { readonly ok: false; readonly fault: CertificationFault };

/**
 * Verifies a certification bundle. The verdict `ok` says that a trusted key signed the report as it is; `bundle.isConforming` says whether
 * the host conforms. Never throws for any text.
 *
 * @example
 * import { readFileSync } from 'node:fs';
 * import { verifyCertificationBundle } from '@svc/conformance';
 *
 * const keys = [{ keyId: 'certification-2026', publicKey: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }];
 * const verdict = verifyCertificationBundle(readFileSync('bundle.json', 'utf8'), keys);
 * if (verdict.ok && verdict.bundle.isConforming) console.log(verdict.bundle.report.profiles);
 */
export function verifyCertificationBundle(text: string, keys: readonly BundleKey[]): CertificationVerdict {
  if (text.length > MOST_CHARACTERS) return { ok: false, fault: 'not-a-bundle' };
  try {
    return judged(JSON.parse(text), keys);
  } catch {
    // No JSON, or nested deeper than the stack.
    return { ok: false, fault: 'not-a-bundle' };
  }
}

const MOST_CHARACTERS = 16_777_216;

function judged(value: unknown, keys: readonly BundleKey[]): CertificationVerdict {
  const found = BUNDLE.safeParse(value);
  if (!found.success) return { ok: false, fault: 'not-a-bundle' };
  const { signature, isConforming: isSaid, createdAt, report } = found.data;
  // As it was received: a member that the schema leaves out is part of what must be signed.
  const { signature: _, ...unsigned } = value as CertificationBundle;
  const key = keys.find(({ keyId }) => keyId === signature.keyId);
  if (key === undefined) return { ok: false, fault: 'unknown-key' };
  if (!isSigned(unsigned, signature.value, key.publicKey)) return { ok: false, fault: 'signature-mismatch' };
  // A time that cannot be read is taken for one that has passed.
  const isInUse = key.retiredAt === undefined || Date.parse(createdAt) < Date.parse(key.retiredAt);
  if (!isInUse) return { ok: false, fault: 'retired-key' };
  const count = (outcome: string) => report.results.filter((one) => one.outcome === outcome).length;
  const isCounted = Object.entries(report.summary).every(([outcome, number]) => number === count(outcome));
  if (!isCounted || isSaid !== isConforming(report)) return { ok: false, fault: 'contradiction' };
  return { ok: true, bundle: value as CertificationBundle };
}

function isSigned(unsigned: object, value: string, publicKey: string): boolean {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
    return verify(null, signedBytes(unsigned), key, Buffer.from(value, 'base64url'));
  } catch {
    return false;
  }
}

const COUNT = z.int().min(0);
const BUNDLE = z.strictObject({
  bundleVersion: z.literal('3'),
  kind: z.literal('certification'),
  createdAt: z.iso.datetime(),
  isConforming: z.boolean(),
  report: z.looseObject({
    reportVersion: z.literal(1),
    suiteVersion: z.string(),
    url: z.string(),
    host: z.looseObject({ protocolVersions: z.array(z.string()) }),
    summary: z.strictObject({ passed: COUNT, failed: COUNT, warned: COUNT, skipped: COUNT }),
    profiles: z.array(z.enum(Object.keys(PROFILES) as [ProfileName, ...ProfileName[]])),
    missing: z.array(z.looseObject({ reason: z.string() })),
    results: z.array(
      z.looseObject({
        id: z.string(),
        major: z.union([z.literal(1), z.literal(2)]),
        outcome: z.enum(['passed', 'failed', 'warned', 'skipped']),
      }),
    ),
  }),
  signature: z.strictObject({
    alg: z.literal('ed25519'),
    keyId: z.string().regex(/^[A-Za-z0-9._~-]{1,128}$/),
    // The last character has two bits of the signature: another one would be a second spelling.
    value: z.string().regex(/^[A-Za-z0-9_-]{85}[AQgw]$/),
  }),
});
