import type { CheckpointSigner } from '@svc/auth/audit';
import type { CheckpointWitness } from '@svc/auth/audit-tree';
import type { CheckpointSink } from '../ports/checkpoint-sink.ts';

/** The audit log of a host. @see Interface: Audit logging */
export interface AuditOptions {
  /** Signs checkpoints. Use its key for nothing else. */
  readonly signer: CheckpointSigner;
  /** Public keys of former signers, for checkpoints that are still stored. Default: none. */
  readonly formerPublicKeys?: readonly string[];
  /** The most entries between two checkpoints. Default 1000. */
  readonly checkpointIntervalEntries?: number;
  /** The most seconds between an entry and the checkpoint that covers it. Default 300. */
  readonly checkpointIntervalSeconds?: number;
  /**
   * Stores a copy of each checkpoint outside of the store, before the checkpoint counts as made. At its start the host
   * compares the log with the last copy. Default: no copies, and a log that was cut is not detected.
   */
  readonly checkpointSink?: CheckpointSink;
  /**
   * Cosigns the head of the log's tree with each checkpoint, before the checkpoint counts as made: `witness` of
   * `@svc/auth/audit-tree`. At its start the host asks whether its log contains what the witness has cosigned. Default: no
   * witness.
   */
  readonly witness?: CheckpointWitness;
  /**
   * The unique name of the log in its signed notes, 1 to 255 visible ASCII characters without `+`. Hosts that share a store
   * have the same one, and it never changes: to a witness, another name is another log. Default: `baseUrl` without its
   * scheme, followed by `/host/<org>/audit`.
   */
  readonly origin?: string;
}

/** The default checkpoint intervals. @see The profile `svc-audit-log-integrity` */
export const AUDIT_DEFAULTS: { readonly entries: number; readonly seconds: number } = { entries: 1000, seconds: 300 };
