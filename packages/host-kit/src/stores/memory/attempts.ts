import { ATTEMPTS_KEPT, type AttemptLog, type AttemptRecord } from '../../ports/attempts.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { type Journal, put } from './journal.ts';

export interface MemoryAttempts extends AttemptLog {
  /** Removes the attempts of a subscription that is being removed. */
  drop(webhookId: string, transaction: Transaction): void;
}

/** @param isThere whether there is such a subscription: of one that has been removed there is nothing to keep */
export function attemptLog(journal: Journal, isThere: (webhookId: string) => boolean): MemoryAttempts {
  const attempts = new Map<string, readonly AttemptRecord[]>();
  return {
    async record(ended, transaction) {
      for (const attempt of ended) {
        const { webhookId } = attempt;
        if (!isThere(webhookId)) continue;
        const newest = [attempt, ...(attempts.get(webhookId) ?? [])].slice(0, ATTEMPTS_KEPT);
        put(journal, transaction, attempts, webhookId, newest);
      }
    },
    async list(webhookId, limit) {
      return (attempts.get(webhookId) ?? []).slice(0, limit);
    },
    drop(webhookId, transaction) {
      put(journal, transaction, attempts, webhookId, undefined);
    },
  };
}
