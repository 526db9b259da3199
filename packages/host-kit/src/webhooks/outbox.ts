import { mintId } from '@svc/versioning/ids';
import type { Clock } from '../clock.ts';
import type { Random } from '../random.ts';
import type { RunEvent } from '../runs/event-store.ts';
import type { Run } from '../runs/run.ts';
import type { Store } from '../stores/store.ts';
import type { Transaction } from '../transaction.ts';
import type { Delivery } from './delivery.ts';
import { hears } from './match.ts';
import type { PushFormats } from './push-target.ts';
import type { Subscription } from './subscription.ts';

export interface OutboxOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  /** The body and event-type name of a delivery, in the form of a subscription's major. */
  readonly render: (run: Run, event: RunEvent, major: Subscription['major']) => Rendered;
  /** How what is pushed for a mount is worded. */
  readonly formats?: PushFormats;
}

const NO_FORMATS: PushFormats = new Map();

export interface Rendered {
  readonly eventType: string;
  readonly body: Uint8Array;
}

/** Writes one delivery for each subscription that hears of the event, into the transaction that appends it. */
export function outbox(options: OutboxOptions): (run: Run, event: RunEvent, transaction: Transaction) => Promise<void> {
  const { store, clock, random, render, formats = NO_FORMATS } = options;

  return async (run, event, transaction) => {
    const listening = await store.subscriptions.listening(run, event.type, transaction);
    const hearing = listening.filter((subscription) => hears(subscription, run) && isWorded(subscription));
    if (hearing.length === 0) return;
    const rendered = new Map<Subscription['major'], Rendered>();
    const deliveries = hearing.map((subscription) => deliveryTo(subscription, event, renderedFor(subscription)));
    await store.deliveries.enqueue(deliveries, transaction);

    function renderedFor({ push, major }: Subscription): Rendered {
      const format = push === undefined ? undefined : formats.get(push.format);
      return format === undefined ? once(rendered, major) : { eventType: event.type, body: format.render(run, event) };
    }

    function once(done: Map<Subscription['major'], Rendered>, major: Subscription['major']): Rendered {
      const known = done.get(major) ?? render(run, event, major);
      done.set(major, known);
      return known;
    }
  };

  /** A push whose mount is gone has no words, and is not told in those of another protocol. */
  function isWorded({ push }: Subscription): boolean {
    return push === undefined || formats.has(push.format);
  }

  function deliveryTo(subscription: Subscription, event: RunEvent, { eventType, body }: Rendered): Delivery {
    return {
      deliveryId: mintId('dlv', clock.now, random),
      webhookId: subscription.webhookId,
      runId: event.runId,
      eventId: event.eventId,
      sequence: event.sequence,
      eventType,
      body,
      attempts: 0,
      dueAt: clock.now(),
    };
  }
}
