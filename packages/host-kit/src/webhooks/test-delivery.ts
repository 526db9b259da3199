import type { Principal } from '@svc/auth';
import { mintId } from '@svc/versioning/ids';
import type { ChangeServices } from '../audit/change-services.ts';
import { factAbout } from '../audit/fact.ts';
import type { AttemptRecord } from '../ports/attempts.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { EventNumber, Subscription } from '../ports/subscriptions.ts';
import { attemptRecord } from './attempt-result.ts';
import { deliveryIdOf } from './delivery-id.ts';
import type { OperationalEvent } from './operational-event.ts';
import { conflict, managed, missing } from './operator-actions.ts';
import type { Rendered } from './outbox.ts';
import type { Send } from './send.ts';
import { TenantSlots } from './slots.ts';

/** The name of the event that a test delivery sends, without the organization. */
const TEST_EVENT = 'webhook.test';

/** Sends a test delivery to a subscription at once, and returns its outcome. */
export type SendTest = (request: {
  readonly principal: Principal;
  readonly webhookId: string;
  /** Makes the payload of the test. Throws when the request does not fit the subscription. */
  readonly payloadFor: (subscription: Subscription) => OperationalEvent['details'];
  readonly signal: AbortSignal;
}) => Promise<Tested>;

/** A test delivery that was sent. */
export interface Tested {
  readonly subscription: Subscription;
  readonly attempt: AttemptRecord;
}

export interface TestDeliveryOptions extends ChangeServices, Pick<HostPorts, 'random' | 'log'> {
  readonly org: string;
  readonly send: Send;
  /** Renders the body, in the wire format of a major. */
  readonly render: (event: OperationalEvent, major: Subscription['major']) => Rendered;
}

/**
 * Makes the function that sends test deliveries. A test is signed and sent like every delivery, also to a paused or
 * failed subscription. It is not queued or repeated, and it changes neither circuit, outage nor status; it writes one
 * audit fact. 4 tests of a tenant may be under way at a time, and 64 in all.
 *
 * The function throws `HostError`: as `managed`; `subscription_state_conflict` for a push subscription;
 * `service_unavailable` when too many tests are under way.
 */
export function testDelivery(options: TestDeliveryOptions): SendTest {
  const { store, clock, random, log, org, send, render } = options;
  const slots = new TenantSlots({ total: 64, perTenant: 4 }, 'Too many test deliveries are under way.');

  return async ({ principal, webhookId, payloadFor, signal }) => {
    const subscription = await managed(store, principal, webhookId);
    if (subscription.push !== undefined)
      throw conflict('A push of a run has no test delivery. Test its receiver with a run.');
    const details = payloadFor(subscription);
    const leave = slots.enter(subscription.tenant);
    try {
      const number = await numbered(principal, subscription);
      const timestamp = clock.now();
      const eventId = mintId('evt', clock.now, random);
      const event = { eventId, type: `${org}.${TEST_EVENT}`, ...number, timestamp, subject: subscription, details };
      const { eventType, body } = render(event, subscription.major);
      const deliveryId = deliveryIdOf({ webhookId, ...number, timestamp });
      const delivery = { deliveryId, webhookId, ...number, eventId, eventType, body, attempts: 0, dueAt: timestamp };
      const { verdict, phases } = await send(delivery, subscription, signal);
      const attempt = attemptRecord(delivery, verdict, clock.now(), phases);
      const { outcome, status, reason } = attempt;
      log({ level: 'info', event: 'webhook.tested', webhookId, tenant: subscription.tenant, outcome, status, reason });
      return { subscription, attempt };
    } finally {
      leave();
    }
  };

  /** Takes the number of the event, and records the request. */
  function numbered(principal: Principal, { webhookId, tenant }: Subscription): Promise<EventNumber> {
    const target = `${tenant}/${webhookId}`;
    const fact = factAbout(principal, { action: 'webhook.test', target, at: clock.now() });
    return store.transaction(async (transaction) => {
      const minted = mintId('run', clock.now, random);
      const number = await store.subscriptions.numberEvent(webhookId, minted, transaction);
      if (number === undefined) throw missing();
      await options.recordAudit(fact, transaction);
      return number;
    });
  }
}
