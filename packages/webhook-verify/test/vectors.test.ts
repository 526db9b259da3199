import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { WebhookVerificationError, type WebhookVerificationErrorCode } from '../src/index.ts';
import { deliveryVectors, messageVectors, standardDeliveryVectors } from './vectors.ts';

/** Every code. The compiler rejects this record when a code is missing. */
const CODES: Readonly<Record<WebhookVerificationErrorCode, true>> = {
  missing_header: true,
  repeated_header: true,
  header_mismatch: true,
  webhook_id_mismatch: true,
  malformed_timestamp: true,
  timestamp_out_of_range: true,
  unknown_algorithm: true,
  malformed_signature: true,
  signature_mismatch: true,
  malformed_body: true,
  event_type_mismatch: true,
};

const FILES = [
  ['deliveries.json', deliveryVectors],
  ['standard-webhooks.json', messageVectors],
  ['standard-deliveries.json', standardDeliveryVectors],
] as const;
const all = FILES.flatMap(([, cases]) => [...cases]);

describe('the vectors', () => {
  test('have a case for each error code, and only these outcomes', () => {
    const outcomes = new Set(all.map(({ outcome }) => outcome));
    expect([...outcomes].sort()).toEqual(['accepted', 'challenge', ...Object.keys(CODES)].sort());
    const ofTheScheme = new Set(deliveryVectors.map(({ outcome }) => outcome));
    expect([...ofTheScheme].sort()).toEqual(['accepted', ...Object.keys(CODES)].sort());
  });

  test.each(FILES)('of %s have a name of their own each', (_file, cases) => {
    expect(new Set(cases.map(({ why }) => why)).size).toBe(cases.length);
  });

  test('state the status of their outcome', () => {
    for (const { outcome, status } of all) expect(status).toBe(statusOf(outcome));
  });
});

function statusOf(outcome: string): number {
  if (outcome === 'accepted' || outcome === 'challenge') return 200;
  // The message of an error needs no details of its code.
  return new WebhookVerificationError(outcome as 'unknown_algorithm', undefined).status;
}

/** The `openssl` program computes the HMAC-SHA256. A missing program fails the test. */
function hmac(key: Uint8Array, text: Uint8Array): Buffer {
  const hex = Buffer.from(key).toString('hex');
  const args = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${hex}`, '-binary'];
  return execFileSync('openssl', args, { input: text });
}

describe('openssl agrees with the signatures', { timeout: 60_000 }, () => {
  /** The outcomes that are judged after the signature. */
  const signed = ['accepted', 'challenge', 'malformed_body', 'event_type_mismatch'];
  const judged = [...signed, 'signature_mismatch'];

  test('of deliveries.json', () => {
    for (const { why, outcome, secrets, headers, body } of deliveryVectors) {
      if (!judged.includes(outcome)) continue;
      const firstOf = (name: string) => headers.find(([one, value]) => isNamed(one, name) && value !== '')?.[1] ?? '';
      const timestamp = firstOf('Timestamp').split(',')[0]?.replace(/[ \t]/g, '') ?? '';
      const text = Buffer.concat([Buffer.from(`${timestamp}.`), body]);
      const digests = secrets.map((secret) => `sha256=${hmac(Buffer.from(secret), text).toString('hex')}`);
      const isSigned = digests.some((digest) => firstOf('Signature').toLowerCase().includes(digest));
      expect(isSigned, why).toBe(signed.includes(outcome));
    }
  });

  test('of standard-webhooks.json', () => {
    for (const vector of messageVectors) {
      if (judged.includes(vector.outcome)) expectStandard(vector, Object.entries(vector.headers));
    }
  });

  test('of standard-deliveries.json', () => {
    const bySignature = ['accepted', 'challenge', 'malformed_body', 'signature_mismatch'];
    for (const vector of standardDeliveryVectors) {
      if (bySignature.includes(vector.outcome)) expectStandard(vector, vector.headers);
    }
  });

  type Pairs = readonly (readonly [string, string | readonly string[]])[];

  function expectStandard({ why, outcome, secrets, options, body }: (typeof all)[number], headers: Pairs): void {
    const family = options?.families?.find((one) => headers.some(([name]) => name === `${one}-id`)) ?? 'webhook';
    const valuesOf = (name: string) =>
      headers.flatMap(([one, value]) => (one.toLowerCase() === `${family}-${name}` ? value : []));
    const text = Buffer.concat([Buffer.from(`${valuesOf('id')[0]}.${valuesOf('timestamp')[0]}.`), body]);
    const keys = secrets.map((secret) => Buffer.from(secret.replace('whsec_', ''), 'base64'));
    const claimed = valuesOf('signature').join(' ').split(/,? +/);
    const isSigned = keys.some((key) => claimed.includes(`v1,${hmac(key, text).toString('base64')}`));
    expect(isSigned, why).toBe(signed.includes(outcome));
  }

  function isNamed(name: string, field: string): boolean {
    return ['svc', 'x-svc'].some((family) => name.toLowerCase() === `${family}-${field.toLowerCase()}`);
  }
});
