import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Arrival } from '../src/receiver/receiver.ts';
import { standardSignature, verify } from '../src/receiver/signature.ts';

/**
 * Reads vectors that were made with OpenSSL. The package that holds them has a verifier, which the suite does not use.
 */
function vectors(name: string): readonly Vector[] {
  const url = new URL(`../../webhook-verify/vectors/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')).cases;
}

interface Vector {
  readonly why: string;
  readonly outcome: string;
  readonly secrets: readonly string[];
  readonly now: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly options?: object;
}

function arrivalOf({ now, headers, body }: Vector): Arrival {
  const received = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const values = received.get(name.toLowerCase()) ?? [];
    received.set(name.toLowerCase(), [...values, value.replace(/^[ \t]+|[ \t]+$/g, '')]);
  }
  return {
    at: now * 1000,
    method: 'POST',
    headers: received,
    body: Buffer.from(body, 'base64'),
    monotonicMs: 0,
    abandonedAfterMs: undefined,
  };
}

/** Deliveries that a receiver may accept and a host must not send. */
const LENIENT = [
  'a header that is repeated with the same value',
  'a header that is joined with the same value',
  'a header that is joined with an empty value',
  'an empty copy of a header',
  'no algorithm',
  'a signature in upper case',
];

describe('the verifier of the suite', () => {
  const cases = vectors('deliveries').filter(({ secrets, options }) => secrets.length === 1 && options === undefined);

  test.each(cases.filter(({ outcome, why }) => outcome === 'accepted' && !LENIENT.includes(why)))(
    'accepts $why',
    (vector) => {
      const family = vector.headers.some(([name]) => name.toLowerCase() === 'svc-signature') ? 'SVC' : 'X-svc';
      expect(verify(arrivalOf(vector), family, vector.secrets[0] ?? '').algorithm).toBe('v1');
    },
  );

  // Other checks compare the header families, the id and the body.
  const others = ['accepted', 'header_mismatch', 'malformed_body', 'event_type_mismatch'];
  const rejected = cases.filter(({ outcome, why }) => !others.includes(outcome) && why !== 'two ids joined by a comma');
  test.each(rejected)('rejects $why', (vector) => {
    expect(() => verify(arrivalOf(vector), 'SVC', vector.secrets[0] ?? '')).toThrow(/expected/);
  });

  const standard = vectors('standard-webhooks').filter(({ secrets, outcome, options, headers }) => {
    const isPlain = secrets.length === 1 && options === undefined && !Object.values(headers).some(Array.isArray);
    return isPlain && ['accepted', 'signature_mismatch'].includes(outcome);
  });
  test.each(standard)('returns $outcome for Standard Webhooks: $why', (vector) => {
    const headers = Object.entries(vector.headers) as unknown as Vector['headers'];
    const { isRight } = standardSignature(arrivalOf({ ...vector, headers }), vector.secrets[0] ?? '');
    expect(isRight).toBe(vector.outcome === 'accepted');
  });
});
