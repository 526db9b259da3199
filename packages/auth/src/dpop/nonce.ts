import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base64url } from 'jose';
import { clockOf } from '../clock-of.ts';
import { equalTexts } from '../equal-texts.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';

/** Issues and recognises nonces of the host. */
export interface Nonces {
  /** Returns the nonce for the next proof of a client. */
  current(): string;
  /** Returns whether a nonce is the current or the previous one. */
  accepts(nonce: string): boolean;
}

/** Options of `statelessNonces`. */
export interface NoncesOptions {
  /** At least 32 secret bytes. Hosts with the same secret accept each other's nonces. */
  readonly secret: Uint8Array;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Seconds for which a nonce is current, at least 1. Default 300. */
  readonly lifetimeSeconds?: number;
}

const NONCES_OPTIONS: OptionNames<NoncesOptions> = { secret: true, now: true, lifetimeSeconds: true };

/**
 * Makes nonces without storage: each is an HMAC of the period in which it is current.
 *
 * @throws {TypeError} when `secret` is shorter than 32 bytes or `lifetimeSeconds` is less than 1
 * @example
 * const nonces = statelessNonces({ secret });
 * @see RFC 9449, section 9
 */
export function statelessNonces(options: NoncesOptions): Nonces {
  requireKnown('statelessNonces', options, NONCES_OPTIONS);
  const { secret, lifetimeSeconds = 300 } = options;
  const now = clockOf('statelessNonces', options.now);
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
