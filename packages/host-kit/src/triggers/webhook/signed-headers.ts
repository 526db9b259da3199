import { createHmac, timingSafeEqual } from 'node:crypto';
import { TOLERANCE_SECONDS, WebhookVerificationError } from '@svc/webhook-verify';

/** An HMAC that a sender claims, and the parts of the text that it signs. */
export interface ClaimedHmac {
  readonly algorithm: 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64';
  /** Claimed signatures. One of them must match; several while the sender rotates its secret. */
  readonly signatures: readonly string[];
  /** The signed text: the parts one after another. */
  readonly parts: readonly (string | Uint8Array)[];
}

/**
 * Requires that one of the secrets made one of the signatures. Compares in constant time.
 *
 * @throws {WebhookVerificationError} `malformed_signature`, `signature_mismatch`
 */
export function requireHmac(secrets: readonly string[], claimed: ClaimedHmac): void {
  const { algorithm, encoding, signatures, parts } = claimed;
  const form = FORMS[encoding];
  const bytes = BYTES[algorithm];
  const decoded = signatures.filter((text) => form.test(text)).map((text) => Buffer.from(text, encoding));
  const digests = decoded.filter(({ length }) => length === bytes);
  if (digests.length === 0 || signatures.length > MOST_SIGNATURES)
    throw new WebhookVerificationError('malformed_signature', undefined);
  const isSigned = secrets.some((secret) => {
    const hmac = createHmac(algorithm, secret);
    for (const part of parts) hmac.update(part);
    const expected = hmac.digest();
    return digests.some((digest) => timingSafeEqual(digest, expected));
  });
  if (!isSigned) throw new WebhookVerificationError('signature_mismatch', undefined);
}

const FORMS = { hex: /^[0-9a-f]+$/, base64: /^[A-Za-z0-9+/]+={0,2}$/ } as const;
const BYTES = { sha256: 32, sha512: 64 } as const;
const MOST_SIGNATURES = 8;

/** Reads a header. @throws {WebhookVerificationError} `missing_header` */
export function requiredHeader(headers: Headers, header: string): string {
  const value = headers.get(header);
  if (value === null || value === '') throw new WebhookVerificationError('missing_header', { header });
  return value;
}

/**
 * Requires that a time of signing in Unix seconds is within five minutes of now.
 *
 * @throws {WebhookVerificationError} `malformed_timestamp`, `timestamp_out_of_range`
 */
export function requireFreshTime(text: string, now: number): void {
  if (!/^[0-9]{1,12}$/.test(text)) throw new WebhookVerificationError('malformed_timestamp', undefined);
  if (Math.abs(now - Number(text) * 1000) > TOLERANCE_SECONDS * 1000)
    throw new WebhookVerificationError('timestamp_out_of_range', { toleranceSeconds: TOLERANCE_SECONDS });
}
