import { clockOf } from '../clock-of.ts';
import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { outage } from '../outage.ts';
import type { CredentialQuota, QuotaCounter, QuotaRefusal } from '../quota-counter.ts';
import { tell } from '../tell.ts';
import { isStanding, type PeriodSpan, periodAt, type QuotaDraw, type QuotaGrant, quotaCountName } from './quota.ts';

/** Options of `quotaLedger`. */
export interface QuotaLedgerOptions {
  /**
   * Carries out draws, at most 256, in their order and in one transaction: each by `drawn`, while the count of its account
   * is held. An account may be there twice. Returns one grant for each.
   */
  readonly draw: (draws: readonly QuotaDraw[]) => Promise<readonly QuotaGrant[]>;
  /** Milliseconds since the epoch. The hosts of one store should agree on it. Default: `Date.now`. */
  readonly now?: () => number;
  /** A monotonic clock in milliseconds. Default `performance.now`. */
  readonly monotonic?: () => number;
  /** Time between two settlements, in milliseconds, at least 1. Default 60 000. */
  readonly intervalMs?: number;
  /** Most requests that wait for `draw`: a whole number, at least 1. Further ones are refused. Default 10 000. */
  readonly maxWaiting?: number;
  /** Called with the error of each failed draw. It must not throw. Default: not called. */
  readonly onFailure?: (cause: unknown) => void;
}

const QUOTA_LEDGER_OPTIONS: OptionNames<QuotaLedgerOptions> = {
  draw: true,
  now: true,
  monotonic: true,
  intervalMs: true,
  maxWaiting: true,
  onFailure: true,
};

/** Counts the requests of keys with a quota. Made by `quotaLedger`. */
export interface QuotaLedger extends QuotaCounter {
  /** Tells the store of all used requests, and gives back the reserves that were not used since the last time. */
  flush(): Promise<void>;
  /** Gives every reserve back. Later requests of keys with a quota are refused with `service_unavailable`. */
  close(): Promise<void>;
}

/**
 * Makes the count of quotas that several hosts share through a store.
 *
 * A host reserves requests in the store before it admits them, and counts them in its memory. So all hosts together never
 * admit more than the limit, and a restart renews nothing. The reserve of a key grows with its use: a host holds at most 4 %
 * of the requests that were left, and 1 250. The next reserve is fetched before the last one is used up, so a busy key
 * seldom waits.
 *
 * A reserve is given back when it was not used for one to two intervals, and at `close`. A host that is killed loses its
 * reserves until the period ends. A key whose last requests lie in the reserve of another host is refused meanwhile.
 *
 * When the store fails, a key without a reserve is refused with `service_unavailable`.
 *
 * @throws {TypeError} when an option is unknown, or out of its range
 * @example
 * const quotas = quotaLedger({ draw: (draws) => store.draw(draws) });
 * const admitted = guard({ authenticator: auth, quotas });
 */
export function quotaLedger(options: QuotaLedgerOptions): QuotaLedger {
  requireKnown('quotaLedger', options, QUOTA_LEDGER_OPTIONS);
  const { draw, monotonic = () => performance.now(), intervalMs = 60_000, maxWaiting = 10_000 } = options;
  const now = clockOf('quotaLedger', options.now);
  for (const [name, value] of Object.entries({ draw, monotonic })) {
    if (typeof value !== 'function') throw new TypeError(`quotaLedger: ${name} must be a function.`);
  }
  if (!(intervalMs >= 1)) throw new TypeError('quotaLedger: intervalMs must be at least 1.');
  if (!Number.isSafeInteger(maxWaiting) || maxWaiting < 1)
    throw new TypeError('quotaLedger: maxWaiting must be a whole number, at least 1.');
  return new ReservingLedger({ draw, now, monotonic, intervalMs, maxWaiting, onFailure: options.onFailure });
}

/** The requests of one account that this host may admit. Keys of one account with different limits have one each. */
interface Reserve {
  readonly quota: CredentialQuota;
  /** The beginning of the period in which the requests were granted. Undefined before the first grant. */
  startsAt: number | undefined;
  left: number;
  /** Used since the last draw. */
  used: number;
  /** The size of the last grant, and the requests that were taken by all hosts then. */
  granted: number;
  taken: number;
  /** When the store had no request left, by the monotonic clock. */
  emptyAt: number | undefined;
  isIdle: boolean;
  /** Out of the map: what is left of it is given back. */
  isRetired: boolean;
  waiting: ((refusal: QuotaRefusal | undefined) => void)[];
}

interface LedgerParts extends Required<Omit<QuotaLedgerOptions, 'onFailure'>> {
  readonly onFailure: ((cause: unknown) => void) | undefined;
}

class ReservingLedger implements QuotaLedger {
  readonly #options: LedgerParts;
  readonly #reserves = new Map<string, Reserve>();
  readonly #queue = new Set<Reserve>();
  #drawing: Promise<void> | undefined;
  #waiting = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: LedgerParts) {
    this.#options = options;
  }

  consume(quota: CredentialQuota): QuotaRefusal | undefined | Promise<QuotaRefusal | undefined> {
    if (this.#isClosed) return unavailable(new Error('quotaLedger: is closed.'));
    const reserve = this.#reserveOf(quota);
    reserve.isIdle = false;
    const span = this.#spanOf(quota);
    if (isOver(reserve, span)) empty(reserve);
    if (reserve.left > 0) {
      admit(reserve);
      if (wantedBy(reserve) > 0) this.#enqueue(reserve);
      return undefined;
    }
    if (reserve.emptyAt !== undefined && this.#options.monotonic() - reserve.emptyAt < ASK_AGAIN_MS) {
      return this.#usedUp(quota);
    }
    if (this.#waiting >= this.#options.maxWaiting) {
      return unavailable(new Error('quotaLedger: too many requests wait for the store.'));
    }
    this.#waiting += 1;
    this.#enqueue(reserve);
    return new Promise((resolve) => reserve.waiting.push(resolve));
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [name, reserve] of this.#reserves) {
      if (reserve.isIdle && reserve.waiting.length === 0) {
        this.#reserves.delete(name);
        reserve.isRetired = true;
      }
      if (reserve.used > 0 || reserve.isRetired) this.#enqueue(reserve);
      reserve.isIdle = true;
    }
    this.#flushLater();
    await this.#drawing;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const reserve of this.#reserves.values()) reserve.isIdle = true;
    await this.#drawing;
    await this.flush();
    clearTimeout(this.#timer);
  }

  #reserveOf(quota: CredentialQuota): Reserve {
    const { account, limit, period } = quota;
    const name = `${limit} ${period} ${account}`;
    const known = this.#reserves.get(name);
    if (known !== undefined) return known;
    const fresh = { startsAt: undefined, left: 0, used: 0, granted: 0, taken: 0, emptyAt: undefined };
    const made: Reserve = { ...fresh, quota, isIdle: false, isRetired: false, waiting: [] };
    this.#reserves.set(name, made);
    this.#flushLater();
    return made;
  }

  #flushLater(): void {
    if (this.#isClosed || this.#reserves.size === 0) return;
    this.#timer ??= setTimeout(() => void this.flush(), this.#options.intervalMs);
  }

  #spanOf({ period }: CredentialQuota): PeriodSpan {
    return periodAt(period, this.#options.now());
  }

  #enqueue(reserve: Reserve): void {
    this.#queue.add(reserve);
    this.#drawing ??= this.#drawAll();
  }

  async #drawAll(): Promise<void> {
    // Requests of the same turn of the event loop share the first draw.
    await Promise.resolve();
    while (this.#queue.size > 0) {
      const batch = [...this.#queue].slice(0, LARGEST_BATCH);
      for (const reserve of batch) this.#queue.delete(reserve);
      await this.#drawBatch(batch);
    }
    // In the turn in which the queue was found empty: a later entry needs another round.
    this.#drawing = undefined;
  }

  async #drawBatch(batch: readonly Reserve[]): Promise<void> {
    try {
      const draws = batch.map((reserve) => this.#drawOf(reserve));
      const grants = await withinTime('The store of quotas', TIMEOUT_MS, this.#options.draw(draws));
      if (grants.length !== draws.length) throw new TypeError('quotaLedger: draw must return one grant for each draw.');
      for (const [index, reserve] of batch.entries()) this.#apply(reserve, draws[index], grants[index]);
    } catch (cause) {
      tell(this.#options.onFailure, cause);
      for (const reserve of batch) this.#answer(reserve, reserve.waiting.length, unavailable(cause));
    }
  }

  #drawOf(reserve: Reserve): QuotaDraw {
    const { quota, startsAt, left, used, isRetired } = reserve;
    const span = this.#spanOf(quota);
    if (isOver(reserve, span)) empty(reserve);
    // A draw that fails may have been stored: what it gives back must not be used any more.
    if (isRetired) reserve.left = 0;
    const reserved =
      reserve.startsAt === undefined ? {} : { reservedIn: startsAt, used, returned: isRetired ? left : 0 };
    const { limit, period } = quota;
    const account = quotaCountName(quota);
    return { account, limit, period, ...span, wanted: wantedBy(reserve), used: 0, returned: 0, ...reserved };
  }

  #apply(reserve: Reserve, draw: QuotaDraw | undefined, grant: QuotaGrant | undefined): void {
    if (draw === undefined || grant === undefined) return;
    const { granted, count } = grant;
    if (reserve.startsAt === count.startsAt) reserve.used -= draw.used;
    else {
      empty(reserve);
      reserve.startsAt = count.startsAt;
    }
    reserve.left += granted;
    reserve.taken = count.taken;
    if (granted > 0) reserve.granted = granted;
    const waited = Math.min(reserve.left, reserve.waiting.length);
    for (let each = 0; each < waited; each += 1) admit(reserve);
    this.#answer(reserve, waited, undefined);
    const isUsedUp = granted < draw.wanted;
    reserve.emptyAt = isUsedUp ? this.#options.monotonic() : undefined;
    if (isUsedUp) this.#answer(reserve, reserve.waiting.length, this.#usedUp(reserve.quota));
    // Retired while the draw was under way.
    else if (reserve.waiting.length > 0 || (reserve.isRetired && reserve.left > 0)) this.#enqueue(reserve);
  }

  #answer(reserve: Reserve, count: number, refusal: QuotaRefusal | undefined): void {
    this.#waiting -= count;
    for (const resolve of reserve.waiting.splice(0, count)) resolve(refusal);
  }

  #usedUp({ limit, period }: CredentialQuota): QuotaRefusal {
    const now = this.#options.now();
    const { startsAt, endsAt } = periodAt(period, now);
    const window = (endsAt - startsAt) / 1000;
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAt - now) / 1000));
    const usedUp = `The quota of ${limit} requests in a ${period} is used up.`;
    const message = `${usedUp} It renews at ${new Date(endsAt).toISOString()}: try again then.`;
    const error = new AuthError('rate_limited', message, { window, limit, current: limit, retryAfterSeconds });
    return {
      error,
      headers: {
        ratelimit: `"quota";r=0;t=${retryAfterSeconds}`,
        'ratelimit-policy': `"quota";q=${limit};w=${window}`,
        'retry-after': String(retryAfterSeconds),
      },
    };
  }
}

/** A reserve is fetched when less than a quarter of the last one is left. */
const REFILL_AT = 4;
/** A host reserves this part of what is left, and at most so many requests. */
const SHARE = 32;
const LARGEST_RESERVE = 1000;
const LARGEST_BATCH = 256;
const TIMEOUT_MS = 5000;
/** Another host may give its reserve back meanwhile. */
const ASK_AGAIN_MS = 1000;

function isOver({ quota, startsAt }: Reserve, span: PeriodSpan): boolean {
  return startsAt !== undefined && !isStanding({ period: quota.period, startsAt }, quota.period, span);
}

function empty(reserve: Reserve): void {
  reserve.startsAt = undefined;
  reserve.left = 0;
  reserve.used = 0;
  reserve.granted = 0;
  reserve.taken = 0;
  reserve.emptyAt = undefined;
}

function admit(reserve: Reserve): void {
  reserve.left -= 1;
  reserve.used += 1;
}

/** A reserve doubles while it is used up, so that a key that is seldom used holds little. */
function wantedBy({ quota, waiting, granted, taken, left, isRetired, startsAt }: Reserve): number {
  if (isRetired || (waiting.length === 0 && left * REFILL_AT >= granted)) return 0;
  if (startsAt === undefined) return waiting.length;
  const share = Math.floor((quota.limit - taken) / SHARE);
  return Math.max(waiting.length, Math.min(LARGEST_RESERVE, share, 2 * granted));
}

function unavailable(cause: unknown): QuotaRefusal {
  const message = 'The quota of the API key cannot be counted at the moment. Try again in a few seconds.';
  return { error: outage(message, cause, 'key-store'), headers: {} };
}
