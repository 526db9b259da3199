import { mintId } from '@svc/versioning/ids';
import type { JsonObject } from '../json.ts';
import type { Delivery } from '../ports/deliveries.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import { coversScope, type Subscription, type Topic } from '../ports/subscriptions.ts';
import type { Transaction } from '../ports/transaction.ts';
import { deliveryIdOf } from './delivery-id.ts';
import type { OperationalEvent, OperationalEventName } from './operational-event.ts';
import type { Rendered } from './outbox.ts';

/** A change of a subscription that its owner is told. */
export interface Announcement {
  /** The subscription before the change. */
  readonly subject: Subscription;
  readonly name: OperationalEventName;
  /** Further members of the payload. */
  readonly details: JsonObject;
}

/** Writes the deliveries of operational events, in the transaction of the changes. */
export type Announce = (announcements: readonly Announcement[], transaction: Transaction) => Promise<void>;

export interface AnnounceOptions extends Pick<HostPorts, 'store' | 'clock' | 'random'> {
  /** The organization, in front of the names. */
  readonly storeClock: Pick<StoreClock, 'now'>;
  readonly org: string;
  /** Renders the body and the event-type name of a delivery, in the wire format of a major. */
  readonly render: (event: OperationalEvent, major: Subscription['major']) => Rendered;
}

/**
 * Tells the owner of a subscription about its changes: those subscriptions of the same tenant and mode hear of it that
 * name the event type and reach every workspace of the subscription.
 *
 * A subscription hears of itself only what a working receiver can hear: that it has recovered, or that its secret was
 * replaced.
 */
export function announcing({ store, clock, storeClock, random, org, render }: AnnounceOptions): Announce {
  return async (announcements, transaction) => {
    if (announcements.length === 0) return;
    const topics = announcements.map(topicOf);
    const found = await store.subscriptions.listening(topics, transaction);
    for (const [index, announcement] of announcements.entries()) {
      const listeners = (found[index] ?? []).filter((listener) => hears(listener, announcement));
      if (listeners.length > 0) await enqueue(announcement, listeners, transaction);
    }
  };

  async function enqueue(
    { subject, name, details }: Announcement,
    listeners: readonly Subscription[],
    transaction: Transaction,
  ): Promise<void> {
    const minted = mintId('run', clock.now, random);
    const number = await store.subscriptions.numberEvent(subject.webhookId, minted, transaction);
    // The subscription was removed meanwhile.
    if (number === undefined) return;
    const eventId = mintId('evt', clock.now, random);
    const event = { eventId, type: `${org}.${name}`, ...number, timestamp: clock.now(), subject, details };
    await store.deliveries.enqueue(
      listeners.map((listener) => deliveryTo(listener, event)),
      transaction,
    );
  }

  function deliveryTo({ webhookId, major }: Subscription, event: OperationalEvent): Delivery {
    const { runId, sequence, eventId, timestamp } = event;
    const deliveryId = deliveryIdOf({ webhookId, runId, sequence, timestamp });
    return {
      deliveryId,
      webhookId,
      runId,
      eventId,
      sequence,
      ...render(event, major),
      attempts: 0,
      dueAt: storeClock.now(),
    };
  }

  /** A listener to all workspaces of the subject is found by any one of them. */
  function topicOf({ subject: { webhookId, tenant, mode, workspaces }, name }: Announcement): Topic {
    const [workspace] = workspaces === 'all' ? [] : workspaces;
    return {
      runId: webhookId,
      tenant,
      mode,
      eventType: `${org}.${name}`,
      ...(workspace !== undefined && { workspace }),
    };
  }
}

/** Returns whether a subscription that names the event type is told. */
function hears(listener: Subscription, { subject, name }: Announcement): boolean {
  if (!listener.durable && listener.status !== 'active') return false;
  if (listener.tenant !== subject.tenant || listener.mode !== subject.mode || listener.push !== undefined) return false;
  if (listener.webhookId === subject.webhookId) return HEARD_OF_ITSELF.has(name);
  return coversScope(listener, subject);
}

const HEARD_OF_ITSELF: ReadonlySet<OperationalEventName> = new Set([
  'subscription.recovered',
  'subscription.secret-rotated',
]);
