import { ATTEMPTS_KEPT, type AttemptLog, type AttemptRecord } from '../../ports/attempts.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { type Journal, put } from './journal.ts';

export interface MemoryAttempts extends AttemptLog {
  /** Deletes the attempts of a subscription, in the transaction that removes it. */
  drop(webhookId: string, transaction: Transaction): void;
}

/** @param isThere returns false for a removed subscription, whose attempts are not stored */
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
