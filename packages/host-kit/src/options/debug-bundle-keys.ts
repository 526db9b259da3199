import type { CheckpointSigner } from '@svc/auth/audit';

/** The keys that sign debug bundles. */
export interface DebugBundleKeys {
  /** Signs bundles: `ed25519Signer` of `@svc/auth/audit`. Use its key for nothing else. */
  readonly signer: CheckpointSigner;
  /** The id of its key: 1 to 128 of `A-Z a-z 0-9 . _ ~ -`. Default: a digest of the key. */
  readonly keyId?: string;
  /** Former keys, for bundles that they have signed. Default: none. */
  readonly formerKeys?: readonly {
    readonly keyId: string;
    /** The 32 bytes of the key in base64url. */
    readonly publicKey: string;
    /** Time from which the key signs nothing, ISO 8601 in UTC. Absent: bundles of every time are accepted. */
    readonly retiredAt?: string;
  }[];
}
