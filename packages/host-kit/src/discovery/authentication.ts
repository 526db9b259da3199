/** What a host takes beside API keys, as discovery tells it. */
export interface AdvertisedAuthentication {
  /** Tokens of people. */
  readonly oidc?: { readonly issuers: readonly string[]; readonly audience: string; readonly lifetime: TokenLifetime };
  /** Tokens that machines get for themselves. */
  readonly oauth2?: {
    readonly issuers: readonly string[];
    readonly audience: string;
    readonly algorithms: readonly string[];
    readonly lifetime: TokenLifetime;
  };
  readonly workloadIdentity?: {
    readonly schemes: readonly ('spiffe' | 'mtls-san' | 'cloud-subject' | 'oauth-client')[];
    /** Empty: bearers are taken. */
    readonly senderConstraint: readonly ('dpop' | 'mtls')[];
    readonly delegation?: { readonly maxChainDepth: number };
    /** Trust roots, as major 2 lists them. */
    readonly issuers: readonly string[];
    /** How a presented subject becomes a principal, in a sentence. */
    readonly subjectMapping: string;
  };
  readonly dpop?: { readonly algorithms: readonly string[]; readonly required: boolean };
  readonly rotation?: { readonly minGraceSeconds: number };
}

/** Seconds that a token may live at the most. It cannot be revoked before. */
type TokenLifetime = number;

/** Every issuer that a client can get a token of. */
export function tokenIssuers({ oidc, oauth2 }: AdvertisedAuthentication): readonly string[] {
  return [...new Set([...(oidc?.issuers ?? []), ...(oauth2?.issuers ?? [])])];
}
