import { invalid } from '../errors.ts';
import { type AuthorizedCall, type MountRoute, mountRoute, parse } from '../http/route.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import { type AskedJob, type JobOptions, jobOf, moveJob, startJob } from '../webhooks/jobs.ts';
import { managed } from '../webhooks/operator-actions.ts';
import { countMatching, storedFilter } from '../webhooks/redrive-matching.ts';
import { knownEvent } from '../wire/webhook.ts';
import { jobView, redriveMatching, replayRequest, transferRequest } from '../wire/webhook-job.ts';
import { bareId, idIn, ok, pageLimit } from './owned-webhook.ts';

export interface WebhookJobRoutesOptions extends JobOptions {
  /** The types of the events about subscriptions. */
  readonly operationalEvents: readonly string[];
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
      async serve(call) {
        const { rate, dryRun, ...filter } = parse(redriveMatching, call.json);
        if (!dryRun) return await started(call, { kind: 'redrive', request: storedFilter(filter), rate });
        const { webhookId } = await managed(store, call.principal, idIn(call));
        return ok(await countMatching(store, webhookId, filter));
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/replay',
      scope,
      takesBody: true,
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
      async serve(call) {
        const { to, rate } = parse(transferRequest, call.json);
        return await started(call, { kind: 'transfer', request: { to: bareId(to, call) }, rate });
      },
    }),
  ];

  async function started(call: AuthorizedCall, asked: AskedJob) {
    const { subscription, job } = await startJob(options, call.principal, idIn(call), asked);
    return ok(jobView(subscription, job), 202);
  }

  /** The stored name of an event type that the subscription receives. */
  function subscribed({ major, events }: Subscription, name: string): string {
    const stored = knownEvent(major, name, options.operationalEvents);
    if (stored !== undefined && events.includes(stored)) return stored;
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
      async serve(call) {
        const subscription = await managed(store, call.principal, idIn(call));
        const limit = pageLimit(call.query);
        const after = call.query.get('after');
        const before = after === null ? undefined : bareId(after, call);
        const found = await store.webhookJobs.list(subscription.webhookId, { before, limit: limit + 1 });
        const page = found.slice(0, limit).map((job) => jobView(subscription, job));
        return ok({ jobs: page, ...(found.length > limit && { nextAfter: page.at(-1)?.jobId }) });
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}/jobs/{jobId}',
      scope,
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
        async serve(call) {
          const moved = await moveJob(options, call.principal, idIn(call), idIn(call, 'jobId'), signal);
          return ok(jobView(moved.subscription, moved.job));
        },
      }),
    ),
  ];
}
