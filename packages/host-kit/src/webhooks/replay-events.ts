import { yieldToLoop } from '../ports/clock.ts';
import type { Delivery } from '../ports/deliveries.ts';
import type { RunEvent } from '../ports/events.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Run } from '../ports/runs.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { WebhookJob } from '../ports/webhook-jobs.ts';
import { deliveryIdOf } from './delivery-id.ts';
import type { JobStep } from './job-step.ts';
import { matches } from './match.ts';
import type { Rendered } from './outbox.ts';

export interface ReplayOptions extends Pick<HostPorts, 'store'> {
  readonly storeClock: Pick<StoreClock, 'now'>;
  /** Renders the body of a delivery, in the wire format of a major. */
  readonly render: (run: Run, event: RunEvent, major: Subscription['major']) => Rendered;
}

/** Where the next step begins: after an event of a run, or with the run before another one. */
interface Place {
  /** Runs older than this one are still to be looked at. Undefined: all runs. */
  readonly before: string | undefined;
  /** The run whose log is being read. */
  readonly runId: string | undefined;
  readonly afterSequence: number;
}

/**
 * Reads the next events of the runs that the subscription reaches, the newest run first. Every event has the id of its
 * first delivery. One that waits for an attempt already is not queued twice.
 */
export async function replayStep(
  options: ReplayOptions,
  job: WebhookJob,
  subscription: Subscription,
  limit: number,
): Promise<JobStep> {
  const { store } = options;
  const window = windowOf(job, subscription);
  const deliveries: Delivery[] = [];
  let place = placeOf(job.place);
  let lookedAt = 0;
  let isLast = false;
  let bytes = 0;
  for (let runs = 0; runs < RUNS_PER_STEP && lookedAt < limit && bytes < STEP_BYTES && !isLast; runs++) {
    // Some stores read without a pause, and a step reads many runs: requests are served between them.
    await yieldToLoop();
    const run = await nextRun(options, subscription, place, window);
    if (run.kind === 'end') isLast = true;
    else if (run.kind === 'skip') place = { before: run.before, runId: undefined, afterSequence: -1 };
    else {
      const page = { after: place.afterSequence, limit: Math.min(PAGE, limit - lookedAt), maxBytes: PAGE_BYTES };
      const events = await store.events.list(run.run, page);
      lookedAt += events.length;
      const replayed = events.filter((event) => isReplayed(run.run, event, window)).map(deliveryFrom(run.run));
      bytes += replayed.reduce((sum, { body }) => sum + body.length, 0);
      deliveries.push(...replayed);
      const last = events.at(-1)?.sequence ?? run.run.lastSequence;
      const isRead = last >= run.run.lastSequence;
      place = isRead
        ? { before: run.run.runId, runId: undefined, afterSequence: -1 }
        : { ...place, runId: run.run.runId, afterSequence: last };
    }
  }
  return {
    lookedAt,
    place: { ...place },
    isLast,
    queue: (transaction) => store.deliveries.enqueueAgain(deliveries, transaction),
  };

  function deliveryFrom(run: Run): (event: RunEvent) => Delivery {
    const { webhookId, major } = subscription;
    return (event) => {
      const { runId, eventId, sequence } = event;
      const { eventType, body } = options.render(run, event, major);
      const deliveryId = deliveryIdOf({ ...event, webhookId });
      const dueAt = options.storeClock.now();
      return { deliveryId, webhookId, runId, eventId, sequence, eventType, body, attempts: 0, dueAt };
    };
  }
}

const RUNS_PER_STEP = 200;
const PAGE = 200;
const PAGE_BYTES = 1_048_576;
/** The bodies of one step are in memory together, and are written in one transaction. */
const STEP_BYTES = 4 * PAGE_BYTES;

/** The events that a job replays: their times in ms since the epoch, `until` excluded, and their types in the stored vocabulary. */
interface Window {
  readonly since: number;
  readonly until: number;
  readonly types: ReadonlySet<string>;
}

function windowOf({ request, createdAt }: WebhookJob, { events }: Subscription): Window {
  const { since, until, types } = request;
  const asked = Array.isArray(types) ? events.filter((type) => types.includes(type)) : events;
  return {
    since: typeof since === 'number' ? since : createdAt,
    // Later events are delivered as they happen.
    until: typeof until === 'number' ? Math.min(until, createdAt + 1) : createdAt + 1,
    types: new Set(asked),
  };
}

type NextRun =
  | { readonly kind: 'run'; readonly run: Run }
  | { readonly kind: 'skip'; readonly before: string }
  | { readonly kind: 'end' };

/** Finds the run whose events come next. A run that ended before the window, or began after it, is skipped. */
async function nextRun(
  { store }: ReplayOptions,
  subscription: Subscription,
  { before, runId }: Place,
  { since, until }: Window,
): Promise<NextRun> {
  const { tenant, mode, workspaces } = subscription;
  const tenancy = { tenant, mode, workspaces };
  if (runId !== undefined) {
    const found = await store.runs.read(tenancy, runId);
    return found.kind === 'found' ? { kind: 'run', run: found.value } : { kind: 'skip', before: runId };
  }
  const runs = await store.runs.list(tenancy, { before, limit: LISTED });
  const run = runs.find(
    (each) => (each.completedAt ?? since) >= since && each.createdAt < until && matches(subscription, each),
  );
  if (run !== undefined) return { kind: 'run', run };
  const last = runs.at(-1);
  return last === undefined || runs.length < LISTED ? { kind: 'end' } : { kind: 'skip', before: last.runId };
}

const LISTED = 20;

function isReplayed({ fork }: Run, { type, timestamp, sequence }: RunEvent, { since, until, types }: Window): boolean {
  // The events before the fork point are those of the source, and were delivered as such.
  if (fork !== undefined && sequence < fork.fromSeq) return false;
  return types.has(type) && timestamp >= since && timestamp < until;
}

function placeOf({ before, runId, afterSequence }: NonNullable<WebhookJob['place']> = {}): Place {
  return {
    before: typeof before === 'string' ? before : undefined,
    runId: typeof runId === 'string' ? runId : undefined,
    afterSequence: typeof afterSequence === 'number' ? afterSequence : -1,
  };
}
