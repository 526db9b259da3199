import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { WebhookJob } from '../ports/webhook-jobs.ts';
import { idIn } from './owned-delivery.ts';

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
