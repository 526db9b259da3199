import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

export interface MintedKey {
  /** Shown to its holder once and never stored. */
  readonly key: string;
  /** What is stored. */
  readonly hash: string;
}

/**
 * Mints a key: `svc_live_` or `svc_test_`, 256 random bits, and a checksum, by which a secret scanner recognises a leaked key
 * and a mistyped one is refused before the store is asked.
 */
export function mintApiKey(options: {
  readonly mode: 'live' | 'test';
  readonly randomBytes: (size: number) => Uint8Array;
}): MintedKey {
  const body = `svc_${options.mode}_${bytesToHex(options.randomBytes(32))}`;
  const key = body + checksum(body);
  return { key, hash: hashApiKey(key) };
}

/** Lower-case hexadecimal SHA-256: a fast hash is right for a key of 256 random bits, which no one can guess. */
export function hashApiKey(key: string): string {
  return bytesToHex(sha256(utf8ToBytes(key)));
}

/** A key of the very shape that `mintApiKey` gives, whose checksum does not fit. A key of any other shape may be anyone's. */
export function isMistyped(key: string): boolean {
  return MINTED.test(key) && checksum(key.slice(0, -CHECKSUM_LENGTH)) !== key.slice(-CHECKSUM_LENGTH);
}

/** A key that an operator brings is taken as it is when it is long enough not to be guessed. */
export function isAcceptableKey(key: string): boolean {
  return /^[A-Za-z0-9\-._~+/]{32,512}=*$/.test(key);
}

const MINTED = /^svc_(?:live|test)_[0-9a-f]{72}$/;
const CHECKSUM_LENGTH = 8;

function checksum(body: string): string {
  return bytesToHex(sha256(utf8ToBytes(body)).subarray(0, CHECKSUM_LENGTH / 2));
}
