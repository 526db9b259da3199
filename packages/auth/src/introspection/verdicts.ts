import { sha256 } from '#sha256';
import type { JsonObject } from '../jwt/strict-json.ts';

/** The answer of an issuer about a token: its members, or undefined for a token that is not active. */
export type Verdict = JsonObject | undefined;

/** Bounds of {@link Verdicts}. */
export interface VerdictBounds {
  readonly now: () => number;
  /** Longest use of an answer that a token is active, and that it is not. */
  readonly maxAgeMs: number;
  readonly inactiveMs: number;
  /** Most answers of each kind. */
  readonly maxEntries: number;
  /** Most questions under way. */
  readonly maxPending: number;
}

/**
 * Remembers the answers of an issuer for a short time, by the SHA-256 of the whole token. Callers with the same token
 * share one question. Answers about tokens that are not active have room of their own: guesses push nothing else out.
 */
export class Verdicts {
  readonly #ask: (token: string) => Promise<Verdict>;
  readonly #bounds: VerdictBounds;
  readonly #active = new Map<string, Remembered>();
  readonly #inactive = new Map<string, Remembered>();
  readonly #pending = new Map<string, Promise<Verdict>>();

  constructor(ask: (token: string) => Promise<Verdict>, bounds: VerdictBounds) {
    this.#ask = ask;
    this.#bounds = bounds;
  }

  /** Returns a remembered answer that is still good. */
  known(token: string): { readonly verdict: Verdict } | undefined {
    const name = sha256(token);
    const found = this.#active.get(name) ?? this.#inactive.get(name);
    if (found === undefined) return undefined;
    const time = this.#bounds.now();
    // After the clock was set back an answer counts as old, never as young.
    if (time >= found.at && time < found.until) return found;
    this.#active.delete(name);
    this.#inactive.delete(name);
    return undefined;
  }

  /**
   * Asks the issuer, or waits for the answer to the same question.
   *
   * @throws {Error} when the issuer does not answer, or too many questions are under way
   */
  ask(token: string): Promise<Verdict> {
    const name = sha256(token);
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending;
    if (this.#pending.size >= this.#bounds.maxPending)
      return Promise.reject(new Error(`${this.#bounds.maxPending} tokens are being introspected already.`));
    const asked = this.#answered(name, token).finally(() => this.#pending.delete(name));
    this.#pending.set(name, asked);
    return asked;
  }

  async #answered(name: string, token: string): Promise<Verdict> {
    const { now, maxAgeMs, inactiveMs } = this.#bounds;
    // Counted from the question: the token may be revoked while the answer is on its way.
    const at = now();
    const verdict = await this.#ask(token);
    if (verdict === undefined) this.#keep(this.#inactive, name, { verdict, at, until: at + inactiveMs });
    else this.#keep(this.#active, name, { verdict, at, until: Math.min(at + maxAgeMs, expiryOf(verdict)) });
    return verdict;
  }

  #keep(kind: Map<string, Remembered>, name: string, remembered: Remembered): void {
    this.#active.delete(name);
    this.#inactive.delete(name);
    if (!(remembered.until > remembered.at)) return;
    const [oldest] = kind.keys();
    if (kind.size >= this.#bounds.maxEntries && oldest !== undefined) kind.delete(oldest);
    kind.set(name, remembered);
  }
}

interface Remembered {
  readonly verdict: Verdict;
  /** The time of the question in milliseconds since the epoch. */
  readonly at: number;
  /** The time from which on the answer is not used any more. */
  readonly until: number;
}

/** An answer is not used after `exp`, to the second, and not at all without it. */
function expiryOf({ exp }: JsonObject): number {
  return typeof exp === 'number' ? exp * 1000 : Number.NEGATIVE_INFINITY;
}
