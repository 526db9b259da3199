import { type PeriodicTask, periodicTask } from '../../periodic-task.ts';
import { sleep, within } from '../../ports/clock.ts';
import { describeError } from '../../ports/log.ts';
import type { QueueConnection } from '../../ports/queues.ts';
import type { TriggerOf } from '../../ports/triggers.ts';
import { retryDelay } from '../../webhooks/retry.ts';
import { DEFAULT_PREFETCH, type QueueGrants } from './grants.ts';
import { queueReceiver, type ReceiveQueueOptions } from './receive.ts';

export interface ConsumeQueuesOptions extends ReceiveQueueOptions {
  /** By their names. */
  readonly connections: Readonly<Record<string, QueueConnection>>;
  readonly grants: QueueGrants;
}

/** A queue that this host consumes for a trigger. */
interface Consumption {
  readonly triggerId: string;
  readonly stopping: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Makes a periodic task that consumes the queues of active triggers. Each host consumes each of them; the broker delivers a message to
 * one host. Of several active triggers of a queue, the oldest takes its messages. Its stop ends all consumption, and closes the
 * connections.
 */
export function consumeQueues(options: ConsumeQueuesOptions): PeriodicTask {
  const { clock, log, connections } = options;
  const running = new Map<string, Consumption>();
  const told = new Set<string>();
  const rounds = periodicTask({ clock, log, name: 'triggers.queue', everyMs: ROUND_MS, round });

  return {
    start: rounds.start,
    async stop() {
      await rounds.stop();
      for (const { stopping } of running.values()) stopping.abort();
      await within(clock, STOP_MS, Promise.all([...running.values()].map(({ ended }) => ended)));
      await Promise.all(Object.entries(connections).map(([name, connection]) => close(name, connection)));
    },
  };

  async function round(signal: AbortSignal): Promise<void> {
    const wanted = await wantedTriggers(options, told, signal);
    if (signal.aborted) return;
    for (const [key, { triggerId, stopping }] of running) {
      if (wanted.get(key)?.triggerId !== triggerId) stopping.abort();
    }
    // A queue whose former consumption has not ended yet is begun in a later round.
    for (const [key, trigger] of wanted) if (!running.has(key)) begin(key, trigger);
  }

  function begin(key: string, trigger: TriggerOf<'queue'>): void {
    const { triggerId } = trigger;
    const stopping = new AbortController();
    const ended = consumeUntil(options, trigger, stopping.signal).then(() => {
      running.delete(key);
    });
    running.set(key, { triggerId, stopping, ended });
  }

  async function close(name: string, { consumer }: QueueConnection): Promise<void> {
    const closed = consumer.close().catch((error: unknown) => {
      log({ level: 'warn', event: 'trigger.queue-close-failed', connection: name, ...describeError(error) });
    });
    await within(clock, STOP_MS, closed);
  }
}

/** The oldest active trigger of each queue that its tenant may consume. */
async function wantedTriggers(
  { store, log, grants }: ConsumeQueuesOptions,
  told: Set<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TriggerOf<'queue'>>> {
  const wanted = new Map<string, TriggerOf<'queue'>>();
  for (let after = ''; !signal.aborted; ) {
    const page = await store.triggers.activeQueues({ after, limit: PAGE });
    for (const trigger of page) {
      if (trigger.source !== 'queue') continue;
      const { triggerId, queue } = trigger;
      const key = JSON.stringify([queue.connection, queue.name]);
      if (grants.allows(trigger, queue)) {
        if (!wanted.has(key)) wanted.set(key, trigger);
      } else if (!told.has(triggerId)) {
        told.add(triggerId);
        const message = 'No grant of this host names the queue of this trigger for its tenant, so it starts no run.';
        log({ level: 'warn', event: 'trigger.queue-not-granted', triggerId, connection: queue.connection, message });
      }
    }
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) break;
    after = last.triggerId;
  }
  return wanted;
}

/** Consumes the queue of a trigger, and again after each loss of the connection, until the signal aborts. Never rejects. */
async function consumeUntil(
  options: ConsumeQueuesOptions,
  trigger: TriggerOf<'queue'>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, random, maxBytes, connections } = options;
  const { triggerId, queue } = trigger;
  const connection = connections[queue.connection];
  if (connection === undefined) return;
  const { consumer, prefetch = DEFAULT_PREFETCH } = connection;
  const receive = queueReceiver(options, trigger, signal);
  for (let losses = 1; !signal.aborted; losses++) {
    try {
      await consumer.consume({
        ...{ queue: queue.name, prefetch, maxBytes, signal, clock },
        receive(message) {
          losses = 0;
          return receive(message);
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      const facts = { triggerId, connection: queue.connection, losses };
      log({ level: 'warn', event: 'trigger.queue-lost', ...facts, ...describeError(error) });
    }
    await sleep(clock, retryDelay(BACKOFF, Math.max(losses, 1), undefined, random), signal).catch(() => {});
  }
}

const ROUND_MS = 1000;
const PAGE = 200;
/** The longest wait of a stop for deliveries under way, and for a connection to close. */
const STOP_MS = 10_000;
const BACKOFF = { maxAttempts: 1, backoff: 'exponential', delayMs: 500, maxDelayMs: 30_000 } as const;
