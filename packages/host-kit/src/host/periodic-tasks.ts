import { forgetEnded } from '../access/forget-ended.ts';
import { forgetOldEffects } from '../execution/forget-effects.ts';
import type { RunFamilies } from '../execution/run-families.ts';
import { forgetExpiredReplies } from '../idempotency/forget-replies.ts';
import { timeOutDue } from '../interrupts/time-out.ts';
import { noteExpiries } from '../keys/expiries.ts';
import { forgetCounts } from '../keys/forget-counts.ts';
import { type PeriodicTask, periodicTask } from '../periodic-task.ts';
import { forgetSessions } from '../portal/forget-sessions.ts';
import type { RunServices } from '../runs/change-run.ts';
import { forgetOldUses } from '../versions/forget-uses.ts';
import type { Dispatcher } from '../webhooks/dispatcher.ts';
import { forgetExpiredAnswers } from '../webhooks/forget-answers.ts';
import { forgetExpiredSecrets } from '../webhooks/forget-secrets.ts';
import { forgetOldSeries } from '../webhooks/forget-series.ts';
import { forgetPushes } from '../webhooks/push.ts';
import { forgetEndedJobs, stepJobs } from '../webhooks/step-jobs.ts';
import { renderDelivery } from '../wire/delivery.ts';
import { reportHeldSnapshot } from './held-snapshot.ts';
import { removeOldAuditEntries, removeOldRuns } from './remove-old.ts';
import { announceKey } from './require-keys.ts';
import { reseal } from './reseal.ts';
import type { Services } from './services.ts';
import type { TriggerParts } from './triggers.ts';

export interface PeriodicTaskParts {
  readonly runServices: RunServices;
  readonly dispatcher: Pick<Dispatcher, 'wake'>;
  /** Whether a mount pushes, so that there may be subscriptions to single runs. */
  readonly hasPushes: boolean;
  readonly triggers: Pick<TriggerParts, 'tasks'>;
  readonly families: Pick<RunFamilies, 'sweep'>;
}

/** The periodic tasks of a host, each with the pause between two rounds. */
export function periodicTasks(
  services: Services,
  { runServices, dispatcher, hasPushes, triggers, families }: PeriodicTaskParts,
): readonly PeriodicTask[] {
  const { store, clock, storeClock, log, secrets, webhooks, formerSecretKeys } = services;
  const every = (everyMs: number, name: string, round: (signal: AbortSignal) => Promise<void>): PeriodicTask =>
    periodicTask({ clock, log, name, everyMs, round });
  const keptMs = webhooks.deadLetterRetentionDays * DAY_MS;
  return [
    every(SECOND_MS, 'interrupts.time-out', timeOutDue(runServices)),
    every(5 * SECOND_MS, 'run-families.sweep', families.sweep),
    every(
      SECOND_MS,
      'webhook-jobs.step',
      stepJobs({ store, clock, storeClock, log, dispatcher, render: renderDelivery }),
    ),
    every(HOUR_MS, 'webhook-jobs.forget', forgetEndedJobs({ store, clock })),
    every(MINUTE_MS, 'webhook-secrets.forget', forgetExpiredSecrets(store, clock)),
    every(HOUR_MS, 'effects.forget', forgetOldEffects(store, clock, services.retention.effectDays * DAY_MS)),
    every(10 * MINUTE_MS, 'captured-answers.forget', forgetExpiredAnswers(store, storeClock)),
    every(
      10 * MINUTE_MS,
      'delivery-series.forget',
      forgetOldSeries({ store, clock, storeClock, keptMs: services.retention.deliverySeriesDays * DAY_MS }),
    ),
    every(
      HOUR_MS,
      'version-uses.forget',
      forgetOldUses({ store, clock, storeClock, keptMs: services.retention.versionUseDays * DAY_MS }),
    ),
    every(10 * MINUTE_MS, 'retention.runs', removeOldRuns(services)),
    // A sink may have to read all of its checkpoints.
    every(HOUR_MS, 'retention.audit', removeOldAuditEntries(services)),
    every(MINUTE_MS, 'idempotency.forget', forgetExpiredReplies(store, storeClock)),
    ...(services.apiKeys === undefined ? [] : [every(MINUTE_MS, 'keys.expire', noteExpiries(services))]),
    ...(services.apiKeys === undefined
      ? []
      : [every(HOUR_MS, 'keys.forget-counts', forgetCounts({ store, storeClock }))]),
    ...(services.access === undefined ? [] : [every(HOUR_MS, 'access.forget', forgetEnded(services))]),
    ...(services.portal === undefined
      ? []
      : [every(10 * MINUTE_MS, 'portal-sessions.forget', forgetSessions(services))]),
    ...triggers.tasks,
    ...(hasPushes ? [every(HOUR_MS, 'pushes.forget', forgetPushes(store, clock, keptMs))] : []),
    ...(store.oldestSnapshotMs === undefined
      ? []
      : [every(MINUTE_MS, 'store.snapshot', reportHeldSnapshot(store.oldestSnapshotMs, log))]),
    // Repeated, because another host may have found no record of this key, and removed it from the list.
    ...(store.shared === true
      ? [every(10 * MINUTE_MS, 'secrets.announce', () => announceKey({ store, secrets }))]
      : []),
    // Repeated, because another host may have sealed with a former key since the last round.
    ...(formerSecretKeys.length > 0 ? [every(10 * MINUTE_MS, 'secrets.reseal', reseal({ store, secrets, log }))] : []),
  ];
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
