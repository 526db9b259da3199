import type { Peer } from '@svc/auth';
import { discoveryDocuments } from './discovery/documents.ts';
import { type HealthReport, health } from './health/health.ts';
import { assembleDelivery } from './host/delivery.ts';
import { discoveryInput } from './host/discovery-input.ts';
import { assembleExecution } from './host/execution.ts';
import { lifecycle } from './host/lifecycle.ts';
import { hostMounts } from './host/mounts.ts';
import { periodicTasks } from './host/periodic-tasks.ts';
import { requests } from './host/requests.ts';
import { routeTable } from './host/route-table.ts';
import { servicesOf } from './host/services.ts';
import { startReminder } from './host/start-reminder.ts';
import { storeWatch } from './host/store-watch.ts';
import { assembleTriggers } from './host/triggers.ts';
import { unknownScopes } from './host/unknown-scopes.ts';
import { logUnreadable } from './host/unreadable-log.ts';
import { callerWatch } from './host/watch-callers.ts';
import { type Answer, responseOf } from './http/answer.ts';
import type { RequestFault } from './http/request-fault.ts';
import { interruptTokens } from './interrupts/token.ts';
import type { HostOptions } from './options.ts';
import type { EventLog } from './runs/event-log.ts';
import { readerLimiter } from './streams/reader-limits.ts';
import type { PushFormat } from './webhooks/push-format.ts';

/** A host of workflow runs. `createHost` assembles it; `start` starts it. */
export interface Host {
  /**
   * Answers one request.
   *
   * @param peer the address and the certificate of the client; limits by address and mutual TLS need it
   */
  readonly fetch: (request: Request, peer?: Peer) => Promise<Response>;
  /**
   * Answers one request with plain data, for adapters that need no `Response`.
   *
   * @param fault a fault of the framing of the request, for which it is refused
   */
  readonly answer: (request: Request, peer?: Peer, fault?: RequestFault) => Promise<Answer>;
  /** Appends events to the logs of runs. */
  readonly events: EventLog;
  /**
   * Takes up the runs that an earlier process left unfinished, and starts to deliver. A stored run that cannot be read is
   * logged as `run.unreadable` and passed over, and so is a subscription (`subscription.unreadable`) and an API key
   * (`api-key.unreadable`).
   *
   * @throws {TypeError} when the store holds records sealed with a key that `secretKey` does not have
   * @throws {Error} when the files of the store are damaged
   */
  start(): Promise<void>;
  /**
   * Reports whether the host is ready for requests, with each check. Cheap: the store is asked at most once a second.
   */
  health(): Promise<HealthReport>;
  /**
   * Resolves with the cause when the store can write nothing more until the process is started again: its database file
   * was deleted, replaced or found damaged, or the disk failed to flush a commit. From then on `livez` and `readyz`
   * answer 503. End the process with an exit code other than 0, so that its supervisor starts it again. Never rejects.
   */
  readonly lost: Promise<Error>;
  /** Announces the stop: from now on `readyz` answers 503. Everything else continues. */
  drain(): void;
  /** The number of open event streams and waiting polls. */
  readers(): number;
  /**
   * Ends every event stream, answers every waiting poll, and accepts no new ones. Call it before the listener closes
   * its connections. `stop` calls it, too.
   */
  closeStreams(): void;
  /**
   * Stops the host: waits at most `graceMs` for executions and attempts to end, releases the rest for the next start,
   * and closes the store.
   *
   * @param graceMs default 10 000
   */
  stop(graceMs?: number): Promise<void>;
}

/**
 * Assembles a host from its parts.
 *
 * @throws {TypeError} when an option is unknown, missing or of a wrong form, or the options contradict the interface or each other: an operation that is served under one of two advertised
 * majors, a preferred version that is not served, a secret key of the wrong length
 * @example
 * const host = createHost({ store: sqliteStore('svc.db'), authenticate: [lane], engine, secretKey, hasWorkspace });
 * await host.start();
 * createServer(toNodeListener(host)).listen(8787, '127.0.0.1');
 */
export function createHost(options: HostOptions): Host {
  const services = servicesOf(options);
  const { store, clock, recordAudit, webhooks, streams, formerSecretKeys } = services;

  // Mounts bring the formats, and need the parts that use them. So the map is filled after both are made.
  const formats = new Map<string, PushFormat>();
  const deliveries = assembleDelivery(services, formats);
  const execution = assembleExecution(services, deliveries.dispatcher, formats);
  const { events, executor } = execution;
  const triggers = assembleTriggers(services, execution);

  const callers = callerWatch(services);
  const watch = storeWatch(options.store, services.log);
  logUnreadable(options.store, services.log);
  const parts = {
    // Made after the mounts, which they list.
    documents: () => documents,
    deliveries,
    execution,
    triggers,
    onOutcome: callers.onOutcome,
    runServices: { store, clock, events, executor, recordAudit, standingOf: services.standingOf },
    readers: readerLimiter(streams.readerLimits, clock),
    tokens: interruptTokens([services.secretKey, ...formerSecretKeys]),
    health: health({
      phase: () => life.phase(),
      // The store of the options: a health check must not count as a measured transaction.
      store: options.store,
      isLost: watch.isLost,
      dispatcher: deliveries.dispatcher,
      attemptTimeoutMs: webhooks.attemptTimeoutMs,
      clock,
    }),
  };
  const mounts = hostMounts(services, parts);
  for (const { pushFormats = [] } of mounts) for (const [name, format] of pushFormats) formats.set(name, format);

  const documents = discoveryDocuments(discoveryInput(services, mounts), services.served);
  const routes = routeTable(services, parts);
  const answer = requests(services, {
    routes,
    mounts,
    health: parts.health,
    isLost: watch.isLost,
    onAnswered: startReminder(() => life.phase(), services.log),
    onOutcome: callers.onOutcome,
  });
  const tasks = periodicTasks(services, {
    runServices: parts.runServices,
    dispatcher: deliveries.dispatcher,
    hasPushes: formats.size > 0,
    triggers,
    families: execution.families,
  });
  const warnings = unknownScopes(services, mounts);
  const life = lifecycle(services, { ...parts, periodicTasks: tasks, storeWatch: watch, callers, warnings });

  return {
    fetch: async (request, peer) => responseOf(await answer(request, peer)),
    answer,
    events,
    start: life.start,
    health: parts.health,
    lost: watch.lost,
    drain: life.drain,
    readers: parts.readers.taken,
    closeStreams: parts.readers.close,
    stop: life.stop,
  };
}
