/** @see RFC 9728, section 2 */
export interface ProtectedResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly scopes_supported: readonly string[];
  readonly bearer_methods_supported: readonly ['header'];
  readonly dpop_signing_alg_values_supported?: readonly string[];
  readonly dpop_bound_access_tokens_required?: true;
  readonly tls_client_certificate_bound_access_tokens?: true;
}

export interface ProtectedResourceOptions {
  /** Where clients reach the host, without a trailing slash, e.g. `https://svc.example.com`. */
  readonly resource: string;
  /** The issuers of the token lanes. */
  readonly issuers: readonly string[];
  /** Those that the host enforces. */
  readonly scopes: readonly string[];
  readonly dpopAlgorithms?: readonly string[];
  /** Set only when every token lane requires it. */
  readonly requires?: { readonly dpop?: boolean; readonly mtls?: boolean };
}

/**
 * Where a resource's metadata is: the well-known path stands between the origin and the resource's own path.
 *
 * @throws {TypeError} for what is no URL
 * @example
 * protectedResourceUrl('https://svc.example.com/api'); // 'https://svc.example.com/.well-known/oauth-protected-resource/api'
 * @see RFC 9728, section 3.1
 */
export function protectedResourceUrl(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`;
}

/**
 * The metadata by which a client learns where to get a token for this host. It is served without a credential.
 *
 * @example
 * protectedResourceMetadata({ resource: 'https://svc.example.com', issuers: ['https://idp.example.com'], scopes: SCOPES });
 * @see RFC 9728, section 2
 */
export function protectedResourceMetadata(options: ProtectedResourceOptions): ProtectedResourceMetadata {
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
