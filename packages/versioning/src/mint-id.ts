/**
 * Mints an identifier such as `run_01kahx3zr8p6…`: 48 bits of time, so that ids minted together are neighbours in an
 * index, and 80 random bits, in lower-case Crockford base 32. It matches the grammar of every opaque id in both majors;
 * `projectId` leaves it unchanged.
 *
 * @param prefix 1 to 32 letters, digits, `.`, `_` or `-`
 * @param now returns milliseconds since the epoch
 * @param randomBytes returns exactly `size` cryptographically random bytes
 * @throws {TypeError} for a malformed prefix, a time before the epoch or after the year 10889, or a wrong number of
 * bytes
 * @example
 * import { mintId } from '@svc/versioning/ids';
 *
 * const runId = mintId('run', Date.now, (size) => crypto.getRandomValues(new Uint8Array(size)));
 */
export function mintId(prefix: string, now: () => number, randomBytes: (size: number) => Uint8Array): string {
  if (!/^[A-Za-z0-9._-]{1,32}$/.test(prefix))
    throw new TypeError('prefix: must be 1 to 32 of A-Z a-z 0-9 . _ -. Pass a short name such as "run".');
  return `${prefix}_${encodeTime(now())}${encodeRandom(randomBytes(RANDOM_BYTES))}`;
}

const RANDOM_BYTES = 10;
const MAX_TIME = 2 ** 48;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Encodes the time as exactly ten digits of five bits, so that ids sort by time. */
function encodeTime(time: number): string {
  if (!(time >= 0 && time < MAX_TIME))
    throw new TypeError(`now: returned ${time}. Return milliseconds since the epoch, as Date.now does.`);
  let rest = Math.floor(time);
  let text = '';
  for (let digit = 0; digit < 10; digit++) {
    text = (ALPHABET[rest % 32] ?? '') + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function encodeRandom(bytes: Uint8Array): string {
  if (bytes.length !== RANDOM_BYTES)
    throw new TypeError(
      `randomBytes: returned ${bytes.length} bytes, not ${RANDOM_BYTES}. Return as many as it is asked for.`,
    );
  let text = '';
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(pending >> bits) & 31] ?? '';
    }
    pending &= (1 << bits) - 1;
  }
  return text;
}
