import { sha256 } from '#sha256';
import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import { gathered } from '../gathered.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { PostgresQuery } from '../postgres-query.ts';
import { requireTable } from '../table-name.ts';
import { tell } from '../tell.ts';
import type { RateDecision, RateLimiter } from './limiter.ts';
import { memoryRateLimiter } from './memory.ts';
import { type KeyState, RateLimitTable } from './postgres-table.ts';

export type { PostgresQuery } from '../postgres-query.ts';

/** Options of `postgresRateLimiter`. */
export interface PostgresRateLimiterOptions {
  /** Requests per window: a whole number, at least 1. */
  readonly limit: number;
  /** Length of the window in seconds: a whole number, at least 1. */
  readonly windowSeconds: number;
  /** A `pg` pool, or an object with its `query`. Two connections suffice. */
  readonly pool: PostgresQuery;
  /** A monotonic clock in milliseconds. Default `performance.now`. */
  readonly now?: () => number;
  /** Name of the table, with an optional schema. It is created when it is missing. Default `svc_rate_limits`. */
  readonly table?: string;
  /** Time limit of the database in milliseconds. Default 250. */
  readonly timeoutMs?: number;
  /**
   * Milliseconds after an error of the database in which this process limits on its own, without asking it. After them,
   * one request asks. Default 2000.
   */
  readonly restMs?: number;
  /** Called with each error of the database. It must not throw. Default: not called. */
  readonly onFailure?: (cause: unknown) => void;
}

const POSTGRES_RATE_LIMITER_OPTIONS: OptionNames<PostgresRateLimiterOptions> = {
  limit: true,
  windowSeconds: true,
  pool: true,
  now: true,
  table: true,
  timeoutMs: true,
  restMs: true,
  onFailure: true,
};

/**
 * Makes a rate limiter that several hosts share through PostgreSQL. Requests that arrive while a statement is under way
 * share the next one. A key that has used up its limit is refused without a statement until its window ends. `peek`
 * decides by a state that is up to a second old. While the database fails or is late, each host limits on its own.
 *
 * @returns a promise that resolves when the table exists
 * @throws {TypeError} when an option is invalid
 * @throws the error of the database when the table cannot be created
 * @example
 * const limiter = await postgresRateLimiter({ pool, limit: 600, windowSeconds: 60 });
 */
export async function postgresRateLimiter(options: PostgresRateLimiterOptions): Promise<RateLimiter> {
  requireKnown('postgresRateLimiter', options, POSTGRES_RATE_LIMITER_OPTIONS);
  const { pool, windowSeconds, table = 'svc_rate_limits' } = options;
  const counts = new RateLimitTable(pool, requireTable('postgresRateLimiter', table), windowSeconds * 1000);
  const limiter = new SharedLimiter(counts, options);
  await counts.create();
  return { consume: (key) => limiter.consume(key), peek: (key) => limiter.peek(key) };
}

/** The state of a key as this process read it last. */
interface Known {
  /** Requests in this window, at the limit at most. */
  readonly used: number;
  readonly readAt: number;
  readonly endsAt: number;
}

class SharedLimiter {
  readonly #limit: number;
  readonly #windowSeconds: number;
  readonly #now: () => number;
  readonly #timeoutMs: number;
  readonly #restMs: number;
  readonly #onFailure: ((cause: unknown) => void) | undefined;
  readonly #fallback: RateLimiter;
  readonly #known = new Map<string, Known>();
  readonly #counted: (key: string) => Promise<KeyState>;
  readonly #read: (key: string) => Promise<KeyState>;
  #isFailing = false;
  #restsUntil = Number.NEGATIVE_INFINITY;
  #isPruning = false;
  #unpruned = 0;

  constructor(table: RateLimitTable, options: PostgresRateLimiterOptions) {
    const { limit, windowSeconds, now = () => performance.now(), timeoutMs = 250, restMs = 2000, onFailure } = options;
    this.#fallback = memoryRateLimiter({ limit, windowSeconds, now });
    this.#limit = limit;
    this.#windowSeconds = windowSeconds;
    this.#now = now;
    this.#timeoutMs = timeoutMs;
    this.#restMs = restMs;
    this.#onFailure = onFailure;
    const limits = { what: STORE, timeoutMs, most: MOST };
    this.#counted = gathered((keys) => this.#countAll(table, keys), limits);
    this.#read = gathered((keys) => readAll(table, keys), limits);
  }

  async consume(key: string): Promise<RateDecision> {
    const name = nameOf(key);
    const usedUp = this.#usedUp(name);
    if (usedUp !== undefined) return usedUp;
    const state = await this.#asked(this.#counted, name);
    if (state === undefined) return this.#fallback.consume(key);
    const known = this.#remember(name, state);
    return state.points > this.#limit ? this.#exceeded(known) : this.#within(known);
  }

  async peek(key: string): Promise<RateDecision> {
    const name = nameOf(key);
    const usedUp = this.#usedUp(name);
    if (usedUp !== undefined) return usedUp;
    const recent = this.#recent(name);
    if (recent !== undefined) return this.#within(recent);
    const state = await this.#asked(this.#read, name);
    if (state === undefined) return this.#fallback.peek(key);
    const known = this.#remember(name, state);
    return known.used >= this.#limit ? this.#exceeded(known) : this.#within(known);
  }

  /** Returns undefined when the database fails, or failed a moment ago. */
  async #asked(ask: (name: string) => Promise<KeyState>, name: string): Promise<KeyState | undefined> {
    const time = this.#now();
    if (this.#isFailing && !(time >= this.#restsUntil)) return undefined;
    // While the database fails, one request at a time finds out whether it still does.
    const isProbe = this.#isFailing;
    if (isProbe) this.#restsUntil = time + this.#restMs;
    try {
      // The batches before may use up the time, too.
      const state = await withinTime(STORE, this.#timeoutMs, ask(name));
      this.#isFailing = false;
      return state;
    } catch (cause) {
      // Requests of one batch share its error.
      if (isProbe || !this.#isFailing) tell(this.#onFailure, cause);
      this.#isFailing = true;
      this.#restsUntil = this.#now() + this.#restMs;
      return undefined;
    }
  }

  /** The states after each request, as if they had been counted one by one. */
  async #countAll(table: RateLimitTable, keys: readonly string[]): Promise<readonly KeyState[]> {
    const counts = new Map<string, number>();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    const states = await table.count([...counts].map(([key, count]) => ({ key, count })));
    this.#unpruned += keys.length;
    void this.#prune(table);
    return keys.map((key) => {
      const { points, msLeft } = stateIn(states, key);
      const after = (counts.get(key) ?? 1) - 1;
      counts.set(key, after);
      return { points: points - after, msLeft };
    });
  }

  /** Changes no answer, so no request waits for it, and a failure waits for the next time. */
  async #prune(table: RateLimitTable): Promise<void> {
    if (this.#isPruning || this.#unpruned < PRUNED_EVERY) return;
    this.#isPruning = true;
    const most = 2 * this.#unpruned;
    this.#unpruned = 0;
    try {
      await table.prune(most);
    } catch {
      this.#unpruned = PRUNED_EVERY;
    }
    this.#isPruning = false;
  }

  #remember(name: string, { points, msLeft }: KeyState): Known {
    const time = this.#now();
    const known = { used: Math.min(points, this.#limit), readAt: time, endsAt: time + Math.max(0, msLeft) };
    this.#known.delete(name);
    this.#known.set(name, known);
    if (this.#known.size > MOST_KNOWN) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest);
        break;
      }
    }
    return known;
  }

  #usedUp(name: string): RateDecision | undefined {
    const known = this.#known.get(name);
    if (known === undefined || known.used < this.#limit || !(this.#now() < known.endsAt)) return undefined;
    return this.#exceeded(known);
  }

  #recent(name: string): Known | undefined {
    const known = this.#known.get(name);
    const time = this.#now();
    return known !== undefined && time - known.readAt < RECENT_MS && time < known.endsAt ? known : undefined;
  }

  #within({ used, endsAt }: Known): RateDecision {
    const resetSeconds = used === 0 ? 0 : Math.ceil((endsAt - this.#now()) / 1000);
    const [limit, windowSeconds] = [this.#limit, this.#windowSeconds];
    return { allowed: true, limit, remaining: limit - used, resetSeconds: Math.max(0, resetSeconds), windowSeconds };
  }

  #exceeded({ endsAt }: Known): RateDecision {
    const [limit, window] = [this.#limit, this.#windowSeconds];
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAt - this.#now()) / 1000));
    const limited = `The limit of ${limit} requests in ${window} s is used up.`;
    const message = `${limited} Try again in ${retryAfterSeconds} s.`;
    const error = new AuthError('rate_limited', message, { window, limit, current: limit, retryAfterSeconds });
    return { allowed: false, error };
  }
}

async function readAll(table: RateLimitTable, keys: readonly string[]): Promise<readonly KeyState[]> {
  const states = await table.read([...new Set(keys)]);
  // A key without a state has used nothing.
  return keys.map((key) => states.get(key) ?? { points: 0, msLeft: RECENT_MS });
}

function stateIn(states: ReadonlyMap<string, KeyState>, key: string): KeyState {
  const state = states.get(key);
  if (state === undefined) throw new Error(`${STORE} did not count a key.`);
  return state;
}

/** A text that the database would not store is counted by its hash. */
function nameOf(key: string): string {
  return /^[\x20-\x7e]{1,200}$/.test(key) ? key : sha256(key);
}

const STORE = 'The store of the limiter';
const MOST = 500;
/** About 2 MB. */
const MOST_KNOWN = 10_000;
const RECENT_MS = 1000;
const PRUNED_EVERY = 50;
