import type { Peer } from '@svc/auth';
import { type HealthReport, health } from './health/health.ts';
import { assembleDelivery } from './host/delivery.ts';
import { assembleExecution } from './host/execution.ts';
import { lifecycle } from './host/lifecycle.ts';
import { hostMounts } from './host/mounts.ts';
import { periodicTasks } from './host/periodic-tasks.ts';
import { requests } from './host/requests.ts';
import { routeTable } from './host/route-table.ts';
import { servicesOf } from './host/services.ts';
import { type Answer, responseOf } from './http/answer.ts';
import { interruptTokens } from './interrupts/token.ts';
import type { HostOptions } from './options.ts';
import type { EventLog } from './runs/event-log.ts';
import { readerLimiter } from './streams/reader-limits.ts';
import type { PushFormat } from './webhooks/push-format.ts';

/** A host of workflow runs, assembled and not yet started. */
export interface Host {
  /**
   * Answers one request.
   *
   * @param peer who is at the other end, where a platform tells: limits by address and client certificates need it
   */
  readonly fetch: (request: Request, peer?: Peer) => Promise<Response>;
  /** The same as data, for adapters that write it without the detour of a `Response`. */
  readonly answer: (request: Request, peer?: Peer) => Promise<Answer>;
  readonly events: EventLog;
  /** Takes up what an earlier process left unfinished, and begins to deliver. */
  start(): Promise<void>;
  /** Whether it may be sent requests, and by what it is judged. Cheap, however often it is asked. */
  health(): Promise<HealthReport>;
  /** Says that it is about to stop: `readyz` answers 503 from now on, and everything else goes on. */
  drain(): void;
  /** How many streams of events and waiting polls there are. */
  readers(): number;
  /**
   * Ends every stream and answers every poll that waits, and begins no more: for a listener that wants its connections closed before the
   * host is stopped. `stop` does it, too.
   */
  closeStreams(): void;
  /** Lets executions and attempts end for at most `graceMs`, hands the rest back, and closes the store. */
  stop(graceMs?: number): Promise<void>;
}

/**
 * Assembles a host from its parts.
 *
 * @throws {TypeError} when the parts cannot make a host: an operation served under one advertised major alone, a preference
 * for a version that is not served, a secret key of the wrong length
 * @example
 * const host = createHost({ store: sqliteStore('svc.db'), authenticate: [apiKeyLane({ keys, now: Date.now })], engine, … });
 * await host.start();
 * createServer(toNodeListener(host)).listen(8787);
 */
export function createHost(options: HostOptions): Host {
  const services = servicesOf(options);
  const { store, clock, recordAudit, webhooks, streams, formerSecretKeys } = services;

  // Mounts bring them, and mounts need the rooms that use them.
  const formats = new Map<string, PushFormat>();
  const deliveries = assembleDelivery(services, formats);
  const execution = assembleExecution(services, deliveries.dispatcher, formats);
  const { events, executor } = execution;

  const parts = {
    deliveries,
    execution,
    runServices: { store, clock, events, executor, recordAudit },
    readers: readerLimiter(streams.readerLimits, clock),
    tokens: interruptTokens([options.secretKey, ...formerSecretKeys]),
    health: health({
      phase: () => life.phase(),
      // Not the one whose transactions are timed: a judgement is no work.
      store: options.store,
      dispatcher: deliveries.dispatcher,
      attemptTimeoutMs: webhooks.attemptTimeoutMs,
      clock,
    }),
  };
  const mounts = hostMounts(services, parts);
  for (const { pushFormats = [] } of mounts) for (const [name, format] of pushFormats) formats.set(name, format);

  const routes = routeTable(services, { ...parts, mounts });
  const answer = requests(services, { routes, mounts, health: parts.health });
  const tasks = periodicTasks(services, { runServices: parts.runServices, hasPushes: formats.size > 0 });
  const life = lifecycle(services, { ...parts, periodicTasks: tasks });

  return {
    fetch: async (request, peer) => responseOf(await answer(request, peer)),
    answer,
    events,
    start: life.start,
    health: parts.health,
    drain: life.drain,
    readers: parts.readers.taken,
    closeStreams: parts.readers.close,
    stop: life.stop,
  };
}
