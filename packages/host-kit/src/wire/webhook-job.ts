import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { WebhookJob } from '../ports/webhook-jobs.ts';
import { idIn } from './owned-delivery.ts';

/** The schema of a job. */
export const webhookJob: z.ZodType = z
  .object({
    jobId: z.string(),
    webhookId: z.string(),
    kind: z.enum(['redrive', 'replay', 'transfer']),
    state: z.enum(['running', 'paused', 'completed', 'cancelled', 'failed']),
    request: z.record(z.string(), z.unknown()).describe('The selection of the job.'),
    rate: z.int().min(1).describe('The most deliveries that it queues in a second.'),
    lookedAt: z.int().min(0).describe('The dead letters or events that it has looked at.'),
    queued: z.int().min(0).describe('The deliveries that it has queued.'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'WebhookJob' });

/** The schema of a page of jobs. */
export const webhookJobs: z.ZodType = z
  .object({ jobs: z.array(webhookJob), nextAfter: z.string().optional() })
  .meta({ id: 'WebhookJobs' });

/** The schema of the answer to a dry run. */
export const countedLetters: z.ZodType = z
  .object({
    matching: z.int().min(0),
    lookedAt: z.int().min(0),
    isComplete: z.boolean().describe('False: only the newest dead letters were counted.'),
  })
  .meta({ id: 'CountedDeadLetters' });

/** A job for the owner of its subscription. */
export function jobView(subscription: Pick<Subscription, 'tenant' | 'major'>, job: WebhookJob): JsonObject {
  const { jobId, webhookId, kind, state, request, rate, lookedAt, queued, createdAt, updatedAt } = job;
  return {
    jobId: idIn(subscription, jobId),
    webhookId: idIn(subscription, webhookId),
    kind,
    state,
    request: shownRequest(subscription, request),
    rate,
    lookedAt,
    queued,
    createdAt: timeText(createdAt),
    updatedAt: timeText(updatedAt),
  };
}

function shownRequest(subscription: Pick<Subscription, 'tenant' | 'major'>, request: JsonObject): JsonObject {
  const { since, until, to } = request;
  return {
    ...request,
    ...(typeof since === 'number' && { since: timeText(since) }),
    ...(typeof until === 'number' && { until: timeText(until) }),
    ...(typeof to === 'string' && { to: idIn(subscription, to) }),
  };
}

function timeText(time: number): string {
  return new Date(time).toISOString();
}

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));
const types = z.array(z.string().min(1).max(128)).min(1).max(100).optional();
const rate = z.int().min(1).max(10_000).default(100);

/** The body of a redrive of the dead letters that match. */
export const redriveMatching = z.strictObject({
  types,
  since: time.optional(),
  until: time.optional(),
  statuses: z.array(z.int().min(0).max(999)).min(1).max(100).optional(),
  rate,
  dryRun: z.boolean().default(false),
});

/** The body of a replay. */
export const replayRequest = z.strictObject({ since: time, until: time.optional(), types, rate });

/** The body of a transfer. */
export const transferRequest = z.strictObject({ to: z.string().min(1).max(512), rate });
