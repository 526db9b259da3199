import { createHmac, timingSafeEqual } from 'node:crypto';
import { Mismatch } from '../mismatch.ts';
import type { Arrival } from './receiver.ts';

// A second implementation of the interface's recipe: a verifier that the host also uses would share its errors.

/** Values of the headers of a delivery. */
export interface Signed {
  readonly webhookId: string;
  readonly eventType: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly algorithm: string;
}

/** Prefix of a header family without its hyphen: the `SVC-` headers of major 2, the `X-svc-` headers of major 1. */
export type Family = 'SVC' | 'X-svc';

const PREFIX: Readonly<Record<Family, string>> = { SVC: 'svc-', 'X-svc': 'x-svc-' };
const NAMES: Readonly<Record<keyof Signed, string>> = {
  webhookId: 'webhook-id',
  eventType: 'event-type',
  timestamp: 'timestamp',
  signature: 'signature',
  algorithm: 'signature-algorithm',
};

/**
 * Reads the headers of one family.
 *
 * @throws {Mismatch} when a header is missing or repeated
 */
export function familyOf({ headers }: Arrival, family: Family): Signed {
  const read = (field: keyof Signed): string => {
    const name = PREFIX[family] + NAMES[field];
    const values = headers.get(name) ?? [];
    const [value, ...others] = values;
    if (value === undefined || others.length > 0) {
      throw new Mismatch(`a delivery with exactly one header ${name}`, `${values.length} such headers`);
    }
    return value;
  };
  return {
    webhookId: read('webhookId'),
    eventType: read('eventType'),
    timestamp: read('timestamp'),
    signature: read('signature'),
    algorithm: read('algorithm'),
  };
}

/** Tells whether a delivery has any header of a family. */
export function carries({ headers }: Arrival, family: Family): boolean {
  return Object.values(NAMES).some((name) => headers.has(PREFIX[family] + name));
}

/**
 * Verifies a delivery as a subscriber does.
 *
 * @throws {Mismatch} when a subscriber would reject it
 * @see Interface: Subscriber verification recipe
 */
export function verify(arrival: Arrival, family: Family, secret: string): Signed {
  const signed = familyOf(arrival, family);
  if (!/^[0-9]+$/.test(signed.timestamp)) {
    throw new Mismatch('a timestamp of decimal digits', `"${signed.timestamp}"`);
  }
  const skew = Math.abs(arrival.at / 1000 - Number(signed.timestamp));
  if (skew > TOLERANCE_S) {
    throw new Mismatch(`a timestamp within ${TOLERANCE_S} s of the clock`, `one that is ${Math.round(skew)} s away`);
  }
  if (signed.algorithm !== 'v1') throw new Mismatch('the signature algorithm v1', `"${signed.algorithm}"`);
  const expected = `sha256=${hmac(secret, `${signed.timestamp}.`, arrival.body)}`;
  if (!equal(signed.signature, expected)) {
    throw new Mismatch(
      'the HMAC-SHA256 of the timestamp, a dot and the exact body, keyed by the secret as it was issued',
      `"${signed.signature}"`,
    );
  }
  return signed;
}

const TOLERANCE_S = 300;

/**
 * Compares the signatures of a Standard Webhooks delivery with a secret. `isRight` is true when one of them matches.
 */
export function standardSignature(
  arrival: Arrival,
  secret: string,
): { readonly id: string; readonly isRight: boolean; readonly entries: number } {
  const read = (name: string) => arrival.headers.get(name)?.[0] ?? '';
  const id = read('webhook-id');
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const text = `${id}.${read('webhook-timestamp')}.`;
  const expected = `v1,${createHmac('sha256', key).update(text).update(arrival.body).digest('base64')}`;
  const entries = read('webhook-signature')
    .split(' ')
    .filter((entry) => entry !== '');
  return { id, isRight: entries.some((entry) => equal(entry, expected)), entries: entries.length };
}

function hmac(secret: string, text: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(text).update(body).digest('hex');
}

function equal(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
