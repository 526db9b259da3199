/**
 * Mints an identifier such as `run_01kahx3zr8p6…`: 48 bits of time, so that neighbours in time are neighbours in an index, and
 * 80 random bits, in lower-case Crockford base 32. It fits the grammar of every opaque id in both majors.
 *
 * @param now milliseconds since the epoch
 */
export function mintId(prefix: string, now: () => number, randomBytes: (size: number) => Uint8Array): string {
  return `${prefix}_${encodeTime(now())}${encodeRandom(randomBytes(10))}`;
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Ten digits of five bits hold 50 bits of milliseconds: enough for 35 000 years. */
function encodeTime(time: number): string {
  let rest = Math.floor(time);
  let text = '';
  for (let digit = 0; digit < 10; digit++) {
    text = (ALPHABET[rest % 32] ?? '') + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function encodeRandom(bytes: Uint8Array): string {
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
