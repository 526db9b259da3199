import { hash } from 'node:crypto';
import { mintId } from '@svc/versioning/ids';

/** An event for a subscription. */
export interface Delivered {
  readonly webhookId: string;
  readonly runId: string;
  readonly sequence: number;
  /** Time of the event, in ms since the epoch. */
  readonly timestamp: number;
}

/**
 * Returns the id of the delivery of an event to a subscription. It depends on both alone: an event that is sent again,
 * long after its first delivery was forgotten, has the same id, so a receiver recognises the repetition.
 *
 * @see Standard Webhooks: `webhook-id`
 */
export function deliveryIdOf({ webhookId, runId, sequence, timestamp }: Delivered): string {
  const digest = hash('sha256', `${webhookId}\n${runId}\n${sequence}`, 'buffer');
  return mintId(
    'dlv',
    () => timestamp,
    (size) => digest.subarray(0, size),
  );
}

/** Returns the time of the event that an id was made for, in ms since the epoch; undefined for an id of another form. */
export function eventTimeOf(deliveryId: string): number | undefined {
  const digits = /^dlv_([0-9a-hjkmnp-tv-z]{10})/.exec(deliveryId)?.[1];
  if (digits === undefined) return undefined;
  return [...digits].reduce((time, digit) => time * 32 + ALPHABET.indexOf(digit), 0);
}

/** Returns the lowest id of a delivery whose event has a time, in ms since the epoch. Ids compare by their bytes. */
export function lowestDeliveryId(eventTime: number): string {
  let left = Math.min(Math.max(Math.floor(eventTime), 0), LAST_TIME);
  let digits = '';
  for (let digit = 0; digit < 10; digit += 1) {
    digits = ALPHABET.charAt(left % 32) + digits;
    left = Math.floor(left / 32);
  }
  return `dlv_${digits}`;
}

/** The last time that fits an id: 48 bits. */
const LAST_TIME = 2 ** 48 - 1;

/** Crockford's base 32, in which ids have their time. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
