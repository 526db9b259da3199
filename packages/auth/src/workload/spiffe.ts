import { clockOf } from '../clock-of.ts';
import type { Algorithm } from '../jwt/algorithms.ts';
import { audiencesOf, requireLifetime } from '../jwt/claims.ts';
import { textClaim } from '../jwt/jwt.ts';
import { type JsonWebKeySet, type KeySource, localKeys, usableKeys } from '../jwt/key-set.ts';
import { requireSignature, TokenFault } from '../jwt/signature.ts';
import { tokenFacts } from '../jwt/token-facts.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { StatusJudge, StatusLists } from '../status-list/status-lists.ts';
import type { WorkloadScheme } from './scheme.ts';
import { statusJudge, statusOf } from './token-status.ts';

/** A parsed SPIFFE ID of a workload. */
export interface SpiffeId {
  /** The trust domain. */
  readonly trustDomain: string;
  /** The path, with its leading slash. */
  readonly path: string;
}

/**
 * Parses a SPIFFE ID by the grammar of its standard, which is narrower than a URI's: no port, query, fragment or
 * percent-encoding.
 *
 * @returns undefined for another text, and for an ID without a path, which names a trust domain and no workload
 * @example
 * parseSpiffeId('spiffe://acme.example/billing'); // { trustDomain: 'acme.example', path: '/billing' }
 * @see SPIFFE-ID, section 2
 */
export function parseSpiffeId(text: string): SpiffeId | undefined {
  const [, trustDomain = '', path = ''] = text.length <= 2048 ? (SPIFFE_ID.exec(text) ?? []) : [];
  if (trustDomain === '' || trustDomain.length > 255) return undefined;
  return path.split('/').some((segment) => segment === '.' || segment === '..') ? undefined : { trustDomain, path };
}

const SPIFFE_ID = /^spiffe:\/\/([a-z0-9._-]+)((?:\/[A-Za-z0-9._-]+)+)$/;

/**
 * Makes the key source of a trust domain, of a SPIFFE bundle by {@link bundleKeys}, and of a plain key set, as the Workload
 * API gives it, by `localKeys`.
 *
 * @throws {TypeError} when it is neither, or a bundle has no key for JWT-SVIDs
 * @example
 * const keySet = JSON.parse(readFileSync('keys.json', 'utf8'));
 * const scheme = jwtSvid({ trustDomains: [{ name: 'acme.example', keys: trustDomainKeys(keySet) }] });
 */
export function trustDomainKeys(keySet: JsonWebKeySet): KeySource {
  const isBundle = 'spiffe_sequence' in keySet || 'spiffe_refresh_hint' in keySet || keySet.keys.some(isOfBundle);
  return isBundle ? bundleKeys(keySet) : localKeys(keySet);
}

function isOfBundle(jwk: object): boolean {
  return 'use' in jwk && typeof jwk.use === 'string' && jwk.use.endsWith('-svid');
}

/**
 * Makes a key source of the JWT keys of a SPIFFE bundle, as SPIRE and a bundle endpoint give it. Keys of another use, and
 * keys without `use`, are skipped. The JWT bundles of the Workload API are plain key sets without `use`: pass those to
 * `localKeys`.
 *
 * @throws {TypeError} when `bundle` is not a key set, has over 100 keys, or has no key for JWT-SVIDs
 * @example
 * const bundle = JSON.parse(readFileSync('bundle.json', 'utf8'));
 * const scheme = jwtSvid({ trustDomains: [{ name: 'acme.example', keys: bundleKeys(bundle) }] });
 * @see SPIFFE Trust Domain and Bundle, section 4.2
 */
export function bundleKeys(bundle: JsonWebKeySet): KeySource {
  const usable = usableKeys(bundle, (use) => use === 'jwt-svid');
  if (usable !== undefined) return usable;
  throw new TypeError(
    'bundleKeys: bundle.keys must be 1 to 100 JWKs, at least one of them a public key whose use is jwt-svid. Pass a plain key set to localKeys.',
  );
}

/** Options of `jwtSvid`. */
export interface JwtSvidOptions {
  /** Each trust domain with the keys of its bundle. The keys are valid for that trust domain only. */
  readonly trustDomains: readonly {
    /** Name of the trust domain. */
    readonly name: string;
    /** Keys of its bundle. */
    readonly keys: KeySource;
    /**
     * Its status lists, made by `statusLists` of `@svc/auth/status-list` and signed with a key of the bundle: the status of
     * a token decides at each request. Default: the claim `status` is ignored.
     */
    readonly statusLists?: StatusLists;
  }[];
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Name of the trust roots in decision records. Default `spiffe`. */
  readonly issuerClass?: string;
  /** Longest lifetime of a token in seconds, from `iat`, or from now without `iat`. Default 3600. */
  readonly maxLifetimeSeconds?: number;
}

const JWT_SVID_OPTIONS: OptionNames<JwtSvidOptions> = {
  trustDomains: true,
  now: true,
  issuerClass: true,
  maxLifetimeSeconds: true,
};

/**
 * Makes the scheme of JWT-SVIDs: tokens whose subject is a SPIFFE ID.
 *
 * @throws {TypeError} when `trustDomains` is empty or has an invalid name
 * @example
 * const scheme = jwtSvid({ trustDomains: [{ name: 'acme.example', keys: bundleKeys(bundle) }] });
 * @see JWT-SVID, sections 2 to 4
 */
export function jwtSvid(options: JwtSvidOptions): WorkloadScheme {
  requireKnown('jwtSvid', options, JWT_SVID_OPTIONS);
  const { issuerClass = 'spiffe', maxLifetimeSeconds = 3600 } = options;
  const trusted = trustedDomains(options);
  if (trusted.size === 0) throw new TypeError('jwtSvid: trustDomains must not be empty. Pass at least one.');
  return {
    scheme: 'spiffe',
    issuerClass,
    issuers: [],
    trustRoots: [...trusted.keys()].map((name) => `spiffe://${name}`),
    recognize({ jwt }) {
      const subject = jwt && textClaim(jwt.claims, 'sub');
      if (jwt === undefined || subject?.startsWith('spiffe://') !== true) return undefined;
      return {
        async verify(now) {
          const trustDomain = parseSpiffeId(subject)?.trustDomain;
          const found = trustDomain === undefined ? undefined : trusted.get(trustDomain);
          if (trustDomain === undefined || found === undefined) {
            throw new TokenFault('unverified', 'This host does not trust its trust domain.', { reason: 'identity' });
          }
          await requireSignature(jwt, found.keys, { algorithms: SVID_ALGORITHMS, types: ['jwt', 'jose', undefined] });
          const times = { now, clockSkewSeconds: SKEW_SECONDS, maxLifetimeSeconds, issuedAtOptional: true };
          const expiresAt = requireLifetime(jwt.claims, times);
          const issuer = `spiffe://${trustDomain}`;
          return {
            scheme: 'spiffe',
            subject,
            issuer,
            audiences: audiencesOf(jwt.claims),
            expiresAt,
            token: tokenFacts(jwt.claims, issuer),
            ...statusOf(found.statuses, jwt.claims),
          };
        },
      };
    },
  };
}

interface TrustedDomain {
  readonly keys: KeySource;
  /** Undefined: the trust domain has no status lists. */
  readonly statuses: StatusJudge | undefined;
}

function trustedDomains(options: JwtSvidOptions): ReadonlyMap<string, TrustedDomain> {
  const now = clockOf('jwtSvid', options.now);
  const trusted = new Map<string, TrustedDomain>();
  for (const { name, keys, statusLists } of options.trustDomains) {
    const issuer = `spiffe://${checkedTrustDomain(name)}`;
    trusted.set(name, { keys, statuses: undefined });
    if (statusLists === undefined) continue;
    const parts = { issuer, keys, algorithms: SVID_ALGORITHMS, clockSkewSeconds: SKEW_SECONDS, now };
    trusted.set(name, { keys, statuses: statusJudge('jwtSvid: trustDomains[].statusLists', statusLists, parts) });
  }
  return trusted;
}

const SKEW_SECONDS = 60;

/** @see JWT-SVID, section 2.1 */
const SVID_ALGORITHMS: readonly Algorithm[] = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
];

/**
 * Returns a valid trust domain.
 *
 * @throws {TypeError} for another text
 */
export function checkedTrustDomain(name: string): string {
  if (/^[a-z0-9._-]{1,255}$/.test(name)) return name;
  throw new TypeError(
    'trustDomains[].name must be 1 to 255 lower-case letters, digits, dots, hyphens and underscores.',
  );
}
