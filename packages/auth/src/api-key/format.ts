import { bytesToHex } from '@noble/hashes/utils.js';
import { sha256 } from '#sha256';
import { type OptionNames, requireKnown } from '../known-options.ts';

/** A new API key. */
export interface MintedKey {
  /** The key. Show it to its holder once and never store it. */
  readonly key: string;
  /** SHA-256 of the key in lower-case hexadecimal. Store this. */
  readonly hash: string;
}

/**
 * Mints a key: `svc_live_` or `svc_test_`, 256 random bits in hexadecimal, and a CRC-32 of both as 8 more digits. With
 * the checksum, a secret scanner recognises a leaked key, and a mistyped key is refused before a store is queried.
 *
 * @throws {TypeError} when `mode` is invalid or `randomBytes` returns another number of bytes
 * @example
 * const { key, hash } = mintApiKey({ mode: 'live', randomBytes });
 * @see Interface: API keys (machine callers), items 5 and 6
 */
export function mintApiKey(options: {
  /** The data that the key reaches. */
  readonly mode: 'live' | 'test';
  /** A cryptographic source, e.g. `(size) => crypto.getRandomValues(new Uint8Array(size))`. */
  readonly randomBytes: (size: number) => Uint8Array;
}): MintedKey {
  requireKnown('mintApiKey', options, MINT_OPTIONS satisfies OptionNames<typeof options>);
  const { mode, randomBytes } = options;
  if (mode !== 'live' && mode !== 'test') throw new TypeError('mintApiKey: mode must be "live" or "test".');
  const random = randomBytes(RANDOM_BYTES);
  if (random.length !== RANDOM_BYTES) throw new TypeError(`mintApiKey: randomBytes must return ${RANDOM_BYTES} bytes.`);
  const body = `svc_${mode}_${bytesToHex(random)}`;
  const key = body + checksum(body);
  return { key, hash: sha256(key) };
}

/**
 * Hashes a key for storage: SHA-256 in lower-case hexadecimal. A fast hash suffices, because a key cannot be guessed.
 *
 * @throws {TypeError} for undefined, as an environment variable may be, and for a key that `acceptsForeignKey` refuses. It fails here, not at the first use of the key.
 * @example
 * const record = { id: 'key_1', hash: hashApiKey(key), tenant: 'acme', workspaces: 'all', principal: 'p_7f3a' };
 * @see Interface: API keys (machine callers), item 5
 */
export function hashApiKey(key: string): string {
  if (typeof key !== 'string')
    throw new TypeError(
      key === undefined
        ? 'hashApiKey: key is undefined. Set its environment variable.'
        : 'hashApiKey: key must be a text. Pass the key that callers send.',
    );
  if (acceptsForeignKey(key)) return sha256(key);
  throw new TypeError(
    isMistyped(key)
      ? 'hashApiKey: key has the form of a minted key and a wrong checksum. Check it for a typing error.'
      : `hashApiKey: key must be ${KEY_RULE}.`,
  );
}

/**
 * Returns whether a key of any origin can be used unchanged: 32 to 512 characters that fit in a bearer header. Prefix
 * and checksum are checked only in a key with the exact form of a minted one.
 *
 * @example
 * acceptsForeignKey('Zm9yZWlnbi1rZXktb2YtdGhlLW9wZXJhdG9y'); // true
 * acceptsForeignKey('short'); // false
 * @see RFC 6750, section 2.1 (b64token)
 */
export function acceptsForeignKey(key: string): boolean {
  return key.length >= SHORTEST_KEY && key.length <= LONGEST_KEY && B64TOKEN.test(key) && !isMistyped(key);
}

/** Returns whether a key has the exact form of a minted key and a wrong checksum. */
function isMistyped(key: string): boolean {
  if (key.length !== MINTED_LENGTH || !(key.startsWith('svc_live_') || key.startsWith('svc_test_'))) return false;
  for (let index = PREFIX_LENGTH; index < MINTED_LENGTH; index++) {
    if (!isHexDigit(key.charCodeAt(index))) return false;
  }
  return crc32(key, MINTED_LENGTH - CHECKSUM_LENGTH) !== Number.parseInt(key.slice(-CHECKSUM_LENGTH), 16);
}

function isHexDigit(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x66);
}

const RANDOM_BYTES = 32;
/** The fewest characters of a key. */
export const SHORTEST_KEY: number = 32;
/** The most characters of a key. */
export const LONGEST_KEY: number = 512;
/** The form of a key of any origin. */
export const KEY_RULE: string = `${SHORTEST_KEY} to ${LONGEST_KEY} letters, digits or -._~+/, with = at the end only`;
const PREFIX_LENGTH = 9;
const CHECKSUM_LENGTH = 8;
const MINTED_LENGTH = PREFIX_LENGTH + 2 * RANDOM_BYTES + CHECKSUM_LENGTH;
const B64TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

function checksum(text: string): string {
  return crc32(text, text.length).toString(16).padStart(CHECKSUM_LENGTH, '0');
}

/** Computes the CRC-32 (as in gzip and PNG) of the first `length` characters of an ASCII text. */
function crc32(text: string, length: number): number {
  let crc = ~0;
  for (let index = 0; index < length; index++) {
    crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ text.charCodeAt(index)) & 0xff] ?? 0);
  }
  return ~crc >>> 0;
}

const CRC_TABLE: Int32Array = /* @__PURE__ */ Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

const MINT_OPTIONS = { mode: true, randomBytes: true } as const;
