import type { WorkloadSchemeName } from './workload/identity.ts';

/**
 * Credentials that a lane accepts. A host tells them to its clients: in discovery, in challenges and in the metadata of RFC
 * 9728.
 */
export type AcceptedCredentials =
  | {
      /** API keys. */
      readonly kind: 'api-key';
      /** The issuer in their Subject records: a URI or URN. */
      readonly issuer: string;
    }
  | {
      /** Signed tokens of one issuer. */
      readonly kind: 'signed-token';
      /** URL of the issuer. */
      readonly issuer: string;
      /** The tokens are of people (`user`) or of machines (`client`). */
      readonly profile: 'user' | 'client';
      /** A token must contain one of these in `aud`. At least one. */
      readonly audiences: readonly string[];
      /** Accepted signature algorithms, such as `ES256`. At least one. */
      readonly algorithms: readonly string[];
      /** Longest lifetime of a token in seconds. A token cannot be revoked earlier. */
      readonly maxLifetimeSeconds: number;
      /** Whether every token must be bound to its sender. */
      readonly senderConstrained: boolean;
      /** Algorithms of accepted DPoP proofs. Undefined: no token may be bound to a key. */
      readonly dpopAlgorithms?: readonly string[] | undefined;
    }
  | {
      /** Opaque tokens, which their issuer is asked about (RFC 7662). */
      readonly kind: 'opaque-token';
      /** URL of the issuer. */
      readonly issuer: string;
      /** People (`user`), machines (`client`) or both have such tokens. At least one. */
      readonly profiles: readonly ('user' | 'client')[];
      /** An answer must contain one of these in `aud`. At least one. */
      readonly audiences: readonly string[];
      /** Longest use of an answer in seconds: a revoked token is accepted for as long. */
      readonly maxAgeSeconds: number;
      /** Whether every token must be bound to its sender. */
      readonly senderConstrained: boolean;
      /** Algorithms of accepted DPoP proofs. Undefined: no token may be bound to a key. */
      readonly dpopAlgorithms?: readonly string[] | undefined;
    }
  | {
      /** Identities of workloads. */
      readonly kind: 'workload';
      /** The accepted schemes. At least one. */
      readonly schemes: readonly WorkloadSchemeName[];
      /** The trust roots: URLs of issuers, and `spiffe://` with the name of each trust domain. At least one. */
      readonly trustRoots: readonly string[];
      /** Proofs of possession, one of which is required. Empty: bearer tokens are accepted. */
      readonly senderConstraint: readonly ('dpop' | 'mtls')[];
      /** The longest chain in which one workload acts for another. Undefined: none may. */
      readonly maxChainDepth?: number | undefined;
      /** One sentence about the principal of a workload. */
      readonly subjectMapping: string;
      /** Algorithms of accepted DPoP proofs. Undefined: no token may be bound to a key. */
      readonly dpopAlgorithms?: readonly string[] | undefined;
    };
