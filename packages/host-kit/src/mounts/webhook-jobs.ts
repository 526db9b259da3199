import { z } from 'zod';
import { invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountCall, type MountRoute, mountRoute, parse, type Reply } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import { type AskedJob, type JobOptions, jobOf, moveJob, type SubscriptionJob, startJob } from '../webhooks/jobs.ts';
import { managed } from '../webhooks/operator-actions.ts';
import { countMatching, storedFilter } from '../webhooks/redrive-matching.ts';
import type { SubscribableEvents } from '../webhooks/subscribable.ts';
import {
  countedLetters,
  jobView,
  redriveMatching,
  replayRequest,
  transferRequest,
  webhookJob,
  webhookJobs,
} from '../wire/webhook-job.ts';
import {
  ADDRESS_ERRORS,
  ADDRESSED,
  bareId,
  idIn,
  LIMIT,
  ok,
  PRIVATE,
  pageIdIn,
  pageLimit,
  STATE_ERRORS,
} from './owned-webhook.ts';

export interface WebhookJobRoutesOptions extends JobOptions {
  /** The event types that can be subscribed to. */
  readonly subscribable: SubscribableEvents;
}

/**
 * The routes under `/host/<org>/webhooks/{webhookId}` that start long operations on its deliveries, show them, and
 * pause, resume and cancel them.
 */
export function webhookJobRoutes(options: WebhookJobRoutesOptions): MountRoute[] {
  return [...startingRoutes(options), ...jobRoutes(options)];
}

const scope = 'webhooks:manage';

function startingRoutes(options: WebhookJobRoutesOptions): MountRoute[] {
  const { store } = options;
  return [
    mountRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/dead-letters/redrive-matching',
      scope,
      takesBody: true,
      takesKey: true,
      describes: {
        operationId: 'redriveMatching',
        summary: 'Redrive matching dead letters',
        description: 'Starts a job that queues the dead letters that match. `dryRun` counts them instead.',
        path: ADDRESSED,
        body: redriveMatching,
        example: { types: ['run.failed'], dryRun: true },
        answers: {
          200: json('The number of matching dead letters, for a dry run.', countedLetters, PRIVATE),
          202: json('The job.', webhookJob, PRIVATE),
        },
        errors: STATE_ERRORS,
      },
      async serve(call) {
        const { rate, dryRun, ...filter } = parse(redriveMatching, call.json);
        if (!dryRun) return await started(call, { kind: 'redrive', request: storedFilter(filter), rate });
        const { webhookId } = await managed(store, call.principal, idIn(call));
        return ok(await countMatching(options, webhookId, filter));
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/replay',
      scope,
      takesBody: true,
      takesKey: true,
      describes: {
        operationId: 'replayEvents',
        summary: 'Replay events',
        description: 'Starts a job that queues every event since a time that the subscription receives.',
        path: ADDRESSED,
        body: replayRequest,
        example: { since: '2026-01-31T12:00:00Z' },
        answers: { 202: json('The job.', webhookJob, PRIVATE) },
        errors: STATE_ERRORS,
      },
      async serve(call) {
        const { since, until, types, rate } = parse(replayRequest, call.json);
        const subscription = await managed(store, call.principal, idIn(call));
        const request = {
          since,
          ...(until !== undefined && { until }),
          ...(types !== undefined && { types: types.map((type) => subscribed(subscription, type)) }),
        };
        return await started(call, { kind: 'replay', request, rate });
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/dead-letters/transfer',
      scope,
      takesBody: true,
      takesKey: true,
      describes: {
        operationId: 'transferDeadLetters',
        summary: 'Transfer dead letters',
        description: 'Starts a job that moves the dead letters of a failed subscription to the one that replaces it.',
        path: ADDRESSED,
        body: transferRequest,
        example: { to: 'whk_01kahx3zr8p6t5v4w3x2y1z0ab' },
        answers: { 202: json('The job.', webhookJob, PRIVATE) },
        errors: STATE_ERRORS,
      },
      async serve(call) {
        const { to, rate } = parse(transferRequest, call.json);
        return await started(call, { kind: 'transfer', request: { to: bareId(to, call) }, rate });
      },
    }),
  ];

  /** Starts a job once under the idempotency key of the request. */
  function started(call: MountCall, asked: AskedJob): Promise<Reply> {
    const viewOf = ({ subscription, job }: SubscriptionJob) => jobView(subscription, job);
    return call.once<JsonObject>(
      async (save) =>
        viewOf(
          await startJob(options, call.principal, idIn(call), asked, (started, transaction) =>
            save(viewOf(started), transaction),
          ),
        ),
      async (view) => ok(view, 202),
    );
  }

  /** The stored name of an event type that the subscription receives. */
  function subscribed({ major, events }: Subscription, name: string): string {
    const named = options.subscribable.named(major, name);
    if ('type' in named && events.includes(named.type)) return named.type;
    throw invalid({ field: 'types', problem: `"${name}" is not an event type that the subscription receives` });
  }
}

function jobRoutes(options: WebhookJobRoutesOptions): MountRoute[] {
  const { store } = options;
  return [
    mountRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}/jobs',
      scope,
      describes: {
        operationId: 'listWebhookJobs',
        summary: 'List jobs',
        description: 'The jobs of a subscription, newest first. A job is deleted a week after its end.',
        path: ADDRESSED,
        query: { limit: LIMIT, after: z.string().optional().describe('The `nextAfter` of the previous page.') },
        answers: { 200: json('A page of jobs.', webhookJobs, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const subscription = await managed(store, call.principal, idIn(call));
        const limit = pageLimit(call.query);
        const before = pageIdIn(call, 'after');
        const found = await store.webhookJobs.list(subscription.webhookId, { before, limit: limit + 1 });
        const page = found.slice(0, limit).map((job) => jobView(subscription, job));
        return ok({ jobs: page, ...(found.length > limit && { nextAfter: page.at(-1)?.jobId }) });
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}/jobs/{jobId}',
      scope,
      describes: {
        operationId: 'readWebhookJob',
        summary: 'Read a job',
        description: 'A job with its progress.',
        path: JOB,
        answers: { 200: json('The job.', webhookJob, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const { subscription, job } = await jobOf(store, call.principal, idIn(call), idIn(call, 'jobId'));
        return ok(jobView(subscription, job));
      },
    }),
    // A repeated pause, resume or cancel changes nothing.
    ...(['pause', 'resume', 'cancel'] as const).map((signal) =>
      mountRoute({
        method: 'POST',
        path: `/webhooks/{webhookId}/jobs/{jobId}/${signal}`,
        scope,
        describes: {
          operationId: `${signal}WebhookJob`,
          summary: SUMMARIES[signal],
          description: 'Safe to repeat. A job that has ended is refused.',
          path: JOB,
          answers: { 200: json('The job.', webhookJob, PRIVATE) },
          errors: STATE_ERRORS,
        },
        async serve(call) {
          const moved = await moveJob(options, call.principal, idIn(call), idIn(call, 'jobId'), signal);
          return ok(jobView(moved.subscription, moved.job));
        },
      }),
    ),
  ];
}

const JOB = {
  ...ADDRESSED,
  jobId: z.string().min(1).max(512).describe('The id of the job, in the form of either major.'),
};

const SUMMARIES = { pause: 'Pause a job', resume: 'Resume a job', cancel: 'Cancel a job' } as const;
