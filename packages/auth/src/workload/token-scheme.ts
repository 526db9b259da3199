import { clockOf } from '../clock-of.ts';
import { type Algorithm, DEFAULT_ALGORITHMS } from '../jwt/algorithms.ts';
import { audiencesOf, requireLifetime, requireText } from '../jwt/claims.ts';
import { textClaim } from '../jwt/jwt.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { isKeyUrl, type KeyFetch, remoteKeys } from '../jwt/remote-keys.ts';
import { requireSignature } from '../jwt/signature.ts';
import { tokenFacts } from '../jwt/token-facts.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { StatusJudge, StatusLists } from '../status-list/status-lists.ts';
import type { WorkloadSchemeName } from './identity.ts';
import type { WorkloadScheme } from './scheme.ts';
import { statusJudge, statusOf } from './token-status.ts';

/** Options of `cloudSubject` and `oauthClient`. */
export interface TokenSchemeOptions {
  /** Issuers by their exact `iss`. Without `keys` the published keys are fetched, from `jwksUri` when it is set. */
  readonly issuers: readonly {
    /** URL of the issuer, the exact `iss`. */
    readonly issuer: string;
    /** Its public keys. Default: the keys that it publishes. */
    readonly keys?: KeySource;
    /** URL of its keys. Default: `jwks_uri` of its metadata. */
    readonly jwksUri?: string;
    /**
     * Its status lists, made by `statusLists` of `@svc/auth/status-list`: the status of a token decides at each request.
     * Default: the claim `status` is ignored.
     */
    readonly statusLists?: StatusLists;
  }[];
  /** Fetches metadata and keys. Required unless every issuer has `keys`. */
  readonly fetch?: KeyFetch;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Accepted signature algorithms. Default RS256, PS256, ES256, EdDSA and Ed25519. */
  readonly algorithms?: readonly Algorithm[];
  /** Name of the issuers in decision records. Default: the name of the scheme. */
  readonly issuerClass?: string;
  /** Longest lifetime of a token, from `iat` to `exp`, in seconds. Default 3600. */
  readonly maxLifetimeSeconds?: number;
  /** Accepted clock difference in seconds. Default 60. */
  readonly clockSkewSeconds?: number;
}

const TOKEN_SCHEME_OPTIONS: OptionNames<TokenSchemeOptions> = {
  issuers: true,
  fetch: true,
  now: true,
  algorithms: true,
  issuerClass: true,
  maxLifetimeSeconds: true,
  clockSkewSeconds: true,
};

/**
 * Makes the scheme of tokens in which a cloud or a CI system names the calling workload, e.g. GitHub Actions or a
 * Kubernetes cluster. The subject is `sub`.
 *
 * @throws {TypeError} when `issuers` is empty, or an issuer is not an https URL or has no keys
 * @example
 * const issuers = [{ issuer: 'https://token.actions.githubusercontent.com' }];
 * const scheme = cloudSubject({ issuers, fetch });
 * @see Interface: Workload identity object, scheme `cloud-subject`
 */
export function cloudSubject(options: TokenSchemeOptions): WorkloadScheme {
  requireKnown('cloudSubject', options, TOKEN_SCHEME_OPTIONS);
  return tokenScheme('cloud-subject', 'sub', ['jwt', undefined], options);
}

/**
 * Makes the scheme of access tokens that an authorization server issued to a client for itself. The subject is
 * `client_id`.
 *
 * @throws {TypeError} when `issuers` is empty, or an issuer is not an https URL or has no keys
 * @example
 * const scheme = oauthClient({ issuers: [{ issuer: 'https://auth.example.com' }], fetch });
 * @see Interface: Workload identity object, scheme `oauth-client`; RFC 9068
 */
export function oauthClient(options: TokenSchemeOptions): WorkloadScheme {
  requireKnown('oauthClient', options, TOKEN_SCHEME_OPTIONS);
  return tokenScheme('oauth-client', 'client_id', ['at+jwt'], options);
}

function tokenScheme(
  scheme: WorkloadSchemeName,
  subjectClaim: string,
  types: readonly (string | undefined)[],
  options: TokenSchemeOptions,
): WorkloadScheme {
  const { algorithms = DEFAULT_ALGORITHMS, issuerClass = scheme, maxLifetimeSeconds = 3600 } = options;
  const { fetch, clockSkewSeconds = 60 } = options;
  const now = clockOf(scheme, options.now);
  const trusted = new Map<string, { readonly keys: KeySource; readonly statuses: StatusJudge | undefined }>();
  for (const entry of options.issuers) {
    const { issuer, statusLists } = entry;
    const keys = keysFor(scheme, entry, fetch, now);
    const parts = { issuer, keys, algorithms, clockSkewSeconds, now };
    trusted.set(issuer, { keys, statuses: statusJudge(`${scheme}: issuers[].statusLists`, statusLists, parts) });
  }
  if (trusted.size === 0) throw new TypeError(`${scheme}: issuers must not be empty. Pass at least one.`);
  return {
    scheme,
    issuerClass,
    issuers: [...trusted.keys()],
    trustRoots: [...trusted.keys()],
    recognize({ jwt }) {
      const issuer = jwt && textClaim(jwt.claims, 'iss');
      const found = issuer === undefined ? undefined : trusted.get(issuer);
      if (jwt === undefined || issuer === undefined || found === undefined) return undefined;
      const { keys, statuses } = found;
      return {
        async verify(time) {
          await requireSignature(jwt, keys, { algorithms, types });
          const expiresAt = requireLifetime(jwt.claims, { now: time, clockSkewSeconds, maxLifetimeSeconds });
          const subject = requireText(jwt.claims, subjectClaim);
          return {
            scheme,
            subject,
            issuer,
            audiences: audiencesOf(jwt.claims),
            expiresAt,
            token: tokenFacts(jwt.claims, issuer),
            ...statusOf(statuses, jwt.claims),
          };
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
