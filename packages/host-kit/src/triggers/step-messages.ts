import { describeError } from '../ports/log.ts';
import type { TriggerMessage } from '../ports/triggers.ts';
import { attemptStart, type StartOptions, type StoreMessage } from './start.ts';

/**
 * Makes a periodic task that attempts the waiting messages that are due. Hosts that share a store may attempt the same
 * message: the transaction of one of them changes it, and that of the others starts no run.
 */
export function stepMessages(options: StartOptions): (signal: AbortSignal) => Promise<void> {
  const { store, storeClock, log } = options;

  return async (signal) => {
    for (let rounds = 0; rounds < MOST_ROUNDS && !signal.aborted; rounds++) {
      const due = await store.triggers.due(await storeClock.read(), AT_ONCE);
      let isStuck = false;
      for (const message of due) {
        if (signal.aborted) return;
        await attemptWaiting(options, message).catch(async (error: unknown) => {
          const { triggerId, deliveryId } = message;
          log({ level: 'error', event: 'trigger.step-failed', triggerId, deliveryId, ...describeError(error) });
          await postpone(message).catch(() => {
            isStuck = true;
          });
        });
      }
      // A store that fails is tried again by the next round of the task.
      if (due.length < AT_ONCE || isStuck) return;
    }
  };

  /** Without it, messages that fail in each round would keep those behind them from their turn. */
  async function postpone(message: TriggerMessage): Promise<void> {
    const nextAttemptAt = storeClock.now() + POSTPONED_MS;
    await store.transaction((transaction) =>
      store.triggers.settle(message, { ...message, nextAttemptAt }, transaction),
    );
  }
}

/** Makes one attempt to start the run of a stored message, unless its trigger is paused or gone. @throws {Error} as `attemptStart` */
export async function attemptWaiting(options: StartOptions, message: TriggerMessage): Promise<void> {
  const { store } = options;
  const trigger = await store.triggers.read(message.triggerId);
  if (trigger === undefined || trigger.state === 'paused') return;
  const settle: StoreMessage = async (after, transaction) =>
    (await store.triggers.settle(message, after, transaction)) ? undefined : 'lost';
  const after = await attemptStart(options, trigger, message, settle);
  if (after !== undefined) options.counted(trigger.source, after.outcome);
}

const AT_ONCE = 100;
const MOST_ROUNDS = 100;
const POSTPONED_MS = 30_000;

/** Makes a periodic task that deletes expired messages, and those of removed triggers. */
export function forgetMessages({
  store,
  storeClock,
}: Pick<StartOptions, 'store' | 'storeClock'>): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    for (let swept = STEP; swept === STEP && !signal.aborted; ) {
      swept = await store.triggers.sweep(await storeClock.read(), STEP);
    }
  };
}

const STEP = 500;
