import type { CryptoKey } from 'jose';
import { sha256 } from '#sha256';
import type { Jwt } from '../jwt/jwt.ts';
import type { WantedKey } from '../jwt/key-set.ts';
import type { NamedCaller } from './caller.ts';
import type { ResolvedIssuer } from './issuer.ts';

/** The parts of a token that are judged after its signature. */
export type ReadToken = Pick<Jwt, 'header' | 'claims'>;

/** A token whose signature was verified. Every rule but the signature is judged again for each request. */
export interface VerifiedToken extends ReadToken {
  /** The entry whose rules the header met. */
  readonly issuer: ResolvedIssuer;
  /** The query that found the key. */
  readonly wanted: WantedKey;
  /** The key that verified the signature. The signature counts as verified while the query finds this very object. */
  readonly key: CryptoKey;
  /** The caller that the claims name. Undefined until it is known, and where the host names callers itself. */
  caller?: NamedCaller;
}

/**
 * Remembers verified signatures by the SHA-256 of the whole token, never by a part of it. The text of a token is not
 * stored. Two generations bound the memory: when the young one is full, the old one is dropped.
 */
export class VerifiedTokens {
  /** Most tokens of a generation. */
  readonly #most: number;
  #young = new Map<string, VerifiedToken>();
  #old = new Map<string, VerifiedToken>();
  #characters = 0;

  /** @param max most tokens of both generations */
  constructor(max: number) {
    this.#most = Math.floor(max / 2);
  }

  /** Returns the name of a token, or undefined for a text that is no signed token. */
  nameOf(token: string): string | undefined {
    // A header in base64url begins with these letters, and an API key is not worth a hash.
    return this.#most > 0 && token.startsWith('e') && token.length <= MOST_TOKEN ? sha256(token) : undefined;
  }

  find(name: string): VerifiedToken | undefined {
    return this.#young.get(name) ?? this.#old.get(name);
  }

  /** @param length characters of the token, in proportion to which its claims take memory */
  add(name: string, length: number, token: VerifiedToken): void {
    if (this.#young.size >= this.#most || this.#characters + length > MOST_CHARACTERS / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#characters = 0;
    }
    this.#young.set(name, token);
    this.#characters += length;
  }

  forget(name: string): void {
    this.#young.delete(name);
    this.#old.delete(name);
  }
}

/** The longest token that a request can carry. */
const MOST_TOKEN = 8192;

/** A bound beside the number of tokens, because an issuer may sign tokens of eight kilobytes. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
