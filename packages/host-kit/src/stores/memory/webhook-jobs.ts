import type { Transaction } from '../../ports/transaction.ts';
import { LONGEST_STEP_WAIT_MS, type WebhookJob, type WebhookJobStore } from '../../ports/webhook-jobs.ts';
import { type Journal, put } from './journal.ts';

export interface MemoryWebhookJobs extends WebhookJobStore {
  /** Deletes the jobs of a subscription, in the transaction that removes it. */
  drop(webhookId: string, transaction: Transaction): void;
}

/** @param isThere returns false for a subscription that does not exist, whose jobs are not stored */
export function webhookJobStore(journal: Journal, isThere: (webhookId: string) => boolean): MemoryWebhookJobs {
  const jobs = new Map<string, WebhookJob>();
  const isOpen = ({ state }: WebhookJob) => state === 'running' || state === 'paused';
  const ofSubscription = (webhookId: string) => [...jobs.values()].filter((job) => job.webhookId === webhookId);

  return {
    async insert(job, transaction) {
      if (isThere(job.webhookId)) put(journal, transaction, jobs, job.jobId, job);
    },
    read: async (webhookId, jobId) => ofSubscription(webhookId).find((job) => job.jobId === jobId),
    async list(webhookId, { before, limit }) {
      const older = ofSubscription(webhookId).filter(({ jobId }) => before === undefined || jobId < before);
      return older.sort((a, b) => (a.jobId < b.jobId ? 1 : -1)).slice(0, limit);
    },
    countOpen: async (webhookId) => ofSubscription(webhookId).filter(isOpen).length,
    async due(now, limit) {
      const due = [...jobs.values()].filter(
        ({ state, nextStepAt }) =>
          state === 'running' && (nextStepAt <= now || nextStepAt > now + LONGEST_STEP_WAIT_MS),
      );
      return due.sort((a, b) => a.nextStepAt - b.nextStepAt).slice(0, limit);
    },
    async change(jobId, change, transaction) {
      const job = jobs.get(jobId);
      const changed = job && change(job);
      if (changed !== undefined) put(journal, transaction, jobs, jobId, changed);
      return changed;
    },
    sweep: (before, limit) =>
      journal.transaction(async (transaction) => {
        const ended = [...jobs.values()].filter((job) => !isOpen(job) && job.updatedAt < before).slice(0, limit);
        for (const { jobId } of ended) put(journal, transaction, jobs, jobId, undefined);
        return ended.length;
      }),
    drop(webhookId, transaction) {
      for (const { jobId } of ofSubscription(webhookId)) put(journal, transaction, jobs, jobId, undefined);
    },
  };
}
