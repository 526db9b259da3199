import { mintId } from '@svc/versioning/ids';
import type { Clock } from './ports/clock.ts';
import type { Random } from './ports/random.ts';

/**
 * Mints an id as `mintId` does, above every id that was minted before with the same clock: also within a millisecond,
 * and when the time of the day was set back. For records that are listed in the order of their ids.
 *
 * While a clock is behind the latest time that it has shown, its ids have that time.
 */
export function mintInOrder(prefix: string, clock: Clock, random: Random): string {
  const place = placeAfter(LAST.get(clock), Math.floor(clock.now()), random);
  const id = mintId(
    prefix,
    () => place.time,
    (size) => bytesOf(place.tail, size),
  );
  // Only a time that can be minted: a clock that is wrong once must not spoil the ids after it.
  LAST.set(clock, place);
  return id;
}

/** The parts of an id that order it. */
interface Place {
  /** In ms since the epoch. */
  readonly time: number;
  readonly tail: bigint;
}

/** The place of the last id of each clock. */
const LAST = new WeakMap<Clock, Place>();

function placeAfter(last: Place | undefined, now: number, random: Random): Place {
  if (last === undefined || now > last.time) return { time: now, tail: numberOf(random(TAIL_BYTES)) };
  // By a random step, so that an id does not tell the next one.
  const tail = last.tail + 1n + numberOf(random(STEP_BYTES));
  return tail < TAILS ? { time: last.time, tail } : { time: last.time + 1, tail: numberOf(random(TAIL_BYTES)) };
}

const TAIL_BYTES = 10;
const TAILS = 1n << BigInt(8 * TAIL_BYTES);
/** A millisecond has room for 2^32 steps of this size. */
const STEP_BYTES = 6;

function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

function bytesOf(number: bigint, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, at) => Number((number >> BigInt(8 * (size - 1 - at))) & 255n));
}
