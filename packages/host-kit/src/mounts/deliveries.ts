import { eventName } from '@svc/versioning/events';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import { type AuthorizedCall, type MountRoute, mountRoute, parse } from '../http/route.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import { type DeliveryFilter, findDelivery, listDeliveries } from '../webhooks/find-deliveries.ts';
import { managed, missing } from '../webhooks/operator-actions.ts';
import { type ResendOptions, resend } from '../webhooks/resend.ts';
import type { SendTest } from '../webhooks/test-delivery.ts';
import { payloadExample } from '../wire/event-example.ts';
import {
  deliveryCursorText,
  deliveryDetail,
  deliveryView,
  parseDeliveryCursor,
  testView,
} from '../wire/owned-delivery.ts';
import { knownEvent } from '../wire/webhook.ts';
import { idIn, ok, pageLimit, timeIn } from './owned-webhook.ts';

export interface DeliveryRoutesOptions extends ResendOptions {
  readonly sendTest: SendTest;
  /** The types of the events about subscriptions. */
  readonly operationalEvents: readonly string[];
}

/**
 * The routes under `/host/<org>/webhooks/{webhookId}` for the deliveries of a subscription: list them, read one with
 * its attempts, send one again, and send a test.
 */
export function deliveryRoutes(options: DeliveryRoutesOptions): MountRoute[] {
  const { store, sendTest, operationalEvents } = options;
  const scope = 'webhooks:manage';
  return [
    mountRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}/deliveries',
      scope,
      async serve(call) {
        const subscription = await managed(store, call.principal, idIn(call));
        const { webhookId } = subscription;
        const page = { from: cursorIn(call, webhookId), limit: pageLimit(call.query) };
        const { deliveries, next } = await listDeliveries(store, subscription, filterIn(call), page);
        return ok({
          deliveries: deliveries.map((delivery) => deliveryView(subscription, delivery)),
          ...(next !== undefined && { nextCursor: deliveryCursorText(webhookId, next) }),
        });
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}/deliveries/{deliveryId}',
      scope,
      async serve(call) {
        const subscription = await managed(store, call.principal, idIn(call));
        const found = await findDelivery(store, subscription, idIn(call, 'deliveryId'));
        if (found === undefined) throw missing();
        return ok(deliveryDetail(subscription, found));
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
      scope,
      // Safe without an idempotency key: a delivery that waits already stays as it is.
      async serve(call) {
        const queued = await resend(options, call.principal, idIn(call), idIn(call, 'deliveryId'));
        return ok({ queued });
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/test',
      scope,
      takesBody: true,
      async serve(call) {
        const { type } = parse(testRequest, call.json);
        const { subscription, attempt } = await sendTest({
          principal: call.principal,
          webhookId: idIn(call),
          payloadFor: (subscription) => testPayload(subscription, type, operationalEvents),
          signal: call.gone(),
        });
        return ok(testView(subscription, attempt));
      },
    }),
  ];
}

const testRequest: z.ZodType<{ type?: string | undefined }> = z.strictObject({
  type: z.string().min(1).max(128).optional(),
});

/** The payload of a test: an event type in the spelling of the subscription's major, and an example of its payload. */
function testPayload(
  { major, events }: Subscription,
  asked: string | undefined,
  operationalEvents: readonly string[],
): { type: string; example: ReturnType<typeof payloadExample> } {
  const [first = 'run.completed'] = events;
  const stored = asked === undefined ? first : knownEvent(major, asked, operationalEvents);
  if (stored === undefined) {
    throw invalid({ field: 'type', problem: `"${asked}" is not an event type of major ${major}` });
  }
  return { type: eventName(major, stored), example: payloadExample({ type: stored }) };
}

const STATES = {
  waiting: 'waiting',
  'dead-lettered': 'dead',
  delivered: 'delivered',
  failed: 'failed',
  skipped: 'skipped',
} as const;

function filterIn({ query }: AuthorizedCall): DeliveryFilter {
  const text = query.get('state');
  const state = Object.entries(STATES).find(([name]) => name === text)?.[1];
  if (text !== null && state === undefined) {
    throw invalid({ field: 'query.state', problem: `must be one of ${Object.keys(STATES).join(', ')}` });
  }
  return {
    state,
    type: query.get('type') ?? undefined,
    since: timeIn(query, 'since'),
    until: timeIn(query, 'until'),
  };
}

function cursorIn({ query }: AuthorizedCall, webhookId: string) {
  const text = query.get('cursor');
  if (text === null) return undefined;
  const cursor = parseDeliveryCursor(text, webhookId);
  if (cursor !== undefined) return cursor;
  throw invalid({ field: 'query.cursor', problem: 'must be the nextCursor of a page of this subscription' });
}
