import { ABSENT, OTHER_WORKSPACE } from '../../lookup.ts';
import type { SourcePlace } from '../../ports/source-places.ts';
import {
  LONGEST_MESSAGE_WAIT_MS,
  reachesTrigger,
  type Trigger,
  type TriggerMessage,
  type TriggerStore,
} from '../../ports/triggers.ts';
import { type Journal, put } from './journal.ts';
import { sourcePlaceStore } from './source-places.ts';

export function triggerStore(journal: Journal): TriggerStore {
  const triggers = new Map<string, Trigger>();
  const messages = new Map<string, TriggerMessage>();
  const places = new Map<string, SourcePlace>();
  const owned = (tenancy: { tenant: string; mode: string }) =>
    [...triggers.values()].filter(({ tenant, mode }) => tenant === tenancy.tenant && mode === tenancy.mode);
  const lookUp: TriggerStore['find'] = async (tenancy, triggerId) => {
    const value = owned(tenancy).find((trigger) => trigger.triggerId === triggerId);
    if (value === undefined) return ABSENT;
    return reachesTrigger(tenancy, value) ? { kind: 'found', value } : OTHER_WORKSPACE;
  };

  return {
    ...sourcePlaceStore(journal, triggers, places),
    async insert(trigger, transaction) {
      put(journal, transaction, triggers, trigger.triggerId, trigger);
    },
    count: async (tenancy) => owned(tenancy).length,
    find: lookUp,
    list: async (tenancy, { after, limit }) =>
      sorted(
        owned(tenancy).filter((trigger) => reachesTrigger(tenancy, trigger)),
        after,
        limit,
      ),
    read: async (triggerId) => triggers.get(triggerId),
    hold: async (triggerId) => triggers.get(triggerId),
    async change(triggerId, change, transaction) {
      const trigger = triggers.get(triggerId);
      const changed = trigger && change(trigger);
      if (changed !== undefined) put(journal, transaction, triggers, triggerId, changed);
      return changed;
    },
    async remove(tenancy, triggerId, transaction) {
      const found = await lookUp(tenancy, triggerId);
      if (found.kind === 'found') put(journal, transaction, triggers, triggerId, undefined);
      return found;
    },
    page: async ({ after, limit }) => sorted([...triggers.values()], after, limit),
    dueSchedules: async (now, limit) =>
      [...triggers.values()]
        .flatMap((trigger) => (trigger.source === 'schedule' && trigger.state === 'active' ? [trigger] : []))
        .filter(({ next }) => next !== undefined && next.fireAt <= now)
        .sort((a, b) => (a.next?.fireAt ?? 0) - (b.next?.fireAt ?? 0))
        .slice(0, limit),
    activeQueues: async ({ after, limit }) =>
      sorted(
        [...triggers.values()].filter(({ source, state }) => source === 'queue' && state === 'active'),
        after,
        limit,
      ),

    async take(message, transaction) {
      const key = keyOf(message);
      const before = messages.get(key);
      if (before !== undefined && before.expiresAt > message.receivedAt) return before;
      put(journal, transaction, messages, key, message);
      return undefined;
    },
    async settle(before, after, transaction) {
      const current = messages.get(keyOf(before));
      if (current?.deliveryId !== before.deliveryId) return false;
      if (current.outcome !== before.outcome || current.attempts !== before.attempts) return false;
      const { document: _, ...settled } = after;
      const { document = undefined } = after.outcome === 'delivered' ? {} : current;
      put(journal, transaction, messages, keyOf(before), { ...settled, ...(document !== undefined && { document }) });
      return true;
    },
    messages: async (triggerId, { before, limit, outcome, now }) =>
      [...messages.values()]
        .filter((message) => message.triggerId === triggerId && message.expiresAt > now)
        .filter((message) => before === undefined || message.deliveryId < before)
        .filter((message) => outcome === undefined || message.outcome === outcome)
        .sort((a, b) => (a.deliveryId < b.deliveryId ? 1 : -1))
        .slice(0, limit)
        .map(({ document: _, ...message }) => message),
    async countWaiting(triggerId, limit) {
      const own = [...messages.values()].filter((message) => message.triggerId === triggerId);
      return Math.min(own.filter(({ outcome }) => outcome === 'retrying').length, limit);
    },
    async known(triggerId, dedupKey, now) {
      const found = messages.get(JSON.stringify([triggerId, dedupKey]));
      if (found === undefined || found.expiresAt <= now) return undefined;
      const { document: _, ...message } = found;
      return message;
    },
    async trimDeadLetters(triggerId, most, transaction) {
      const letters = [...messages.values()]
        .filter((message) => message.triggerId === triggerId && message.outcome === 'dead-lettered')
        .sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1));
      const old = letters.slice(0, Math.min(Math.max(letters.length - most, 0), MOST_TRIMMED));
      for (const letter of old) put(journal, transaction, messages, keyOf(letter), undefined);
      return old.length;
    },
    async backlog(limit) {
      const of = (wanted: string) => [...messages.values()].filter(({ outcome }) => outcome === wanted).length;
      return { waiting: Math.min(of('retrying'), limit), deadLetters: Math.min(of('dead-lettered'), limit) };
    },
    due: async (now, limit) =>
      [...messages.values()]
        .filter(({ triggerId }) => (triggers.get(triggerId)?.state ?? 'paused') !== 'paused')
        .filter(({ nextAttemptAt: at }) => at !== undefined && (at <= now || at > now + LONGEST_MESSAGE_WAIT_MS))
        .sort((a, b) => (a.nextAttemptAt ?? 0) - (b.nextAttemptAt ?? 0))
        .slice(0, limit),
    sweep: sweeper(journal, triggers, messages, places),
  };
}

/** Deletes expired messages, and the messages and places of removed triggers. */
function sweeper(
  journal: Journal,
  triggers: ReadonlyMap<string, Trigger>,
  messages: Map<string, TriggerMessage>,
  places: Map<string, SourcePlace>,
): TriggerStore['sweep'] {
  return (now, limit) =>
    journal.transaction(async (transaction) => {
      const old = [...messages.values()].filter(
        ({ expiresAt, triggerId }) => expiresAt <= now || !triggers.has(triggerId),
      );
      for (const message of old.slice(0, limit)) put(journal, transaction, messages, keyOf(message), undefined);
      for (const { triggerId } of [...places.values()]) {
        if (!triggers.has(triggerId)) put(journal, transaction, places, triggerId, undefined);
      }
      return Math.min(old.length, limit);
    });
}

/** Returns triggers by ascending id, after an id. */
function sorted(found: readonly Trigger[], after: string, limit: number): readonly Trigger[] {
  return found
    .filter(({ triggerId }) => triggerId > after)
    .sort((a, b) => (a.triggerId < b.triggerId ? -1 : 1))
    .slice(0, limit);
}

const MOST_TRIMMED = 500;

function keyOf({ triggerId, dedupKey }: TriggerMessage): string {
  return JSON.stringify([triggerId, dedupKey]);
}
