/** The ways to authenticate that discovery advertises, besides API keys. An absent one is not advertised. */
export interface AdvertisedAuthentication {
  /** Access tokens of users, by OpenID Connect. */
  readonly oidc?: TokenIssuers & {
    /** The longest lifetime of a token in seconds: `maxLifetimeSeconds` of `bearerLane`. */
    readonly lifetime: TokenLifetime;
  };
  /** Access tokens of machines, by OAuth 2.0 client credentials. */
  readonly oauth2?: TokenIssuers & {
    /** Accepted signature algorithms, such as `ES256`. */
    readonly algorithms: readonly string[];
    /** The longest lifetime of a token in seconds: `maxLifetimeSeconds` of `bearerLane`. */
    readonly lifetime: TokenLifetime;
  };
  /** Opaque tokens, which their issuer is asked about (RFC 7662). */
  readonly introspection?: {
    /** URL of the issuer. */
    readonly issuer: string;
    /** The `aud` that an answer must contain. */
    readonly audience: string;
    /** Whether people, machines or both have such tokens. Default: both. */
    readonly profiles?: readonly ('user' | 'client')[];
    /** The longest use of an answer, in seconds: a revoked token is accepted for as long. */
    readonly maxAgeSeconds: number;
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
    /**
     * One sentence about the mapping of a subject to a principal. The record of major 1 has it. Lanes of major 2 are
     * closed, so `createHost` publishes it there in the extension `<org>.authentication`.
     */
    readonly subjectMapping: string;
  };
  /**
   * Client certificates beside another credential: the profile `svc-auth-mtls`. `required`: requests without one are
   * rejected. `subjectMapping` is one sentence about the mapping of a certificate to a tenant.
   */
  readonly mtls?: { readonly required: boolean; readonly subjectMapping: string };
  /** Tokens that are bound to a key (RFC 9449). `required`: others are rejected. */
  readonly dpop?: { readonly algorithms: readonly string[]; readonly required: boolean };
  /** Rotation of API keys. A former key stays valid for at least this many seconds. */
  readonly rotation?: { readonly minGraceSeconds: number };
}

/** Issuers whose tokens the host accepts, and the audience that it demands. */
export interface TokenIssuers {
  /** URLs of the issuers. */
  readonly issuers: readonly string[];
  /** The `aud` that a token must contain. */
  readonly audience: string;
  /** The audience of each issuer that has another one, by the URL of the issuer. Default: none has. */
  readonly audiences?: Readonly<Record<string, string>>;
}

/** Maximum lifetime of a token in seconds. A token cannot be revoked earlier. */
type TokenLifetime = number;

/** Returns every issuer of which a client can get a token, each once. */
export function tokenIssuers({ oidc, oauth2, introspection }: AdvertisedAuthentication): readonly string[] {
  const opaque = introspection === undefined ? [] : [introspection.issuer];
  return [...new Set([...(oidc?.issuers ?? []), ...(oauth2?.issuers ?? []), ...opaque])];
}
