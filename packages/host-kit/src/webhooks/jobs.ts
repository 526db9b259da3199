import type { Principal } from '@svc/auth';
import type { ChangeServices } from '../audit/change-services.ts';
import { type AuditAction, factAbout } from '../audit/fact.ts';
import { mintInOrder } from '../ids-in-order.ts';
import type { JsonObject } from '../json.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Random } from '../ports/random.ts';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { WebhookJob } from '../ports/webhook-jobs.ts';
import { conflict, managed, missing, requireDelivering } from './operator-actions.ts';
import { isDelivering } from './status.ts';

export interface JobOptions extends ChangeServices {
  readonly storeClock: Pick<StoreClock, 'now'>;
  readonly random: Random;
}

/** A request for a job. */
export interface AskedJob {
  readonly kind: WebhookJob['kind'];
  readonly request: JsonObject;
  /** Deliveries in a second. */
  readonly rate: number;
}

/** A job, and the subscription on whose deliveries it works. */
export interface SubscriptionJob {
  readonly subscription: Subscription;
  readonly job: WebhookJob;
}

/**
 * Starts a job on the deliveries of a subscription. `stepJobs` carries it out.
 *
 * @param save is called in the transaction that stores the job
 * @throws {HostError} as `managed`; `subscription_state_conflict` when the subscription is not in the state that the
 * job needs, or has 5 open jobs already
 */
export async function startJob(
  { store, clock, storeClock, random, recordAudit }: JobOptions,
  principal: Principal,
  webhookId: string,
  { kind, request, rate }: AskedJob,
  save: Save<SubscriptionJob> = saveNothing,
): Promise<SubscriptionJob> {
  const subscription = await managed(store, principal, webhookId);
  if (subscription.push !== undefined) throw conflict('A push of a run has no jobs.');
  if (kind === 'transfer') await requireTransferable(store, principal, subscription, String(request.to));
  else requireDelivering(subscription);
  const now = clock.now();
  const job: WebhookJob = {
    jobId: mintInOrder('job', clock, random),
    webhookId,
    kind,
    request,
    rate,
    state: 'running',
    version: 0,
    lookedAt: 0,
    queued: 0,
    nextStepAt: storeClock.now(),
    createdAt: storeClock.now(),
    updatedAt: now,
  };
  const action: AuditAction = `webhook.${kind}-job`;
  const details = { job: job.jobId, rate };
  const fact = factAbout(principal, { action, target: `${subscription.tenant}/${webhookId}`, at: now, details });
  await store.transaction(async (transaction) => {
    if ((await store.webhookJobs.countOpen(webhookId, transaction)) >= MOST_OPEN) throw conflict(TOO_MANY);
    await store.webhookJobs.insert(job, transaction);
    await recordAudit(fact, transaction);
    await save({ subscription, job }, transaction);
  });
  return { subscription, job };
}

/** A change of a job that its owner may ask for. */
export type JobSignal = 'pause' | 'resume' | 'cancel';

/**
 * Pauses, resumes or cancels a job. A repeated request changes nothing.
 *
 * @throws {HostError} as `managed`; `not_found` for an unknown job; `subscription_state_conflict` when it has ended
 */
export async function moveJob(
  { store, clock, storeClock, recordAudit }: ChangeServices & Pick<JobOptions, 'storeClock'>,
  principal: Principal,
  webhookId: string,
  jobId: string,
  signal: JobSignal,
): Promise<SubscriptionJob> {
  const found = await jobOf(store, principal, webhookId, jobId);
  const target = `${found.subscription.tenant}/${webhookId}`;
  const now = clock.now();
  const details = { job: jobId };
  const fact = factAbout(principal, { action: `webhook.job-${signal}`, target, at: now, details });
  const state = STATE_AFTER[signal];
  await store.transaction(async (transaction) => {
    const moved = await store.webhookJobs.change(
      jobId,
      (job) => {
        if (job.state === state) return undefined;
        if (job.state !== 'running' && job.state !== 'paused') throw conflict(ENDED);
        return { ...job, state, version: job.version + 1, updatedAt: now, nextStepAt: storeClock.now() };
      },
      transaction,
    );
    if (moved !== undefined) await recordAudit(fact, transaction);
  });
  return jobOf(store, principal, webhookId, jobId);
}

/** Finds a job of a subscription that the caller manages. @throws {HostError} as `managed`; `not_found` */
export async function jobOf(
  store: Store,
  principal: Principal,
  webhookId: string,
  jobId: string,
): Promise<SubscriptionJob> {
  const subscription = await managed(store, principal, webhookId);
  const job = await store.webhookJobs.read(webhookId, jobId);
  if (job === undefined) throw missing();
  return { subscription, job };
}

/**
 * Returns whether the dead letters of a failed subscription may move to another one: of the same tenant, mode, major
 * and workspaces, so that their bodies and their readers stay the same.
 */
export function isSuccessor(failed: Subscription, other: Subscription): boolean {
  return (
    other.webhookId !== failed.webhookId &&
    other.push === undefined &&
    other.tenant === failed.tenant &&
    other.mode === failed.mode &&
    other.major === failed.major &&
    scopeText(other) === scopeText(failed)
  );
}

async function requireTransferable(store: Store, principal: Principal, from: Subscription, to: string): Promise<void> {
  if (isDelivering(from.status)) throw conflict('The subscription has not failed. Redrive its dead letters instead.');
  const target = await managed(store, principal, to);
  requireDelivering(target);
  if (!isSuccessor(from, target)) {
    throw conflict('The other subscription differs in mode, major or workspaces. Register one that has the same.');
  }
}

function scopeText({ workspaces }: Subscription): string {
  return JSON.stringify(workspaces === 'all' ? workspaces : workspaces.toSorted());
}

const STATE_AFTER = { pause: 'paused', resume: 'running', cancel: 'cancelled' } as const;
const MOST_OPEN = 5;
const TOO_MANY = `The subscription has ${MOST_OPEN} jobs that have not ended. Wait for one of them, or cancel one.`;
const ENDED = 'The job has ended.';
