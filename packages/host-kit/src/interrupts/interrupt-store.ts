import type { Transaction } from '../transaction.ts';
import type { Interrupt } from './interrupt.ts';

/**
 * What runs ask. Reads belong into the transaction that found the run, which is what permits them: a question is reached through
 * its run alone.
 */
export interface InterruptStore {
  insert(interrupt: Interrupt, transaction: Transaction): Promise<void>;
  /** Writes what changes of it: status, due time, votes and resolution. */
  update(interrupt: Interrupt, transaction: Transaction): Promise<void>;
  byId(runId: string, interruptId: string, transaction: Transaction): Promise<Interrupt | undefined>;
  byKey(runId: string, nodeId: string, key: string, transaction: Transaction): Promise<Interrupt | undefined>;
  /** The newest of a node. */
  ofNode(runId: string, nodeId: string, transaction: Transaction): Promise<Interrupt | undefined>;
  /** Those of a run that nobody has answered. */
  pendingOf(runId: string, transaction: Transaction): Promise<readonly Interrupt[]>;
  /** Up to `limit` pending ones that are due, the longest due first. */
  due(now: number, limit: number): Promise<readonly Interrupt[]>;
}
