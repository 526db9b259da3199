import type { Algorithm } from '../jwt/algorithms.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { isKeyUrl, type KeyFetch } from '../jwt/remote-keys.ts';
import { TokenFault } from '../jwt/signature.ts';
import type { JsonObject } from '../jwt/strict-json.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { ListCache } from './list-cache.ts';
import { type StatusReference, statusReference } from './reference.ts';
import { statusAt } from './status-bits.ts';

/** Options of `statusLists`. */
export interface StatusListsOptions {
  /**
   * URIs of the lists of the issuer, 1 to 100. One that ends with `/` allows every URI that begins with it. Each is an
   * https URL, or an http URL on this machine, in its normal form, without credentials, query or fragment.
   */
  readonly uris: readonly string[];
  /** Sends a GET. Pass a guarded fetch: tokens choose the URL among those that are allowed. */
  readonly fetch: KeyFetch;
  /** Whether a token without the claim `status` is refused. Default false. */
  readonly required?: boolean;
  /**
   * Longest use of a list in seconds, 1 to 3600, counted from its request. A list is never used for longer than its `ttl`
   * or after its `exp`. A revoked token is accepted for at most that long. Default 300.
   */
  readonly maxAgeSeconds?: number;
  /** Most bytes of an inflated list, 1024 to 2 097 152. Default 1 048 576: 8 388 608 statuses of one bit. */
  readonly maxListBytes?: number;
  /** Most lists in memory, and most fetches under way, 1 to 1000. Default 16. */
  readonly maxLists?: number;
  /** Time limit of a fetch with all checks of the list, in milliseconds, 1 to 60 000. Default 5000. */
  readonly timeoutMs?: number;
}

const OPTIONS: OptionNames<StatusListsOptions> = {
  uris: true,
  fetch: true,
  required: true,
  maxAgeSeconds: true,
  maxListBytes: true,
  maxLists: true,
  timeoutMs: true,
};

/** The issuer whose tokens a {@link StatusJudge} judges. The lane fills it in. */
export interface StatusIssuer {
  /** The issuer: a URL, or a trust domain as `spiffe://acme.example`. A list that names an issuer (`iss`) must name this one. */
  readonly issuer: string;
  /** The public keys of the issuer, which sign its lists. */
  readonly keys: KeySource;
  /** Accepted signature algorithms. */
  readonly algorithms: readonly Algorithm[];
  /** Accepted clock difference in seconds. */
  readonly clockSkewSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Judges the status of the tokens of one issuer. */
export interface StatusJudge {
  /**
   * Judges a token by a list in memory. Returns false when a list has to be fetched first.
   *
   * @param claims the claims of a verified token
   * @throws the fault of a token that is not valid
   */
  accepts(claims: Readonly<Record<string, unknown>>): boolean;
  /**
   * Judges a token, and fetches the list when it is not in memory.
   *
   * @param claims the claims of a verified token
   * @throws the fault of a token that is not valid, or an outage when no list is to be had
   */
  require(claims: Readonly<Record<string, unknown>>): Promise<void>;
}

/**
 * The status lists of an issuer. Made by `statusLists`, and passed as `statusLists` of an issuer of `bearerLane`, of a trust
 * domain or an issuer of workloads, or of `introspectionLane`.
 */
export interface StatusLists {
  /** Makes the judge of the tokens of an issuer. */
  judgeOf(issuer: StatusIssuer): StatusJudge;
}

/**
 * Makes the status lists of an issuer. Of a token with the claim `status`, or with that member in the answer of its
 * introspection, the status in the list decides at each request: 0 passes, and every other value is refused with 401. Without a list that is signed by the issuer and valid
 * now, the token gets `service_unavailable`, which counts against no limit.
 *
 * A list is used for at most `maxAgeSeconds`, so a revoked token is accepted for at most that long after the issuer has
 * published the list.
 *
 * @throws {TypeError} when an option is invalid
 * @example
 * const lists = statusLists({ uris: ['https://idp.example.com/statuslists/'], fetch: guardedFetch() });
 * const issuers = [{ issuer: 'https://idp.example.com', audience: 'svc', profile: 'user' as const, statusLists: lists }];
 * const lane = bearerLane({ issuers, fetch: guardedFetch() });
 * @see draft-ietf-oauth-status-list, sections 6.2, 7.1 and 8.3
 */
export function statusLists(options: StatusListsOptions): StatusLists {
  requireKnown('statusLists', options, OPTIONS);
  const { allowed, required, ...bounds } = checkedOptions(options);
  const caches: { readonly of: StatusIssuer; readonly lists: ListCache }[] = [];

  return {
    judgeOf(of) {
      // The entries of an issuer share its keys, and so its lists.
      const alike = caches.find((other) => isAlike(other.of, of));
      const lists = alike?.lists ?? new ListCache({ ...of, ...bounds });
      if (alike === undefined) caches.push({ of, lists });
      return judge(lists, { allowed, required });
    },
  };
}

function isAlike(one: StatusIssuer, other: StatusIssuer): boolean {
  const isSameIssuer = one.issuer === other.issuer && one.keys === other.keys && one.now === other.now;
  const isSameRule = one.clockSkewSeconds === other.clockSkewSeconds && `${one.algorithms}` === `${other.algorithms}`;
  return isSameIssuer && isSameRule;
}

function judge(lists: ListCache, rules: ReferenceRules): StatusJudge {
  return {
    accepts(claims) {
      const reference = requiredReference(claims, rules);
      if (reference === undefined) return true;
      const list = lists.known(reference.uri);
      if (list === undefined) {
        requireAllowed(reference, rules);
        return false;
      }
      const status = statusAt(list.bytes, list.bits, reference.index);
      if (status === undefined && !lists.isFresh(reference.uri)) return false;
      requireValid(status, reference);
      return true;
    },
    async require(claims) {
      const reference = requiredReference(claims, rules);
      if (reference === undefined) return;
      requireAllowed(reference, rules);
      requireValid(await statusIn(lists, reference), reference);
    },
  };
}

/** A list that lacks the index is fetched again: the issuer makes it longer for new tokens. */
async function statusIn(lists: ListCache, { uri, index }: StatusReference): Promise<number | undefined> {
  try {
    const list = await lists.find(uri);
    const status = statusAt(list.bytes, list.bits, index);
    if (status !== undefined) return status;
    const renewed = await lists.renewed(uri);
    return statusAt(renewed.bytes, renewed.bits, index);
  } catch (cause) {
    throw unjudged(cause);
  }
}

interface ReferenceRules {
  readonly allowed: readonly string[];
  readonly required: boolean;
}

function requiredReference(claims: JsonObject, { required }: ReferenceRules): StatusReference | undefined {
  const reference = statusReference(claims);
  if (reference === undefined && required) throw new TokenFault('unverified', 'It must have a status.');
  return reference;
}

/** A list that is in memory was allowed before. */
function requireAllowed({ uri }: StatusReference, { allowed }: ReferenceRules): void {
  if (!isAllowed(uri, allowed)) throw new TokenFault('unverified', 'This host does not accept its status list (uri).');
}

/** A URL that changes when it is normalised could leave the folder that it begins with. */
function isAllowed(uri: string, allowed: readonly string[]): boolean {
  const fits = allowed.some((one) => uri === one || (one.endsWith('/') && uri.startsWith(one)));
  return fits && isNormal(uri);
}

function isNormal(uri: string): boolean {
  return isKeyUrl(uri) && new URL(uri).href === uri;
}

/** @see draft-ietf-oauth-status-list, section 7.1 */
function requireValid(status: number | undefined, { uri }: StatusReference): void {
  if (status === VALID) return;
  if (status === undefined) throw unjudged(new Error(`The status list ${uri} is shorter than an index in a token.`));
  if (status === INVALID) throw invalid('Its issuer revoked it. Get another one.', 'inactive');
  if (status === SUSPENDED)
    throw invalid('Its issuer has suspended it at the moment. Get another one, or ask the issuer.', 'suspended');
  throw invalid('Its issuer lists it with a status other than valid. Get another one.', 'inactive');
}

function invalid(message: string, reason: 'inactive' | 'suspended'): TokenFault {
  return new TokenFault('unverified', message, { reason });
}

const VALID = 0;
const INVALID = 1;
const SUSPENDED = 2;

function unjudged(cause: unknown): TokenFault {
  return new TokenFault('outage', 'Its status list is unavailable at the moment.', { cause, reason: 'status-list' });
}

interface Checked {
  readonly allowed: readonly string[];
  readonly fetch: KeyFetch;
  readonly required: boolean;
  readonly maxAgeMs: number;
  readonly maxListBytes: number;
  readonly maxLists: number;
  readonly timeoutMs: number;
}

function checkedOptions({ uris, fetch, required = false, ...options }: StatusListsOptions): Checked {
  const fail = (problem: string) => new TypeError(`statusLists: ${problem}.`);
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > 100)
    throw fail('uris must be a list of 1 to 100 URIs');
  const wrong = uris.findIndex((uri) => typeof uri !== 'string' || !isNormal(uri));
  if (wrong !== -1)
    throw fail(
      `uris[${wrong}] must be an https URL, or an http URL on this machine, in its normal form, without credentials, query or fragment`,
    );
  if (typeof fetch !== 'function') throw fail('fetch must be a function, e.g. guardedFetch()');
  if (typeof required !== 'boolean') throw fail('required must be true or false');
  const bounded = (name: string, value: number, least: number, most: number) => {
    if (value >= least && value <= most) return value;
    throw fail(`${name} must be ${least} to ${most}`);
  };
  return {
    allowed: [...uris],
    fetch,
    required,
    maxAgeMs: 1000 * bounded('maxAgeSeconds', options.maxAgeSeconds ?? 300, 1, 3600),
    maxListBytes: bounded('maxListBytes', options.maxListBytes ?? 1024 * 1024, 1024, 2 * 1024 * 1024),
    maxLists: bounded('maxLists', options.maxLists ?? 16, 1, 1000),
    timeoutMs: bounded('timeoutMs', options.timeoutMs ?? 5000, 1, 60_000),
  };
}
