import type { Algorithm } from '../jwt/algorithms.ts';
import { audiencesOf, requireLifetime } from '../jwt/claims.ts';
import { textClaim } from '../jwt/jwt.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { requireSignature, TokenFault } from '../jwt/signature.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { WorkloadScheme } from './scheme.ts';

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

/** Options of `jwtSvid`. */
export interface JwtSvidOptions {
  /** Each trust domain with the keys of its bundle. The keys are valid for that trust domain only. */
  readonly trustDomains: readonly {
    /** Name of the trust domain. */
    readonly name: string;
    /** Keys of its bundle. */
    readonly keys: KeySource;
  }[];
  /** Name of the trust roots in decision records. Default `spiffe`. */
  readonly issuerClass?: string;
  /** Longest lifetime of a token in seconds, from `iat`, or from now without `iat`. Default 3600. */
  readonly maxLifetimeSeconds?: number;
}

const JWT_SVID_OPTIONS: OptionNames<JwtSvidOptions> = {
  trustDomains: true,
  issuerClass: true,
  maxLifetimeSeconds: true,
};

/**
 * Makes the scheme of JWT-SVIDs: tokens whose subject is a SPIFFE ID.
 *
 * @throws {TypeError} when `trustDomains` is empty or has an invalid name
 * @example
 * const scheme = jwtSvid({ trustDomains: [{ name: 'acme.example', keys: localKeys(bundle) }] });
 * @see JWT-SVID, sections 2 to 4
 */
export function jwtSvid(options: JwtSvidOptions): WorkloadScheme {
  requireKnown('jwtSvid', options, JWT_SVID_OPTIONS);
  const { trustDomains, issuerClass = 'spiffe', maxLifetimeSeconds = 3600 } = options;
  const keysOf = new Map(trustDomains.map(({ name, keys }) => [checkedTrustDomain(name), keys]));
  if (keysOf.size === 0) throw new TypeError('jwtSvid: trustDomains must not be empty. Pass at least one.');
  return {
    scheme: 'spiffe',
    issuerClass,
    issuers: [],
    recognize({ jwt }) {
      const subject = jwt && textClaim(jwt.claims, 'sub');
      if (jwt === undefined || subject?.startsWith('spiffe://') !== true) return undefined;
      return {
        async verify(now) {
          const trustDomain = parseSpiffeId(subject)?.trustDomain;
          const keys = trustDomain === undefined ? undefined : keysOf.get(trustDomain);
          if (trustDomain === undefined || keys === undefined) {
            throw new TokenFault('unverified', 'This host does not trust its trust domain.');
          }
          await requireSignature(jwt, keys, { algorithms: SVID_ALGORITHMS, types: ['jwt', 'jose', undefined] });
          const times = { now, clockSkewSeconds: 60, maxLifetimeSeconds, issuedAtOptional: true };
          const expiresAt = requireLifetime(jwt.claims, times);
          const issuer = `spiffe://${trustDomain}`;
          return { scheme: 'spiffe', subject, issuer, audiences: audiencesOf(jwt.claims), expiresAt };
        },
      };
    },
  };
}

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
