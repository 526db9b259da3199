import type { WebhookJob } from '../../ports/webhook-jobs.ts';
import { integer, type Row, text } from './row.ts';

/** Returns the values of `state`, `next_step_at`, `updated_at` and `document`. */
export function jobColumns(job: WebhookJob) {
  const { jobId: _, webhookId: _owner, state, nextStepAt, updatedAt, ...document } = job;
  return [state, Math.ceil(nextStepAt), updatedAt, JSON.stringify(document)] as const;
}

export function jobOf(row: Row): WebhookJob {
  return {
    ...JSON.parse(text(row, 'document')),
    jobId: text(row, 'job_id'),
    webhookId: text(row, 'webhook_id'),
    state: text(row, 'state'),
    nextStepAt: integer(row, 'next_step_at'),
    updatedAt: integer(row, 'updated_at'),
  };
}
