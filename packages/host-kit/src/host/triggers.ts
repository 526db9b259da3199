import { guardedStream } from '@svc/egress-guard/stream';
import { parseJson } from '../http/body.ts';
import type { Route } from '../http/route.ts';
import type { Mount } from '../mounts/mount.ts';
import { emailPath, triggerEmailRoute } from '../mounts/trigger-email.ts';
import { formPath, triggerFormRoutes } from '../mounts/trigger-form.ts';
import { ingestPath, type TriggerIngestOptions, triggerIngestRoute } from '../mounts/trigger-ingest.ts';
import { triggerMountRoutes } from '../mounts/triggers.ts';
import {
  EMAIL_DEFAULTS,
  type EmailOptions,
  STREAM_READING_DEFAULTS,
  type StreamReadingOptions,
} from '../options/trigger-options.ts';
import { type PeriodicTask, periodicTask } from '../periodic-task.ts';
import { within } from '../ports/clock.ts';
import { describeError } from '../ports/log.ts';
import type { Trigger, TriggerOf } from '../ports/triggers.ts';
import { type TriggerRoutesOptions, triggerRoutes } from '../routes/triggers.ts';
import { type ChangeGrants, changeGrants } from '../triggers/change/grants.ts';
import { readChanges } from '../triggers/change/read.ts';
import { consumeQueues } from '../triggers/queue/consume.ts';
import { queueGrants } from '../triggers/queue/grants.ts';
import { readSources } from '../triggers/reading/read-sources.ts';
import { fireSchedules } from '../triggers/schedule/fire.ts';
import type { StartOptions } from '../triggers/start.ts';
import { forgetMessages, stepMessages } from '../triggers/step-messages.ts';
import type { ReadStreamOptions } from '../triggers/stream/message.ts';
import { readStream } from '../triggers/stream/read.ts';
import type { ExecutionParts } from './execution.ts';
import type { Services } from './services.ts';

/** The parts of a host that take messages and start runs. */
export interface TriggerParts {
  readonly routes: readonly Route[];
  readonly mounts: readonly Mount[];
  readonly tasks: readonly PeriodicTask[];
}

/** Assembles the triggers of a host. A host without the option has none. */
export function assembleTriggers(
  services: Services,
  { executor, tellUnheard }: Pick<ExecutionParts, 'executor' | 'tellUnheard'>,
): TriggerParts {
  const { triggers } = services;
  if (triggers === undefined) return { routes: [], mounts: [], tasks: [] };
  const { store, clock, storeClock, random, log, engine, recordAudit, singleTenant, secrets, access, roles } = services;
  const { hasWorkspace, served, runLimits } = services;
  const ingestUrl = ingestUrlOf(services);
  const standing = { store, clock, access, roles, hasStoredKeys: services.apiKeys !== undefined };
  const starting: StartOptions = {
    ...standing,
    ...{ storeClock, random, log, engine, recordAudit, hasWorkspace, singleTenant, executor, tellUnheard },
    maxRunDurationMs: runLimits.maxRunDurationMs,
    counted: services.observe.messageCounted,
    limits: {
      dedupMs: triggers.dedupHours * HOUR_MS,
      deadLetterMs: triggers.deadLetterRetentionDays * DAY_MS,
      // The body once more: JSON can be spelled longer than it was received, and two inputs may share a part.
      maxInputLength: 2 * triggers.maxBodyBytes,
      maxWaiting: triggers.maxWaiting,
      maxDeadLetters: triggers.maxDeadLetters,
      failAfter: triggers.failAfter,
    },
  };
  const { retryPolicy, maxPerTenant, maxBodyBytes, perClient, perTrigger, queues: connections, email } = triggers;
  const queues = queueGrants(connections);
  const changes = changeGrants(triggers.changes);
  const registering: TriggerRoutesOptions = {
    ...standing,
    streamEgress: triggers.streams && services.egress,
    changes,
    ...{ storeClock, random, recordAudit, secrets, hasWorkspace, served, retryPolicy, maxPerTenant, ingestUrl, queues },
    servesEmail: email !== undefined,
  };
  const content = { maxBytes: maxBodyBytes, parse: (body: Uint8Array) => parseJson(body).json };
  const consuming = { connections, grants: queues, ...content };
  const overlapMs = triggers.secretOverlapSeconds * 1000;
  const operating = {
    ...standing,
    storeClock,
    random,
    recordAudit,
    secrets,
    engine,
    overlapMs,
    ingestUrl,
    limits: starting.limits,
  };
  const ingesting = { ...starting, secrets, maxBodyBytes, perClient, perTrigger };
  return {
    routes: triggerRoutes(registering),
    mounts: [
      { name: 'triggers', path: '/triggers', routes: triggerMountRoutes(operating) },
      {
        name: 'ingest',
        path: '/ingest',
        routes: [triggerIngestRoute(ingesting)],
      },
      { name: 'forms', path: '/forms', routes: triggerFormRoutes({ ...ingesting, hostOrigin: originOf(services) }) },
      ...emailMounts(ingesting, email),
    ],
    tasks: [
      periodicTask({ clock, log, name: 'triggers.step', everyMs: SECOND_MS, round: stepMessages(starting) }),
      periodicTask({ clock, log, name: 'triggers.schedule', everyMs: SECOND_MS, round: fireSchedules(starting) }),
      ...(Object.keys(connections).length === 0 ? [] : [consumeQueues({ ...starting, ...consuming })]),
      ...changeReading(services, changes, { ...starting, ...content }),
      ...(triggers.streams === undefined
        ? []
        : [streamReading(services, triggers.streams, { ...starting, ...content })]),
      periodicTask({ clock, log, name: 'triggers.forget', everyMs: 60 * SECOND_MS, round: forgetMessages(starting) }),
    ],
  };
}

/** A host without a reader has no route for relays. */
function emailMounts(ingesting: TriggerIngestOptions, email: EmailOptions | undefined): readonly Mount[] {
  if (email === undefined) return [];
  const { reader, ...limits } = { ...EMAIL_DEFAULTS, ...email };
  return [
    {
      name: 'email',
      path: '/email',
      routes: [triggerEmailRoute({ ...ingesting, reader, attachmentLimits: limits })],
    },
  ];
}

/** Its stop also closes the tables. */
function changeReading(
  { triggers }: Services,
  grants: ChangeGrants,
  starting: StartOptions & Pick<ReadStreamOptions, 'maxBytes'>,
): readonly PeriodicTask[] {
  const tables = triggers?.changes ?? {};
  if (Object.keys(tables).length === 0) return [];
  const { clock, log } = starting;
  const reading = readSources({
    ...starting,
    ...{ source: 'change', maxAtOnce: MOST_TABLES, maxPerTenant: MOST_TABLES },
    isRead: (trigger): trigger is TriggerOf<'change'> =>
      trigger.source === 'change' && grants.allows(trigger, trigger.change),
    read: (trigger, place, signal) => readChanges({ ...starting, tables }, trigger, place, signal),
  });
  return [
    {
      start: reading.start,
      async stop() {
        await reading.stop();
        const closed = Object.entries(tables).map(([table, { source }]) =>
          source.close().catch((error: unknown) => {
            log({ level: 'warn', event: 'trigger.change-close-failed', table, ...describeError(error) });
          }),
        );
        await within(clock, CLOSE_MS, Promise.all(closed));
      },
    },
  ];
}

/** The triggers that one host reads, of all tenants. They share the connections of their tables. */
const MOST_TABLES = 1000;
const CLOSE_MS = 10_000;

function streamReading(
  { secrets, egress }: Services,
  limits: Partial<StreamReadingOptions>,
  starting: StartOptions & ReadStreamOptions,
): PeriodicTask {
  const { maxAtOnce, maxPerTenant, idleSeconds } = { ...STREAM_READING_DEFAULTS, ...limits };
  const idleMs = idleSeconds * SECOND_MS;
  const open = guardedStream({ policy: egress, idleMs });
  return readSources({
    ...starting,
    ...{ source: 'stream', maxAtOnce, maxPerTenant },
    isRead: (trigger): trigger is TriggerOf<'stream'> => trigger.source === 'stream',
    read: (trigger, place, signal) => readStream({ ...starting, open, secrets, idleMs }, trigger, place, signal),
  });
}

function ingestUrlOf({ baseUrl = '', org }: Services): (trigger: Trigger) => string | undefined {
  const root = `${baseUrl.replace(/\/+$/, '')}/host/${org}`;
  return ({ source, triggerId }) => {
    if (source === 'form') return root + formPath(triggerId);
    if (source === 'email') return root + emailPath(triggerId);
    return source === 'webhook' ? root + ingestPath(triggerId) : undefined;
  };
}

function originOf({ baseUrl = '' }: Services): string {
  return new URL(baseUrl).origin;
}

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
