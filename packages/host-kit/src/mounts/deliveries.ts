import { eventName } from '@svc/versioning/events';
import { z } from 'zod';
import { invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type AuthorizedCall, type MountRoute, mountRoute, parse } from '../http/route.ts';
import type { JsonObject } from '../json.ts';
import type { CapturedAnswer } from '../ports/captured-answers.ts';
import type { Subscription } from '../ports/subscriptions.ts';
import type { SecretBox } from '../sealing/secret-box.ts';
import { openedAnswer } from '../webhooks/capture.ts';
import { type DeliveryCursor, type DeliveryFilter, findDelivery, listDeliveries } from '../webhooks/find-deliveries.ts';
import { managed, missing } from '../webhooks/operator-actions.ts';
import { type ResendOptions, resend } from '../webhooks/resend.ts';
import type { SubscribableEvents } from '../webhooks/subscribable.ts';
import type { SendTest } from '../webhooks/test-delivery.ts';
import { exampleOf } from '../wire/event-catalogue.ts';
import { operatorAttempt } from '../wire/operator.ts';
import {
  type AnswerTo,
  deliveryCursorText,
  deliveryDetail,
  deliveryView,
  ownedDeliveryDetails,
  ownedDeliveryPage,
  parseDeliveryCursor,
  resent,
  testView,
} from '../wire/owned-delivery.ts';
import {
  ADDRESS_ERRORS,
  ADDRESSED,
  idIn,
  LIMIT,
  ok,
  PRIVATE,
  pageLimit,
  QUERY_TIME,
  STATE_ERRORS,
  timeIn,
} from './owned-webhook.ts';

export interface DeliveryRoutesOptions extends ResendOptions {
  readonly sendTest: SendTest;
  /** Opens captured answers. */
  readonly secrets: Pick<SecretBox, 'open'>;
  /** The event types that can be subscribed to. */
  readonly subscribable: SubscribableEvents;
  /** Returns whether the caller reaches events of this name. Default: every event. */
  readonly reachesEvent?: (name: string) => boolean;
}

/**
 * The routes under `/host/<org>/webhooks/{webhookId}` for the deliveries of a subscription: list them, read one with
 * its attempts, send one again, and send a test.
 */
export function deliveryRoutes(options: DeliveryRoutesOptions): MountRoute[] {
  const { store, sendTest, subscribable, secrets, reachesEvent } = options;
  const scope = 'webhooks:manage';
  return [
    mountRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}/deliveries',
      scope,
      describes: {
        operationId: 'listOwnedDeliveries',
        summary: 'List deliveries',
        description:
          'First those that wait, then the dead letters, then those that have ended, as far as the last attempts tell.',
        path: ADDRESSED,
        query: FILTER,
        answers: { 200: json('A page of deliveries.', ownedDeliveryPage, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const subscription = await managed(store, call.principal, idIn(call));
        const { webhookId } = subscription;
        const filter = { ...filterIn(call), isReached: reachesEvent };
        const page = { from: cursorIn(call, webhookId) ?? startIn(call, filter), limit: pageLimit(call.query) };
        const { deliveries, next } = await listDeliveries(options, subscription, filter, page);
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
      describes: {
        operationId: 'readOwnedDelivery',
        summary: 'Read a delivery',
        description:
          'A delivery with its last attempts and their phases, without body, headers and secret. On a host that captures ' +
          'answers, a failed attempt has the answer of its receiver.',
        path: DELIVERY,
        answers: { 200: json('The delivery.', ownedDeliveryDetails, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const subscription = await managed(store, call.principal, idIn(call));
        const found = await findDelivery(options, subscription, idIn(call, 'deliveryId'));
        if (found === undefined) throw missing();
        const { webhookId, deliveryId } = found.delivery;
        const answers = shownAnswers(secrets, await store.capturedAnswers.list(webhookId, deliveryId));
        return ok(deliveryDetail(subscription, found, answers));
      },
    }),
    mountRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
      scope,
      describes: {
        operationId: 'resendDelivery',
        summary: 'Send a delivery again',
        description: 'Queues a delivery again, delivered or not. It keeps its id. Safe to repeat.',
        path: DELIVERY,
        answers: { 200: json('Whether the delivery was queued.', resent, PRIVATE) },
        errors: STATE_ERRORS,
      },
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
      takesKey: true,
      describes: {
        operationId: 'testWebhook',
        summary: 'Send a test delivery',
        description: 'Sends an example of an event type at once, signed. It changes no state of the subscription.',
        path: ADDRESSED,
        body: testRequest,
        example: { type: 'run.failed' },
        answers: { 200: json('The outcome.', operatorAttempt, PRIVATE) },
        errors: STATE_ERRORS,
      },
      async serve(call) {
        const { type } = parse(testRequest, call.json);
        const test = {
          principal: call.principal,
          webhookId: idIn(call),
          payloadFor: (subscription: Subscription) => testPayload(subscription, type, subscribable),
          signal: call.gone(),
        };
        // The outcome is known when nothing is left to store, so it is kept in a transaction of its own.
        return call.once<JsonObject>(
          async () => {
            const { subscription, attempt } = await sendTest(test);
            return testView(subscription, attempt);
          },
          async (view) => ok(view),
        );
      },
    }),
  ];
}

/** Answers that no key of this host opens any more are left out. */
function shownAnswers(secrets: Pick<SecretBox, 'open'>, answers: readonly CapturedAnswer[]): readonly AnswerTo[] {
  return answers.flatMap((answer) => {
    try {
      return [{ attempt: answer.attempt, at: answer.at, shown: openedAnswer(secrets, answer) }];
    } catch {
      return [];
    }
  });
}

const DELIVERY = {
  ...ADDRESSED,
  deliveryId: z.string().min(1).max(512).describe('The id of the delivery, in the form of either major.'),
};

const FILTER = {
  limit: LIMIT,
  cursor: z.string().max(2048).optional().describe('The `nextCursor` of the previous page.'),
  state: z
    .enum(['waiting', 'dead-lettered', 'delivered', 'failed', 'skipped'])
    .optional()
    .describe('The state of the deliveries. Default: every state.'),
  deadLetteredBefore: QUERY_TIME.optional().describe(
    'Begins the list with the dead letters from before this time. With `state=dead-lettered`, without `cursor`.',
  ),
  type: z.string().optional().describe('The event type, in the major of the subscription.'),
  since: QUERY_TIME.optional().describe('The earliest time of the event.'),
  until: QUERY_TIME.optional().describe('The time before which the event happened.'),
};

const testRequest: z.ZodType<{ type?: string | undefined }> = z.strictObject({
  type: z.string().min(1).max(128).optional(),
});

/** The payload of a test: an event type in the spelling of the subscription's major, and an example of its payload. */
function testPayload(
  { major, events }: Subscription,
  asked: string | undefined,
  subscribable: SubscribableEvents,
): { type: string; example: JsonObject } {
  const [first = 'run.completed'] = events;
  const named = asked === undefined ? { type: first } : subscribable.named(major, asked);
  if ('problem' in named) throw invalid({ field: 'type', problem: named.problem });
  return { type: eventName(major, named.type), example: exampleOf(major, named.type) };
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

/** The place of the first delivery of a list that begins at a time. */
function startIn({ query }: AuthorizedCall, { state }: DeliveryFilter): DeliveryCursor | undefined {
  const deadLetteredAt = timeIn(query, 'deadLetteredBefore');
  if (deadLetteredAt === undefined) return undefined;
  if (state !== 'dead') throw invalid({ field: 'query.deadLetteredBefore', problem: 'needs state=dead-lettered' });
  // Below every id of that time.
  return { section: 'dead', after: { deadLetteredAt, deliveryId: '' } };
}
