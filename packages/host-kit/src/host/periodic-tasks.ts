import { forgetExpiredReplies } from '../idempotency/forget-replies.ts';
import { timeOutDue } from '../interrupts/time-out.ts';
import { type PeriodicTask, periodicTask } from '../periodic-task.ts';
import type { RunServices } from '../runs/change-run.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';
import { forgetExpiredSecrets } from '../webhooks/forget-secrets.ts';
import { forgetPushes } from '../webhooks/push.ts';
import { forgetEndedJobs, stepJobs } from '../webhooks/step-jobs.ts';
import { renderDelivery } from '../wire/delivery.ts';
import { reseal } from './reseal.ts';
import type { Services } from './services.ts';

export interface PeriodicTaskParts {
  readonly runServices: RunServices;
  readonly dispatcher: Pick<Dispatcher, 'wake'>;
  /** Whether a mount pushes, so that there may be subscriptions to single runs. */
  readonly hasPushes: boolean;
}

/** The periodic tasks of a host, each with the pause between two rounds. */
export function periodicTasks(
  services: Services,
  { runServices, dispatcher, hasPushes }: PeriodicTaskParts,
): readonly PeriodicTask[] {
  const { store, clock, log, secrets, webhooks, formerSecretKeys } = services;
  const every = (everyMs: number, name: string, round: (signal: AbortSignal) => Promise<void>): PeriodicTask =>
    periodicTask({ clock, log, name, everyMs, round });
  const keptMs = webhooks.deadLetterRetentionDays * DAY_MS;
  return [
    every(SECOND_MS, 'interrupts.time-out', timeOutDue(runServices)),
    every(SECOND_MS, 'webhook-jobs.step', stepJobs({ store, clock, log, dispatcher, render: renderDelivery })),
    every(HOUR_MS, 'webhook-jobs.forget', forgetEndedJobs({ store, clock })),
    every(MINUTE_MS, 'webhook-secrets.forget', forgetExpiredSecrets(store, clock)),
    every(MINUTE_MS, 'idempotency.forget', forgetExpiredReplies(store, clock)),
    ...(hasPushes ? [every(HOUR_MS, 'pushes.forget', forgetPushes(store, clock, keptMs))] : []),
    // Repeated, because another host may have sealed with a former key since the last round.
    ...(formerSecretKeys.length > 0 ? [every(10 * MINUTE_MS, 'secrets.reseal', reseal({ store, secrets, log }))] : []),
  ];
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
