import { type Algorithm, DEFAULT_ALGORITHMS, isAlgorithm } from '../jwt/algorithms.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { isKeyUrl, type KeyFetch, remoteKeys } from '../jwt/remote-keys.ts';
import type { ClaimMapping } from './mapping.ts';

/** An issuer whose tokens a host takes, and what they are held to. */
export interface TokenIssuer {
  /** Compared with `iss` character by character. */
  readonly issuer: string;
  /** This host, as the issuer calls it. */
  readonly audience: string | readonly string[];
  /** `user`: tokens of people (OpenID Connect); `client`: tokens of machines (OAuth 2.0 client credentials, RFC 9068). */
  readonly profile: 'user' | 'client';
  /** Default RS256, PS256, ES256 and Ed25519. */
  readonly algorithms?: readonly Algorithm[];
  /** Default: those that the issuer publishes. */
  readonly keys?: KeySource;
  /** Where the issuer's keys are, when its metadata is not to be asked. */
  readonly jwksUri?: string;
  /** How much older than ten minutes keys may be while the issuer cannot be reached. Default 0, at most 3600. */
  readonly staleKeysSeconds?: number;
  /** Default 60, at most 300. */
  readonly clockSkewSeconds?: number;
  /** From `iat` to `exp`. Default a day. */
  readonly maxLifetimeSeconds?: number;
  /** Whether the issuer's machines sign plain `JWT`s, too, instead of `at+jwt` alone. Default false. */
  readonly plainJwt?: boolean;
  /** The tenants that it may speak for. Default: all. */
  readonly tenants?: readonly string[];
  /** Which claims say what. */
  readonly claims?: ClaimMapping;
  /** Makes the opaque id of a principal. Default: `sub` as it is, refused when it is not opaque. */
  readonly principalOf?: (issuer: string, subject: string) => string;
  /** Whether every token must be bound to its sender. Default false. */
  readonly senderConstrained?: boolean;
  /** Whether an account has been closed since its tokens were issued. Without an answer within 5 s nobody is let in. */
  readonly isDisabled?: (subject: string) => boolean | Promise<boolean>;
  /** What decisions are recorded under; never the URL. Default the profile. */
  readonly issuerClass?: string;
}

/** An issuer with nothing left to default. */
export interface ResolvedIssuer extends TokenIssuer {
  readonly audiences: readonly string[];
  readonly keys: KeySource;
  readonly algorithms: readonly Algorithm[];
  readonly types: readonly (string | undefined)[];
  readonly clockSkewSeconds: number;
  readonly maxLifetimeSeconds: number;
}

/**
 * Checks the issuers of a lane, and completes them. Two entries of one issuer share its keys.
 *
 * @throws {TypeError} naming the entry and what is wrong with it
 */
export function resolvedIssuers(
  issuers: readonly TokenIssuer[],
  network: { readonly fetch: KeyFetch | undefined; readonly now: () => number },
): ReadonlyMap<string, readonly ResolvedIssuer[]> {
  const byIssuer = new Map<string, ResolvedIssuer[]>();
  for (const [index, entry] of issuers.entries()) {
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
  const types = profile === 'client' && entry.plainJwt !== true ? ['at+jwt'] : ['at+jwt', 'jwt', undefined];
  return { ...entry, audiences, algorithms, clockSkewSeconds, maxLifetimeSeconds, keys, types };
}

const DAY = 86_400;

function published(entry: TokenIssuer, fetch: KeyFetch | undefined, now: () => number): KeySource | undefined {
  const { issuer, jwksUri, staleKeysSeconds = 0 } = entry;
  return fetch && remoteKeys({ issuer, jwksUri, fetch, now, staleSeconds: staleKeysSeconds });
}

/** Two issuers may call two people by one `sub`. If both speak for one tenant, the two would be one principal. */
function requireApart(entries: readonly ResolvedIssuer[]): void {
  for (const [index, one] of entries.entries()) {
    for (const other of entries.slice(index + 1)) {
      const named = one.principalOf !== undefined && other.principalOf !== undefined;
      if (one.issuer === other.issuer || named || !mayMeet(one.tenants, other.tenants)) continue;
      throw new TypeError(
        `bearerLane: issuers ${one.issuer} and ${other.issuer} may speak for one tenant. Set disjoint tenants, or principalOf in both.`,
      );
    }
  }
}

function mayMeet(some: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  return some === undefined || others === undefined || some.some((tenant) => others.includes(tenant));
}
