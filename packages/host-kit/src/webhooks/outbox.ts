import type { Delivery, NewDelivery } from '../ports/deliveries.ts';
import type { RunEvent } from '../ports/events.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Run } from '../ports/runs.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Subscription, Topic } from '../ports/subscriptions.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { Appended } from '../runs/run-draft.ts';
import type { Outbox } from '../runs/write-drafts.ts';
import { deliveryIdOf } from './delivery-id.ts';
import type { HandOver } from './hand-over.ts';
import { matches } from './match.ts';
import type { PushFormats } from './push-format.ts';

export interface OutboxOptions extends Pick<HostPorts, 'store'> {
  readonly storeClock: Pick<StoreClock, 'now'>;
  /** Renders the body and the event-type name of a delivery, in the wire format of a subscription's major. */
  readonly render: (run: Run, event: RunEvent, major: Subscription['major']) => Rendered;
  /** The formats of pushes. Default: none. */
  readonly formats?: PushFormats;
  /** Claims the deliveries that this host attempts itself. Default: all of them wait in the queue. */
  readonly handOver?: Pick<HandOver, 'claim'>;
}

const NO_FORMATS: PushFormats = new Map();

/** A rendered event. */
export interface Rendered {
  /** The value of the event-type header. */
  readonly eventType: string;
  readonly body: Uint8Array;
}

/**
 * Makes the outbox: it enqueues a delivery to each matching subscription, in the transaction that appends the events.
 */
export function outbox(options: OutboxOptions): Outbox {
  const { store, storeClock, render, formats = NO_FORMATS, handOver } = options;

  return async (appended, transaction) => {
    const topics: Topic[] = [];
    /** The indices of the topics. The events of one run often have the same one. */
    const indices = new Map<string, number>();
    const topicOfEach = appended.map((each) => {
      const key = topicKey(each);
      const known = indices.get(key);
      if (known !== undefined) return known;
      indices.set(key, topics.length);
      return topics.push(topicOf(each)) - 1;
    });
    const found = await store.subscriptions.listening(topics, transaction);
    const deliveries = appended.flatMap((each, index) =>
      deliveriesOf(each, found[topicOfEach[index] ?? -1] ?? [], transaction),
    );
    if (deliveries.length > 0) await store.deliveries.enqueue(deliveries, transaction);
    return deliveries.length;
  };

  function deliveriesOf(
    { run, event }: Appended,
    listening: readonly Subscription[],
    transaction: Transaction,
  ): readonly NewDelivery[] {
    const rendered = new Map<Subscription['major'], Rendered>();
    return listening
      .filter((subscription) => matches(subscription, run) && hasFormat(subscription))
      .map((subscription) => {
        const delivery = deliveryTo(subscription, event, renderedFor(subscription));
        return { ...delivery, leaseUntil: handOver?.claim(delivery, subscription, transaction) };
      });

    function renderedFor({ push, major }: Subscription): Rendered {
      const format = push === undefined ? undefined : formats.get(push.format);
      return format === undefined ? renderedOnce(major) : { eventType: event.type, body: format.render(run, event) };
    }

    function renderedOnce(major: Subscription['major']): Rendered {
      const known = rendered.get(major) ?? render(run, event, major);
      rendered.set(major, known);
      return known;
    }
  }

  /** A push whose mount was removed is skipped: its receiver would not understand another format. */
  function hasFormat({ push }: Subscription): boolean {
    return push === undefined || formats.has(push.format);
  }

  function deliveryTo(subscription: Subscription, event: RunEvent, { eventType, body }: Rendered): Delivery {
    return {
      deliveryId: deliveryIdOf({ ...event, webhookId: subscription.webhookId }),
      webhookId: subscription.webhookId,
      runId: event.runId,
      eventId: event.eventId,
      sequence: event.sequence,
      eventType,
      body,
      attempts: 0,
      dueAt: storeClock.now(),
    };
  }
}

function topicOf({ run, event }: Appended): Topic {
  const { runId, tenant, mode, workspace } = run;
  return { runId, tenant, mode, ...(workspace !== undefined && { workspace }), eventType: event.type };
}

function topicKey({ run, event }: Appended): string {
  return `${run.runId.length} ${run.runId} ${event.type}`;
}
