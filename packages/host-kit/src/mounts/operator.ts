import { z } from 'zod';
import { json } from '../http/description.ts';
import { type MountRoute, mountRoute, parse } from '../http/route.ts';
import { editSubscription } from '../webhooks/edit.ts';
import { managed, moveSubscription, type OperatorActionOptions, redrive } from '../webhooks/operator-actions.ts';
import type { SubscribableEvents } from '../webhooks/subscribable.ts';
import {
  attemptView,
  operatorView,
  operatorWebhook,
  operatorWebhookDetails,
  operatorWebhooks,
  redriven,
  redriveRequest,
} from '../wire/operator.ts';
import { editSchema } from '../wire/webhook.ts';
import { idQuery } from './access-page.ts';
import {
  ADDRESS_ERRORS,
  ADDRESSED,
  bareId,
  idIn,
  LIMIT,
  ok,
  PRIVATE,
  pageLimit,
  STATE_ERRORS,
} from './owned-webhook.ts';

export interface OperatorRoutesOptions extends OperatorActionOptions {
  /** The event types that can be subscribed to. */
  readonly subscribable: SubscribableEvents;
}

/**
 * The routes of an operator under `/host/<org>/webhooks`: list subscriptions, read one with its last attempts, edit,
 * pause and resume it, and redrive its dead letters. An operator is a caller with the scope `webhooks:manage` and sees its
 * own tenant.
 */
export function operatorRoutes(options: OperatorRoutesOptions): MountRoute[] {
  const { store } = options;
  const scope = 'webhooks:manage';
  return [
    mountRoute({
      method: 'GET',
      path: '/webhooks',
      scope,
      describes: {
        operationId: 'listOperatorWebhooks',
        summary: 'List subscriptions',
        description: 'The subscriptions of the tenant, in the order of their ids. No secret is shown.',
        query: {
          limit: LIMIT,
          after: z.string().optional().describe('The `nextAfter` of the previous page.'),
        },
        answers: { 200: json('A page of subscriptions.', operatorWebhooks, PRIVATE) },
      },
      async serve({ principal, query }) {
        const limit = pageLimit(query);
        const after = idQuery(query, 'after') ?? '';
        const found = await store.subscriptions.list(principal.tenancy, { after, limit: limit + 1 });
        const page = found.slice(0, limit);
        const last = page.at(-1);
        const more = found.length > limit && last !== undefined;
        return ok({ webhooks: page.map(operatorView), ...(more && { nextAfter: last.webhookId }) });
      },
    }),
    mountRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}',
      scope,
      describes: {
        operationId: 'readOperatorWebhook',
        summary: 'Read a subscription',
        description: 'A subscription with the state of its circuit and its last attempts.',
        path: ADDRESSED,
        answers: { 200: json('The subscription.', operatorWebhookDetails, PRIVATE) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call) {
        const subscription = await managed(store, call.principal, idIn(call));
        const attempts = await store.attempts.list(subscription.webhookId, SHOWN_ATTEMPTS);
        return ok({ ...operatorView(subscription), lastAttempts: attempts.map(attemptView) });
      },
    }),
    mountRoute({
      method: 'PATCH',
      path: '/webhooks/{webhookId}',
      scope,
      takesBody: true,
      describes: {
        operationId: 'editOperatorWebhook',
        summary: 'Edit a subscription',
        description:
          'Changes the event types, the tags or the description. Deliveries that are queued already stay. The URL and the ' +
          'secret cannot be edited.',
        path: ADDRESSED,
        body: editSchema(2, options),
        example: { events: ['run.completed', 'run.failed'], description: 'The ledger' },
        answers: { 200: json('The subscription.', operatorWebhook, PRIVATE) },
        errors: STATE_ERRORS,
      },
      // Safe without an idempotency key: a repeated edit changes nothing.
      async serve(call) {
        const edited = await editSubscription(options, call.principal, idIn(call), ({ major }) => {
          const { events, tags, description } = parse(editSchema(major, options), call.json);
          return {
            ...(events !== undefined && { events }),
            ...(tags !== undefined && { tags }),
            ...(description !== undefined && { description: description ?? undefined }),
          };
        });
        return ok(operatorView(edited));
      },
    }),
    // Safe without an idempotency key: a repeated pause or resume changes nothing.
    ...(['pause', 'resume'] as const).map((signal) =>
      mountRoute({
        method: 'POST',
        path: `/webhooks/{webhookId}/${signal}`,
        scope,
        describes: {
          operationId: `${signal}Webhook`,
          ...SIGNALS[signal],
          path: ADDRESSED,
          answers: { 200: json('The subscription.', operatorWebhook, PRIVATE) },
          errors: STATE_ERRORS,
        },
        serve: async (call) => ok(operatorView(await moveSubscription(options, call.principal, idIn(call), signal))),
      }),
    ),
    mountRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/dead-letters/redrive',
      scope,
      takesBody: true,
      describes: {
        operationId: 'redriveDeadLetters',
        summary: 'Redrive dead letters',
        description: 'Delivers dead letters of a subscription again: the named ones, or all of them.',
        path: ADDRESSED,
        body: redriveRequest,
        example: {},
        answers: { 200: json('The deliveries are due again.', redriven, PRIVATE) },
        errors: STATE_ERRORS,
      },
      // Safe without an idempotency key: a repeated redrive finds only deliveries that were dead-lettered again since.
      async serve(call) {
        const { deliveryIds } = parse(redriveRequest, call.json);
        const bare = deliveryIds?.map((id) => bareId(id, call));
        return ok({ redriven: await redrive(options, call.principal, idIn(call), bare) });
      },
    }),
  ];
}

const SHOWN_ATTEMPTS = 20;

const SIGNALS = {
  pause: {
    summary: 'Pause a subscription',
    description: 'Stores further deliveries without an attempt, until the subscription is resumed. Safe to repeat.',
  },
  resume: {
    summary: 'Resume a subscription',
    description: 'Delivers again, beginning with the deliveries that were stored since the pause. Safe to repeat.',
  },
} as const;
