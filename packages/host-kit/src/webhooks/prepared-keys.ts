import { type Hmac, prepareSecret } from '@svc/webhook-verify';
import { prepareStandardSecret } from '@svc/webhook-verify/standard-webhooks';
import type { SecretBox } from '../sealing/secret-box.ts';

/** The keys of one secret, each prepared at its first use. */
export interface PreparedKey {
  /** The key of the signature `v1`. */
  v1(): Hmac;
  /** The key of Standard Webhooks. @throws {TypeError} when the secret has another form */
  standard(): Hmac;
}

/**
 * Keeps the prepared keys of recent signatures, because opening a secret and preparing its key costs six times a
 * signature. A key is found by the sealed bytes and by the subscription that they are bound to. A rotation changes these
 * bytes, so it takes effect at once.
 *
 * Keys are kept in two generations. A generation begins every minute of use, or when the current one is full, and the
 * generation before the last is dropped.
 */
export class PreparedKeys {
  readonly #secrets: SecretBox;
  #recent = new Map<string, PreparedKey>();
  #older = new Map<string, PreparedKey>();
  #recentSince = Number.NEGATIVE_INFINITY;

  constructor(secrets: SecretBox) {
    this.#secrets = secrets;
  }

  /**
   * @param now in ms since the epoch
   * @throws {Error} when the secret cannot be opened
   */
  of(sealed: Uint8Array, boundTo: string, now: number): PreparedKey {
    const age = now - this.#recentSince;
    // A clock that was set back also begins a generation.
    if (age >= GENERATION_MS || age < 0 || this.#recent.size >= GENERATION_KEYS) this.#beginGeneration(now);
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length).toString('latin1');
    const name = `${bytes.length} ${bytes}${boundTo}`;
    const known = this.#recent.get(name);
    if (known !== undefined) return known;
    const key = this.#older.get(name) ?? prepared(this.#secrets.open(sealed, boundTo));
    this.#recent.set(name, key);
    return key;
  }

  #beginGeneration(now: number): void {
    // After two minutes without a signature, the recent keys are too old as well.
    this.#older = now - this.#recentSince < 2 * GENERATION_MS ? this.#recent : new Map();
    this.#recent = new Map();
    this.#recentSince = now;
  }
}

const GENERATION_MS = 60_000;
/** A key takes about 1 kB. */
const GENERATION_KEYS = 4096;

function prepared(secret: string): PreparedKey {
  let v1: Hmac | undefined;
  let standard: Hmac | undefined;
  return {
    v1() {
      v1 ??= prepareSecret(secret);
      return v1;
    },
    standard() {
      standard ??= prepareStandardSecret(secret);
      return standard;
    },
  };
}
