import { mintId } from '@svc/versioning/ids';
import { factAboutTrigger } from '../../audit/fact.ts';
import { describeError } from '../../ports/log.ts';
import type { Occurrence, Trigger, TriggerMessage, TriggerOf } from '../../ports/triggers.ts';
import { type StartOptions, waitingMessage } from '../start.ts';
import { attemptWaiting } from '../step-messages.ts';
import { type CalendarOf, loadCalendar } from './calendar.ts';
import { occurrenceKey, scheduleDocument } from './message.ts';
import { type Plan, planned } from './occurrences.ts';

/**
 * Makes a periodic task that fires the schedules that are due by the clock of the store. Hosts that share a store may find the same
 * occurrence: the transaction that stores its message also moves the schedule to its next one, from the occurrence that this host
 * has read. So one transaction of all hosts succeeds, and after a crash the occurrence is due again or its message waits.
 */
export function fireSchedules(options: StartOptions): (signal: AbortSignal) => Promise<void> {
  const { store, storeClock, log } = options;

  return async (signal) => {
    for (let rounds = 0; rounds < MOST_ROUNDS && !signal.aborted; rounds++) {
      const due = await store.triggers.dueSchedules(await storeClock.read(), AT_ONCE);
      if (due.length === 0) return;
      const calendarOf = await loadCalendar();
      let isStuck = false;
      for (const trigger of due) {
        if (signal.aborted) return;
        if (!isDue(trigger)) continue;
        await fire(options, trigger, calendarOf).catch(async (error: unknown) => {
          const { triggerId } = trigger;
          log({ level: 'error', event: 'trigger.schedule-failed', triggerId, ...describeError(error) });
          await postpone(options, trigger).catch(() => {
            isStuck = true;
          });
        });
      }
      if (isStuck) return;
    }
  };
}

const AT_ONCE = 100;
const MOST_ROUNDS = 100;
const POSTPONED_MS = 30_000;

type Due = TriggerOf<'schedule'> & { readonly next: Occurrence };

function isDue(trigger: Trigger): trigger is Due {
  return trigger.source === 'schedule' && trigger.next !== undefined;
}

async function fire(options: StartOptions, trigger: Due, calendarOf: CalendarOf): Promise<void> {
  const { store, storeClock, limits } = options;
  const plan = planned(trigger, calendarOf(trigger.schedule), trigger.next, storeClock.now());
  const room = limits.maxWaiting - (await store.triggers.countWaiting(trigger.triggerId, limits.maxWaiting));
  const messages = (room > 0 ? plan.fire.slice(-room) : []).map((at) => messageAt(options, trigger, at));
  if (!(await advance(options, trigger, plan, messages))) return;
  if (plan.skips || messages.length < plan.fire.length) options.counted('schedule', 'skipped');
  for (const message of messages) await attemptWaiting(options, message);
}

/** Moves the schedule on, and stores the messages. Returns false when another host was faster or the trigger was changed. */
function advance(
  { store, clock, recordAudit }: StartOptions,
  trigger: Due,
  plan: Plan,
  messages: readonly TriggerMessage[],
): Promise<boolean> {
  const { triggerId } = trigger;
  return store.transaction(async (transaction) => {
    const moved = await store.triggers.change(triggerId, (found) => movedOn(found, trigger, plan.next), transaction);
    if (moved === undefined) return false;
    for (const message of messages) await store.triggers.take(message, transaction);
    if (plan.skips || messages.length < plan.fire.length) {
      const details = {
        cause: plan.skips ? 'missed' : 'waiting',
        from: new Date(trigger.next.scheduledAt).toISOString(),
      };
      const fact = factAboutTrigger(trigger, { action: 'trigger.skip', at: clock.now(), details });
      await recordAudit(fact, transaction);
    }
    return true;
  });
}

/** Undefined when it is no longer as this host has read it. */
function movedOn(found: Trigger, read: Due, next: Occurrence | undefined): Trigger | undefined {
  if (found.source !== 'schedule' || found.state !== 'active') return undefined;
  const { next: current, ...kept } = found;
  if (current?.scheduledAt !== read.next.scheduledAt || current.fireAt !== read.next.fireAt) return undefined;
  return { ...kept, ...(next !== undefined && { next }) };
}

function messageAt(options: StartOptions, { triggerId }: Due, scheduledAt: number): TriggerMessage {
  const { clock, storeClock, random, limits } = options;
  const deliveryId = mintId('dlv', storeClock.now, random);
  const now = storeClock.now();
  return waitingMessage(options, {
    ...{ triggerId, deliveryId, dedupKey: occurrenceKey(triggerId, scheduledAt) },
    ...{ outcome: 'retrying', attempts: 0, receivedAt: now, updatedAt: now },
    expiresAt: now + limits.deadLetterMs,
    document: scheduleDocument(scheduledAt, { deliveryId, receivedAt: clock.now() }),
  });
}

/** Without it, schedules that fail in each round would keep those behind them from their turn. The occurrence stays the same. */
async function postpone({ store, storeClock }: StartOptions, trigger: Due): Promise<void> {
  const { scheduledAt } = trigger.next;
  const next = { scheduledAt, fireAt: storeClock.now() + POSTPONED_MS };
  await store.transaction((transaction) =>
    store.triggers.change(trigger.triggerId, (found) => movedOn(found, trigger, next), transaction),
  );
}
