import { mintId } from '@svc/versioning/ids';
import { sleep } from '../../ports/clock.ts';
import { describeError } from '../../ports/log.ts';
import type { QueueMessage, QueueVerdict } from '../../ports/queues.ts';
import type { TriggerOf } from '../../ports/triggers.ts';
import { takeMessage } from '../receive.ts';
import type { StartOptions } from '../start.ts';
import { type ReadQueueOptions, readQueueMessage } from './message.ts';

export interface ReceiveQueueOptions extends StartOptions, ReadQueueOptions {}

/**
 * Makes the receiver of the messages of a trigger. A message is acknowledged when it is durable: with its run, as one that waits for
 * an attempt, or as a dead letter. It is released, after a pause, while the trigger is not active, while too many messages of it wait,
 * and when a part of the host is away: the queue keeps it.
 */
export function queueReceiver(
  options: ReceiveQueueOptions,
  { triggerId }: Pick<TriggerOf<'queue'>, 'triggerId'>,
  signal: AbortSignal,
): (message: QueueMessage) => Promise<QueueVerdict> {
  const { store, storeClock, random, clock, log, limits } = options;
  // Messages that an earlier process stored may wait.
  let mayWait = true;

  return async (message) => {
    try {
      return (await taken(message)) ? 'acknowledge' : await released();
    } catch (error) {
      log({ level: 'warn', event: 'trigger.queue-message-released', triggerId, ...describeError(error) });
      return released();
    }
  };

  async function taken(message: QueueMessage): Promise<boolean> {
    const trigger = await store.triggers.read(triggerId);
    if (trigger?.source !== 'queue' || trigger.state !== 'active' || !(await hasRoom())) return false;
    const read = readQueueMessage(trigger.queue, message, options);
    const deliveryId = mintId('dlv', storeClock.now, random);
    const { message: stored } = await takeMessage(options, trigger, { ...read, deliveryId });
    if (stored.outcome === 'retrying') mayWait = true;
    return true;
  }

  async function hasRoom(): Promise<boolean> {
    if (!mayWait) return true;
    const waiting = await store.triggers.countWaiting(triggerId, limits.maxWaiting);
    mayWait = waiting > 0;
    return waiting < limits.maxWaiting;
  }

  /** A broker may deliver it again at once, so the pause is here. */
  async function released(): Promise<QueueVerdict> {
    await sleep(clock, RELEASE_MS, signal).catch(() => {});
    return 'release';
  }
}

const RELEASE_MS = 1000;
