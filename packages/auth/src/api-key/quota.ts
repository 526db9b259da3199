/** The most requests of a key in a calendar period. */
export interface KeyQuota {
  /** Requests in a period: a whole number, at least 1. */
  readonly limit: number;
  /** The period, in UTC: a day begins at 00:00, a month on its first day. */
  readonly period: QuotaPeriod;
  /**
   * The id of the key with which the requests are counted. A key that replaces another one, or was made by a key with a
   * quota, draws on the count of that key. Default: the key itself.
   */
  readonly account?: string | undefined;
}

/** The period of a quota. */
export type QuotaPeriod = 'day' | 'month';

/**
 * Names the stored count of a quota. Keys of one account may have days and months, when the period of one of them was changed.
 * In one count, each draw of the other kind would begin it anew.
 *
 * @example
 * quotaCountName({ account: 'key_1', period: 'day' }); // 'key_1 day'
 */
export function quotaCountName({
  account,
  period,
}: {
  readonly account: string;
  readonly period: QuotaPeriod;
}): string {
  return `${account} ${period}`;
}

/** The count of an account, as it is stored. */
export interface QuotaCount {
  /** The kind of the period. */
  readonly period: QuotaPeriod;
  /** The beginning of the period, in milliseconds since the epoch. */
  readonly startsAt: number;
  /** Requests that were given to hosts: those that are used, and those that a host holds in reserve. */
  readonly taken: number;
  /** Requests that are used, as hosts have told so far: at most `taken`. */
  readonly used: number;
}

/** A request of one host to the count of an account: it settles its reserve, and asks for more. */
export interface QuotaDraw extends PeriodSpan {
  /** The name of the count, as `quotaCountName` makes it. */
  readonly account: string;
  /** The kind of the period. */
  readonly period: QuotaPeriod;
  /** The requests of the period. */
  readonly limit: number;
  /** Requests to reserve. Fewer are granted when fewer are left. */
  readonly wanted: number;
  /** The beginning of the period in which the reserve was granted. Default: there is no reserve. */
  readonly reservedIn?: number | undefined;
  /** Requests of the reserve that were used since the last draw. */
  readonly used: number;
  /** Requests of the reserve that are given back. */
  readonly returned: number;
}

/** The answer to a draw. */
export interface QuotaGrant {
  /** Requests that the host may admit. */
  readonly granted: number;
  /** The count afterwards. */
  readonly count: QuotaCount;
}

/** A calendar period. */
export interface PeriodSpan {
  /** The beginning, in milliseconds since the epoch. */
  readonly startsAt: number;
  /** The beginning of the next period. */
  readonly endsAt: number;
}

/**
 * Returns the calendar period of a time, in UTC.
 *
 * @param now milliseconds since the epoch
 * @example
 * periodAt('month', Date.UTC(2026, 1, 14)); // { startsAt: Date.UTC(2026, 1, 1), endsAt: Date.UTC(2026, 2, 1) }
 */
export function periodAt(period: QuotaPeriod, now: number): PeriodSpan {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return period === 'day'
    ? { startsAt: Date.UTC(year, month, day), endsAt: Date.UTC(year, month, day + 1) }
    : { startsAt: Date.UTC(year, month, 1), endsAt: Date.UTC(year, month + 1, 1) };
}

/**
 * Returns whether a count belongs to the period. The clocks of two hosts differ, so the period after it counts too: a host
 * whose clock is behind draws on what the others draw on. A count of any other period is over. One that is further ahead
 * came from a clock that was wrong.
 *
 * @example
 * const { used } = isStanding(count, 'day', periodAt('day', Date.now())) ? count : { used: 0 };
 */
export function isStanding(
  count: Pick<QuotaCount, 'period' | 'startsAt'>,
  period: QuotaPeriod,
  { startsAt, endsAt }: PeriodSpan,
): boolean {
  return count.period === period && (count.startsAt === startsAt || count.startsAt === endsAt);
}

/**
 * Decides on a draw. Requests are granted before they are used, so that all hosts together never admit more than the limit.
 * A store calls it while it holds the count.
 *
 * @param before the stored count. Undefined: there is none
 * @example
 * const { granted, count } = drawn(counts.get(draw.account), draw);
 */
export function drawn(before: QuotaCount | undefined, draw: QuotaDraw): QuotaGrant {
  const { period, startsAt, limit, wanted, reservedIn } = draw;
  const now = before !== undefined && isStanding(before, period, draw) ? before : { startsAt, taken: 0, used: 0 };
  // The reserve of a period that is over is over too.
  const settles = reservedIn === now.startsAt;
  const kept = settles ? Math.max(now.used, now.taken - draw.returned) : now.taken;
  const granted = Math.max(0, Math.min(wanted, limit - kept));
  const used = Math.min(kept, now.used + (settles ? draw.used : 0));
  return { granted, count: { period, startsAt: now.startsAt, taken: kept + granted, used } };
}

const PERIODS: ReadonlySet<unknown> = new Set<QuotaPeriod>(['day', 'month']);

/** Returns whether a value has the form of a quota. */
export function isKeyQuota(value: unknown, isKeyId: (account: string) => boolean): boolean {
  const { limit, period, account } = Object(value);
  if (!Number.isSafeInteger(limit) || limit < 1 || !PERIODS.has(period)) return false;
  return account === undefined || (typeof account === 'string' && isKeyId(account));
}
