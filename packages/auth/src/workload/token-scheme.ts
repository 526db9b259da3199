import { type Algorithm, DEFAULT_ALGORITHMS } from '../jwt/algorithms.ts';
import { audiencesOf, requireLifetime, requireText } from '../jwt/claims.ts';
import { textClaim } from '../jwt/jwt.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { isKeyUrl, type KeyFetch, remoteKeys } from '../jwt/remote-keys.ts';
import { requireSignature } from '../jwt/signature.ts';
import type { WorkloadSchemeName } from './identity.ts';
import type { WorkloadScheme } from './scheme.ts';

export interface TokenSchemeOptions {
  /** Issuers by their exact `iss`; with their keys, or to be fetched from what they publish. */
  readonly issuers: readonly { readonly issuer: string; readonly keys?: KeySource; readonly jwksUri?: string }[];
  /** Needed unless every issuer comes with `keys`. */
  readonly fetch?: KeyFetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly algorithms?: readonly Algorithm[];
  /** What decisions call these issuers. Default the name of the scheme. */
  readonly issuerClass?: string;
  /** From `iat` to `exp`. Default an hour. */
  readonly maxLifetimeSeconds?: number;
  /** Default 60. */
  readonly clockSkewSeconds?: number;
}

/**
 * Tokens by which a cloud or a CI system says which of its workloads calls, e.g. GitHub Actions or a Kubernetes cluster. The subject
 * is `sub`.
 *
 * @throws {TypeError} for an issuer that cannot be right
 * @example
 * const scheme = cloudSubject({ issuers: [{ issuer: 'https://token.actions.githubusercontent.com' }], fetch, now: Date.now });
 * @see Interface: Workload identity object, scheme `cloud-subject`
 */
export function cloudSubject(options: TokenSchemeOptions): WorkloadScheme {
  return tokenScheme('cloud-subject', 'sub', ['jwt', undefined], options);
}

/**
 * Access tokens that an authorization server gave a client for itself. The subject is `client_id`.
 *
 * @throws {TypeError} for an issuer that cannot be right
 * @example
 * const scheme = oauthClient({ issuers: [{ issuer: 'https://auth.example.com' }], fetch, now: Date.now });
 * @see Interface: Workload identity object, scheme `oauth-client`; RFC 9068
 */
export function oauthClient(options: TokenSchemeOptions): WorkloadScheme {
  return tokenScheme('oauth-client', 'client_id', ['at+jwt'], options);
}

function tokenScheme(
  scheme: WorkloadSchemeName,
  subjectClaim: string,
  types: readonly (string | undefined)[],
  options: TokenSchemeOptions,
): WorkloadScheme {
  const { algorithms = DEFAULT_ALGORITHMS, issuerClass = scheme, maxLifetimeSeconds = 3600 } = options;
  const { fetch, now, clockSkewSeconds = 60 } = options;
  const keysOf = new Map(options.issuers.map((entry) => [entry.issuer, keysFor(scheme, entry, fetch, now)]));
  if (keysOf.size === 0) throw new TypeError(`${scheme}: issuers must not be empty. Pass at least one.`);
  return {
    scheme,
    issuerClass,
    issuers: [...keysOf.keys()],
    recognize({ jwt }) {
      const issuer = jwt && textClaim(jwt.claims, 'iss');
      const keys = issuer === undefined ? undefined : keysOf.get(issuer);
      if (jwt === undefined || issuer === undefined || keys === undefined) return undefined;
      return {
        async verify(time) {
          await requireSignature(jwt, keys, { algorithms, types });
          const expiresAt = requireLifetime(jwt.claims, { now: time, clockSkewSeconds, maxLifetimeSeconds });
          const subject = requireText(jwt.claims, subjectClaim);
          return { scheme, subject, issuer, audiences: audiencesOf(jwt.claims), expiresAt };
        },
      };
    },
  };
}

function keysFor(
  scheme: string,
  { issuer, keys, jwksUri }: TokenSchemeOptions['issuers'][number],
  fetch: KeyFetch | undefined,
  now: () => number,
): KeySource {
  if (!isKeyUrl(issuer))
    throw new TypeError(`${scheme}: issuers[].issuer must be an https URL without query or fragment.`);
  if (keys !== undefined) return keys;
  if (fetch === undefined) throw new TypeError(`${scheme}: issuer ${issuer} has no keys. Pass its keys, or fetch.`);
  return remoteKeys({ issuer, jwksUri, fetch, now });
}
