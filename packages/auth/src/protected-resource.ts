import { type OptionNames, requireKnown } from './known-options.ts';
/** The metadata document of a protected resource. @see RFC 9728, section 2 */
export interface ProtectedResourceMetadata {
  /** URL of the host. */
  readonly resource: string;
  /** Issuers whose tokens the host accepts, without duplicates. */
  readonly authorization_servers: readonly string[];
  /** Scopes that the host enforces. */
  readonly scopes_supported: readonly string[];
  /** Tokens are accepted in the `Authorization` header only. */
  readonly bearer_methods_supported: readonly ['header'];
  /** Algorithms of DPoP proofs, when the host accepts DPoP. */
  readonly dpop_signing_alg_values_supported?: readonly string[];
  /** Present when every token must be bound to a DPoP key. */
  readonly dpop_bound_access_tokens_required?: true;
  /** Present when every token must be bound to a client certificate. */
  readonly tls_client_certificate_bound_access_tokens?: true;
}

/** Options of `protectedResourceMetadata`. */
export interface ProtectedResourceOptions {
  /** URL of the host as clients see it, without a trailing slash, e.g. `https://svc.example.com`. */
  readonly resource: string;
  /** The issuers of the token lanes. Duplicates are dropped. */
  readonly issuers: readonly string[];
  /** The scopes that the host enforces. */
  readonly scopes: readonly string[];
  /** Algorithms of DPoP proofs that the host accepts. Default: left out. */
  readonly dpopAlgorithms?: readonly string[];
  /** Bindings that every token lane requires. Default: none. */
  readonly requires?: {
    /** Every token must be bound to a DPoP key. Default false. */
    readonly dpop?: boolean;
    /** Every token must be bound to a client certificate. Default false. */
    readonly mtls?: boolean;
  };
}

const PROTECTED_RESOURCE_OPTIONS: OptionNames<ProtectedResourceOptions> = {
  resource: true,
  issuers: true,
  scopes: true,
  dpopAlgorithms: true,
  requires: true,
};

/**
 * Returns the URL of a resource's metadata: the well-known path stands between the origin and the resource's own path.
 *
 * @throws {TypeError} when `resource` is not a URL
 * @example
 * protectedResourceUrl('https://svc.example.com/api');
 * // 'https://svc.example.com/.well-known/oauth-protected-resource/api'
 * @see RFC 9728, section 3.1
 */
export function protectedResourceUrl(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
}

/**
 * Makes the metadata from which a client learns where to get a token for this host. Serve it without authentication.
 *
 * @example
 * protectedResourceMetadata({
 *   resource: 'https://svc.example.com',
 *   issuers: ['https://idp.example.com'],
 *   scopes: SCOPES,
 * });
 * @see RFC 9728, section 2
 */
export function protectedResourceMetadata(options: ProtectedResourceOptions): ProtectedResourceMetadata {
  requireKnown('protectedResourceMetadata', options, PROTECTED_RESOURCE_OPTIONS);
  const { resource, issuers, scopes, dpopAlgorithms, requires = {} } = options;
  return {
    resource,
    authorization_servers: [...new Set(issuers)],
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
    ...(dpopAlgorithms !== undefined && { dpop_signing_alg_values_supported: dpopAlgorithms }),
    ...(requires.dpop === true && { dpop_bound_access_tokens_required: true }),
    ...(requires.mtls === true && { tls_client_certificate_bound_access_tokens: true }),
  };
}
