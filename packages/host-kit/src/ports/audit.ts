import type { AuditFact, AuditReader, Checkpoint } from '@svc/auth/audit';
import type { Transaction } from './transaction.ts';

/** The audit log: it is appended to, sealed and read, and nothing in it is ever changed. */
export interface AuditStore extends AuditReader {
  /** Puts facts at the end of the chain, as part of what they record. */
  append(facts: readonly AuditFact[], transaction: Transaction): Promise<void>;
  /** The hashes of the first entries that no checkpoint covers, in their order. */
  unsealed(limit: number): Promise<readonly { readonly atSequence: number; readonly hash: string }[]>;
  /**
   * Keeps a checkpoint, unless the last one that is there is not at `after`: then another host has sealed meanwhile, and what was
   * signed is not what this one would cover.
   */
  seal(checkpoint: Checkpoint, after: number, transaction: Transaction): Promise<void>;
}
