/** The ways to authenticate that discovery advertises, besides API keys. An absent one is not advertised. */
export interface AdvertisedAuthentication {
  /** Access tokens of users, by OpenID Connect. */
  readonly oidc?: {
    /** Issuer URLs whose tokens the host accepts. */
    readonly issuers: readonly string[];
    /** The `aud` that a token must contain. */
    readonly audience: string;
    readonly lifetime: TokenLifetime;
  };
  /** Access tokens of machines, by OAuth 2.0 client credentials. */
  readonly oauth2?: {
    /** Issuer URLs whose tokens the host accepts. */
    readonly issuers: readonly string[];
    /** The `aud` that a token must contain. */
    readonly audience: string;
    /** Accepted signature algorithms, such as `ES256`. */
    readonly algorithms: readonly string[];
    readonly lifetime: TokenLifetime;
  };
  /** Identities of workloads. */
  readonly workloadIdentity?: {
    readonly schemes: readonly ('spiffe' | 'mtls-san' | 'cloud-subject' | 'oauth-client')[];
    /** Proofs of possession, one of which is required. Empty: bearer tokens are accepted. */
    readonly senderConstraint: readonly ('dpop' | 'mtls')[];
    /** Present: a workload may act for another one, through a chain of at most this many links. */
    readonly delegation?: { readonly maxChainDepth: number };
    /** Trust roots. Published in major 2 alone. */
    readonly issuers: readonly string[];
    /** One sentence about the mapping of a subject to a principal. Published in major 1 alone. */
    readonly subjectMapping: string;
  };
  /** Tokens that are bound to a key (RFC 9449). `required`: others are rejected. */
  readonly dpop?: { readonly algorithms: readonly string[]; readonly required: boolean };
  /** Rotation of API keys. A former key stays valid for at least this many seconds. */
  readonly rotation?: { readonly minGraceSeconds: number };
}

/** Maximum lifetime of a token in seconds. A token cannot be revoked earlier. */
type TokenLifetime = number;

/** Returns every issuer of which a client can get a token, each once. */
export function tokenIssuers({ oidc, oauth2 }: AdvertisedAuthentication): readonly string[] {
  return [...new Set([...(oidc?.issuers ?? []), ...(oauth2?.issuers ?? [])])];
}
