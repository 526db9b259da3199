import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { WebhookJob } from '../ports/webhook-jobs.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { JobStep } from './job-step.ts';
import { isSuccessor } from './jobs.ts';
import { justAfter, redriveStep } from './redrive-matching.ts';
import { type ReplayOptions, replayStep } from './replay-events.ts';
import { isDelivering } from './status.ts';

export interface StepJobsOptions extends Pick<HostPorts, 'clock' | 'log'>, ReplayOptions {
  readonly dispatcher: Pick<Dispatcher, 'wake'>;
}

/**
 * Makes a periodic task that carries out jobs in steps. Each step is one transaction, together with the progress of the
 * job. So a step counts once, when a host dies and another one goes on, too.
 */
export function stepJobs(options: StepJobsOptions): (signal: AbortSignal) => Promise<void> {
  const { store, clock, storeClock, log, dispatcher } = options;

  return async (signal) => {
    for (let steps = 0; steps < MOST_STEPS && !signal.aborted; ) {
      const due = await store.webhookJobs.due(storeClock.now(), JOBS_AT_ONCE);
      if (due.length === 0) break;
      for (const job of due) {
        await step(job);
        steps++;
      }
      dispatcher.wake();
    }
  };

  async function step(job: WebhookJob): Promise<void> {
    try {
      const subscription = await store.subscriptions.read(job.webhookId);
      const work = subscription && (await workOf(job, subscription));
      if (work === undefined) await settle(job, (current) => ({ ...current, state: 'failed' }));
      else await perform(job, work);
    } catch (error) {
      log({ level: 'error', event: 'webhook-job.step-failed', jobId: job.jobId, ...describeError(error) });
      // A job that cannot make its step must not keep the others from theirs.
      await settle(job, (current) => ({ ...current, nextStepAt: storeClock.now() + RETRY_MS }));
    }
  }

  /** Returns undefined when the subscription no longer accepts the deliveries of the job. */
  async function workOf(job: WebhookJob, subscription: Subscription): Promise<JobStep | undefined> {
    const limit = Math.min(LARGEST_STEP, job.rate);
    if (job.kind === 'transfer') return await transferStep(job, subscription, limit);
    if (!isDelivering(subscription.status)) return undefined;
    if (job.kind === 'redrive') return await redriveStep(options, job, limit);
    return await replayStep(options, job, subscription, limit);
  }

  async function transferStep(job: WebhookJob, from: Subscription, limit: number): Promise<JobStep | undefined> {
    const to = await store.subscriptions.read(String(job.request.to));
    if (to === undefined || !isDelivering(to.status) || !isSuccessor(from, to)) return undefined;
    const now = storeClock.now();
    const { webhookId } = from;
    const former = await store.deliveries.deadLetters(webhookId, { before: justAfter(job.createdAt), limit, now });
    const newest = await store.deliveries.deadLetters(webhookId, { limit, now });
    // A clock that was ahead stored these. They precede all others.
    const ahead = newest.filter(({ deadLetteredAt }) => deadLetteredAt > now);
    const found = former.length + ahead.length;
    const request = { from: webhookId, to: to.webhookId, before: job.createdAt, now, limit };
    return {
      lookedAt: Math.min(found, limit),
      place: {},
      isLast: found < limit,
      queue: (transaction) => store.deliveries.transfer(request, transaction),
    };
  }

  function perform(job: WebhookJob, work: JobStep): Promise<unknown> {
    return store.transaction(async (transaction) => {
      const held = await store.webhookJobs.change(
        job.jobId,
        (current) => (isSame(current, job) ? { ...current, version: current.version + 1 } : undefined),
        transaction,
      );
      if (held === undefined) return;
      const queued = await work.queue(transaction);
      const progress = {
        ...held,
        place: work.place,
        lookedAt: job.lookedAt + work.lookedAt,
        queued: job.queued + queued,
        updatedAt: clock.now(),
        nextStepAt: storeClock.now() + (1000 * queued) / job.rate,
        ...(work.isLast && { state: 'completed' as const }),
      };
      await store.webhookJobs.change(job.jobId, () => progress, transaction);
    });
  }

  function settle(job: WebhookJob, change: (job: WebhookJob) => WebhookJob): Promise<unknown> {
    const updatedAt = clock.now();
    return store.transaction((transaction) =>
      store.webhookJobs.change(
        job.jobId,
        (current) =>
          isSame(current, job) ? { ...change(current), version: current.version + 1, updatedAt } : undefined,
        transaction,
      ),
    );
  }
}

/** Makes a periodic task that deletes jobs a week after their end, 500 in a transaction. */
export function forgetEndedJobs({
  store,
  clock,
}: Pick<HostPorts, 'store' | 'clock'>): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    for (let swept = SWEPT; swept === SWEPT && !signal.aborted; ) {
      swept = await store.webhookJobs.sweep(clock.now() - KEPT_MS, SWEPT);
    }
  };
}

/** A job that was stepped, paused or cancelled meanwhile is another one. */
function isSame(current: WebhookJob, job: WebhookJob): boolean {
  return current.state === 'running' && current.version === job.version;
}

const JOBS_AT_ONCE = 10;
const MOST_STEPS = 200;
const LARGEST_STEP = 500;
const RETRY_MS = 10_000;
const KEPT_MS = 7 * 86_400_000;
const SWEPT = 500;
