import { type Algorithm, DEFAULT_ALGORITHMS, isAlgorithm } from '../jwt/algorithms.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { isKeyUrl, type KeyFetch, remoteKeys } from '../jwt/remote-keys.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { StatusJudge, StatusLists } from '../status-list/status-lists.ts';
import type { ClaimMapping } from './mapping.ts';

/** An issuer whose tokens a host accepts, with its rules. */
export interface TokenIssuer {
  /** URL of the issuer. Compared with `iss` character by character. */
  readonly issuer: string;
  /** The name of this host at the issuer, or several. A token must contain one of them in `aud`. */
  readonly audience: string | readonly string[];
  /**
   * `user`: tokens of people (OpenID Connect); `client`: tokens of machines (OAuth 2.0 client credentials, RFC 9068).
   */
  readonly profile: 'user' | 'client';
  /** Accepted signature algorithms. Default RS256, PS256, ES256, EdDSA and Ed25519. */
  readonly algorithms?: readonly Algorithm[];
  /** The public keys of the issuer. Default: the keys that it publishes. */
  readonly keys?: KeySource;
  /** URL of the keys, which may be on another origin. Default: `jwks_uri` of the issuer's metadata. */
  readonly jwksUri?: string;
  /**
   * Seconds, beyond ten minutes, for which fetched keys stay in use while the issuer is unreachable. Default 0, at most
   * 3600.
   */
  readonly staleKeysSeconds?: number;
  /** Accepted clock difference in seconds, 0 to 300. Default 60. */
  readonly clockSkewSeconds?: number;
  /** Longest lifetime of a token, from `iat` to `exp`, in seconds. Default 86 400, a day. */
  readonly maxLifetimeSeconds?: number;
  /** Whether machine tokens of the type `JWT` are accepted besides `at+jwt`. Default false. */
  readonly plainJwt?: boolean;
  /** Tenants for which the issuer may speak. Default: all. */
  readonly tenants?: readonly string[];
  /** The claims that hold tenant, workspaces, scopes and mode. Default: see `ClaimMapping`. */
  readonly claims?: ClaimMapping;
  /**
   * Makes the opaque id of a principal, e.g. `pseudonyms(secret)`. Default: `sub` unchanged, refused when it is not
   * opaque.
   */
  readonly principalOf?: (issuer: string, subject: string) => string;
  /** Whether every token must be bound to its sender. Default false. */
  readonly senderConstrained?: boolean;
  /**
   * Returns whether an account was closed after its tokens were issued. A failure, or no answer within 5 s, refuses the
   * request with `service_unavailable`. Default: not checked.
   */
  readonly isDisabled?: (subject: string) => boolean | Promise<boolean>;
  /**
   * The status lists of the issuer, made by `statusLists` of `@svc/auth/status-list`: the status of a token decides at each
   * request. Default: the claim `status` is ignored.
   */
  readonly statusLists?: StatusLists;
  /** The name of the issuer in decision records; never a URL. Default: the profile. */
  readonly issuerClass?: string;
}

const TOKEN_ISSUER: OptionNames<TokenIssuer> = {
  issuer: true,
  audience: true,
  profile: true,
  algorithms: true,
  keys: true,
  jwksUri: true,
  staleKeysSeconds: true,
  clockSkewSeconds: true,
  maxLifetimeSeconds: true,
  plainJwt: true,
  tenants: true,
  claims: true,
  principalOf: true,
  senderConstrained: true,
  isDisabled: true,
  statusLists: true,
  issuerClass: true,
};

/** An issuer with every default filled in. */
export interface ResolvedIssuer extends TokenIssuer {
  readonly audiences: readonly string[];
  readonly keys: KeySource;
  readonly algorithms: readonly Algorithm[];
  readonly types: readonly (string | undefined)[];
  readonly clockSkewSeconds: number;
  readonly maxLifetimeSeconds: number;
  /** Undefined: the issuer has no status lists. */
  readonly statuses: StatusJudge | undefined;
}

/**
 * Checks the issuers of a lane and fills in the defaults. Two entries of one issuer share its keys.
 *
 * @throws {TypeError} for an invalid entry. The message names the entry and the field.
 */
export function resolvedIssuers(
  issuers: readonly TokenIssuer[],
  network: { readonly fetch: KeyFetch | undefined; readonly now: () => number },
): ReadonlyMap<string, readonly ResolvedIssuer[]> {
  const byIssuer = new Map<string, ResolvedIssuer[]>();
  for (const [index, entry] of issuers.entries()) {
    requireKnown(`bearerLane: issuers[${index}]`, entry, TOKEN_ISSUER);
    const fail = (problem: string) => new TypeError(`bearerLane: issuers[${index}].${problem}.`);
    const alike = byIssuer.get(entry.issuer) ?? [];
    if (alike.some(({ profile }) => profile === entry.profile))
      throw fail('profile must differ from the other entries of its issuer');
    byIssuer.set(entry.issuer, [...alike, resolved(entry, alike[0]?.keys, network, fail)]);
  }
  requireApart([...byIssuer.values()].flat());
  return byIssuer;
}

function resolved(
  entry: TokenIssuer,
  known: KeySource | undefined,
  { fetch, now }: Parameters<typeof resolvedIssuers>[1],
  fail: (problem: string) => TypeError,
): ResolvedIssuer {
  const { issuer, profile, algorithms = DEFAULT_ALGORITHMS, clockSkewSeconds = 60, maxLifetimeSeconds = DAY } = entry;
  if (typeof issuer !== 'string' || !isKeyUrl(issuer))
    throw fail('issuer must be an https URL without query or fragment');
  if (profile !== 'user' && profile !== 'client') throw fail('profile must be "user" or "client"');
  const audiences = [entry.audience].flat();
  if (audiences.length === 0 || audiences.some((audience) => typeof audience !== 'string' || audience === '')) {
    throw fail('audience must be one or more non-empty strings that name this host');
  }
  if (algorithms.length === 0 || !algorithms.every(isAlgorithm))
    throw fail('algorithms must be a non-empty list of names in ALGORITHMS');
  if (!(clockSkewSeconds >= 0 && clockSkewSeconds <= 300)) throw fail('clockSkewSeconds must be 0 to 300');
  if (!(maxLifetimeSeconds > 0)) throw fail('maxLifetimeSeconds must be more than 0');
  const keys = entry.keys ?? known ?? published(entry, fetch, now);
  if (keys === undefined) throw fail('keys must be set when the lane has no fetch');
  const { statusLists } = entry;
  if (statusLists !== undefined && typeof statusLists?.judgeOf !== 'function')
    throw fail('statusLists must be made by statusLists of @svc/auth/status-list');
  const statuses = statusLists?.judgeOf({ issuer, keys, algorithms: [...algorithms], clockSkewSeconds, now });
  const types = profile === 'client' && entry.plainJwt !== true ? ['at+jwt'] : ['at+jwt', 'jwt', undefined];
  return {
    ...entry,
    // Copies: a verdict that is remembered must not outlive a change of the lists that it was made by.
    ...(entry.tenants !== undefined && { tenants: [...entry.tenants] }),
    ...(entry.claims !== undefined && { claims: structuredClone(entry.claims) }),
    algorithms: [...algorithms],
    ...{ audiences, clockSkewSeconds, maxLifetimeSeconds, keys, types, statuses },
  };
}

const DAY = 86_400;

function published(entry: TokenIssuer, fetch: KeyFetch | undefined, now: () => number): KeySource | undefined {
  const { issuer, jwksUri, staleKeysSeconds = 0 } = entry;
  return fetch && remoteKeys({ issuer, jwksUri, fetch, now, staleSeconds: staleKeysSeconds });
}

/** Refuses issuers that may speak for one tenant: two people with the same `sub` would be one principal. */
function requireApart(entries: readonly ResolvedIssuer[]): void {
  for (const [index, one] of entries.entries()) {
    for (const other of entries.slice(index + 1)) {
      const named = one.principalOf !== undefined && other.principalOf !== undefined;
      if (one.issuer === other.issuer || named || !mayMeet(one.tenants, other.tenants)) continue;
      const pair = `${one.issuer} and ${other.issuer}`;
      const remedy = 'Set disjoint tenants, or principalOf in both.';
      throw new TypeError(`bearerLane: issuers ${pair} may speak for one tenant. ${remedy}`);
    }
  }
}

function mayMeet(some: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  return some === undefined || others === undefined || some.some((tenant) => others.includes(tenant));
}
