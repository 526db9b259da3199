import type { AuditFact, AuditReader, Checkpoint } from '@svc/auth/audit';
import type { Transaction } from './transaction.ts';

/**
 * The audit log: one hash chain of entries for the whole store, and signed checkpoints over parts of it. Entries and
 * checkpoints are only ever added.
 */
export interface AuditStore extends AuditReader {
  /**
   * Adds facts to the end of the chain, in their order, with `nextEntry` of `@svc/auth/audit`. Appends of different
   * transactions wait for each other, because the chain has one end. Call it last in a transaction, so that they wait
   * as briefly as possible.
   */
  append(facts: readonly AuditFact[], transaction: Transaction): Promise<void>;
  /** Returns sequence and hash of up to `limit` entries after the last checkpoint, oldest first. */
  unsealed(limit: number): Promise<readonly { readonly atSequence: number; readonly hash: string }[]>;
  /**
   * Adds a checkpoint if the last one still ends at `after` (0: there is none). Otherwise nothing happens: another host
   * has added a checkpoint meanwhile, and this one would overlap it.
   */
  seal(checkpoint: Checkpoint, after: number, transaction: Transaction): Promise<void>;
}
