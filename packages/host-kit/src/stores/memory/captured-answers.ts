import {
  ANSWERS_KEPT,
  type CapturedAnswer,
  type CapturedAnswers,
  type PagedAnswer,
} from '../../ports/captured-answers.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { type Journal, put } from './journal.ts';

export interface MemoryAnswers extends CapturedAnswers {
  /** Deletes the answers of a subscription, in the transaction that removes it. */
  drop(webhookId: string, transaction: Transaction): void;
}

/** @param isThere returns false for a removed subscription, whose answers are not stored */
export function capturedAnswers(journal: Journal, isThere: (webhookId: string) => boolean): MemoryAnswers {
  const answers = new Map<number, PagedAnswer>();
  let lastPosition = 0;
  const ofSubscription = (webhookId: string) =>
    [...answers.values()].filter((answer) => answer.webhookId === webhookId);
  const remove = (removed: readonly PagedAnswer[], transaction: Transaction) => {
    for (const { position } of removed) put(journal, transaction, answers, position, undefined);
  };

  return {
    async add(added, transaction) {
      for (const answer of added) {
        if (!isThere(answer.webhookId)) continue;
        lastPosition += 1;
        put(journal, transaction, answers, lastPosition, { ...answer, position: lastPosition });
        remove(ofSubscription(answer.webhookId).slice(0, -ANSWERS_KEPT), transaction);
      }
    },
    async list(webhookId, deliveryId) {
      const own = ofSubscription(webhookId).filter((answer) => answer.deliveryId === deliveryId);
      return own.reverse().map(({ position: _, ...answer }): CapturedAnswer => answer);
    },
    sweep: (now, limit) =>
      journal.transaction(async (transaction) => {
        const expired = [...answers.values()].filter(({ expiresAt }) => expiresAt <= now).slice(0, limit);
        remove(expired, transaction);
        return expired.length;
      }),
    async page({ after, limit }) {
      return [...answers.values()].filter(({ position }) => position > after).slice(0, limit);
    },
    async reseal({ position }, sealed, transaction) {
      const stored = answers.get(position);
      if (stored !== undefined) put(journal, transaction, answers, position, { ...stored, sealed });
    },
    drop: (webhookId, transaction) => remove(ofSubscription(webhookId), transaction),
  };
}
