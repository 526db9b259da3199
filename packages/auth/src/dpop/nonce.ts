import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base64url } from 'jose';
import { equalTexts } from '../equal-texts.ts';

/** Nonces that a host hands out and recognises. */
export interface Nonces {
  /** For the next proof of a client. */
  current(): string;
  /** Whether a nonce is the current one or the one before. */
  accepts(nonce: string): boolean;
}

export interface NoncesOptions {
  /** At least 32 bytes that only the host knows; hosts that share it recognise each other's nonces. */
  readonly secret: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How long each is current. Default 300. */
  readonly lifetimeSeconds?: number;
}

/**
 * Nonces that need no memory: each is an HMAC of the period in which it is current.
 *
 * @throws {TypeError} for a secret that is too short
 * @example
 * const nonces = statelessNonces({ secret, now: Date.now });
 * @see RFC 9449, section 9
 */
export function statelessNonces({ secret, now, lifetimeSeconds = 300 }: NoncesOptions): Nonces {
  if (!(secret instanceof Uint8Array) || secret.length < 32) {
    throw new TypeError('statelessNonces: secret must be a Uint8Array of at least 32 bytes.');
  }
  if (!(lifetimeSeconds >= 1)) throw new TypeError('statelessNonces: lifetimeSeconds must be at least 1.');
  const key = secret.slice();
  let made: { readonly period: number; readonly current: string; readonly previous: string } | undefined;

  return {
    current: () => nonces().current,
    accepts(nonce) {
      const { current, previous } = nonces();
      const matches = [current, previous].map((known) => equalTexts(known, nonce));
      return matches.includes(true);
    },
  };

  function nonces() {
    const period = Math.floor(now() / 1000 / lifetimeSeconds);
    if (made?.period !== period) made = { period, current: nonceOf(period), previous: nonceOf(period - 1) };
    return made;
  }

  function nonceOf(period: number): string {
    return base64url.encode(hmac(sha256, key, utf8ToBytes(`svc dpop nonce ${period}`)));
  }
}
