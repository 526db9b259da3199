import type { Tenancy } from '@svc/auth';
import type { Major } from '@svc/versioning';
import type { Transaction } from './transaction.ts';

/** A credential, as records name it. It contains no part of the credential. */
export interface CallerName {
  /** The lane that authenticated it, such as `api-key`. */
  readonly lane: string;
  /** Its id: of an API key that of its record, otherwise made of the lane, the tenant and the opaque id of the principal. */
  readonly credential: string;
}

/** The requests of one credential under one major on one day. */
export interface VersionUse extends CallerName {
  /** The tenant of the credential. */
  readonly tenant: string;
  /** The mode of the credential. */
  readonly mode: Tenancy['mode'];
  /** The major of the requests. */
  readonly major: Major;
  /** Start of the day in UTC, in ms since the epoch. */
  readonly day: number;
  /** The number of requests. */
  readonly requests: number;
  /** Time of the last one, in ms since the epoch. */
  readonly lastAt: number;
}

/** The requests of one credential, summed over days. */
export interface CallerUse extends CallerName {
  /** An entry for each major of which there are requests, in the order of the majors. */
  readonly majors: readonly MajorUse[];
}

/** The requests of one credential under one major. */
export interface MajorUse extends Pick<VersionUse, 'major' | 'requests' | 'lastAt'> {}

/** The requests of all credentials of a tenant under one major on one day. */
export interface VersionDay extends Pick<VersionUse, 'day' | 'major' | 'requests'> {}

/** The query of a page of credentials. */
export interface CallerPage {
  /** Credentials with requests of this major alone. */
  readonly major: Major;
  /** Counts this day and later ones: the start of a day in UTC, in ms since the epoch. */
  readonly since: number;
  /** The last credential of the page before; undefined for the first page. */
  readonly after: CallerName | undefined;
  /** The most credentials. */
  readonly limit: number;
}

/** The uses of each major of the protocol, by credential and day. */
export interface VersionUses {
  /**
   * Adds the requests to those that are stored for the same tenant, mode, major, credential and day, and keeps the later
   * `lastAt`. One of these occurs in `uses` once at the most, in the order of `compareUses`.
   */
  add(uses: readonly VersionUse[], transaction: Transaction): Promise<void>;
  /** Returns credentials of a tenant and mode, in the order of their lanes and ids. */
  callers(tenancy: Pick<Tenancy, 'tenant' | 'mode'>, page: CallerPage): Promise<readonly CallerUse[]>;
  /**
   * Returns the requests of a tenant and mode by day, in the order of days and majors. Days without a request are left out.
   *
   * @param since the start of the first day, in ms since the epoch
   */
  days(tenancy: Pick<Tenancy, 'tenant' | 'mode'>, since: number): Promise<readonly VersionDay[]>;
  /**
   * Deletes up to `limit` uses of days that began before a time, and returns how many.
   *
   * @param before in ms since the epoch
   */
  sweep(before: number, limit: number): Promise<number>;
}

/**
 * Compares two uses by their tenant, mode, major, lane, credential and day: the order in which all hosts of a store add
 * them, so that two transactions never wait for each other in a circle.
 *
 * @example
 * import { compareUses, type VersionUse } from '@svc/host-kit/ports';
 *
 * const inOrder = (uses: readonly VersionUse[]) => [...uses].sort(compareUses);
 */
export function compareUses(a: VersionUse, b: VersionUse): number {
  return (
    compareTexts(a.tenant, b.tenant) ||
    compareTexts(a.mode, b.mode) ||
    a.major - b.major ||
    compareCallers(a, b) ||
    a.day - b.day
  );
}

/**
 * Compares two credentials by their lanes and ids, as pages of `VersionUses.callers` are ordered.
 *
 * @example
 * import { compareCallers } from '@svc/host-kit/ports';
 *
 * compareCallers({ lane: 'api-key', credential: 'key_1' }, { lane: 'api-key', credential: 'key_2' }); // -1
 */
export function compareCallers(a: CallerName, b: CallerName): number {
  return compareTexts(a.lane, b.lane) || compareTexts(a.credential, b.credential);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
