import { resolveId } from '@svc/versioning/ids';
import { z } from 'zod';
import { HostError, invalid } from '../errors.ts';
import { json } from '../http/description.ts';
import { type AuthorizedCall, type MountRoute, mountRoute, parse } from '../http/route.ts';
import { managed, moveSubscription, type OperatorActionOptions, redrive } from '../webhooks/operator-actions.ts';
import {
  attemptView,
  operatorView,
  operatorWebhook,
  operatorWebhookDetails,
  operatorWebhooks,
  redriven,
  redriveRequest,
} from '../wire/operator.ts';

/**
 * The routes of an operator under `/host/<org>/webhooks`: list subscriptions, read one with its last attempts, pause
 * and resume it, and redrive its dead letters. An operator is a caller with the scope `webhooks:manage` and sees its
 * own tenant.
 */
export function operatorRoutes(options: OperatorActionOptions): MountRoute[] {
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
          limit: z.int().min(1).max(200).default(50).describe('The most subscriptions of a page.'),
          after: z.string().optional().describe('The `nextAfter` of the previous page.'),
        },
        answers: { 200: json('A page of subscriptions.', operatorWebhooks, PRIVATE) },
      },
      async serve({ principal, query }) {
        const limit = pageLimit(query);
        const after = query.get('after') ?? '';
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
    // A mount ignores `Idempotency-Key`. A repeated pause or resume changes nothing.
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
          errors: [...ADDRESS_ERRORS, 'subscription_state_conflict'],
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
        errors: [...ADDRESS_ERRORS, 'subscription_state_conflict'],
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
const PRIVATE = { headers: ['Cache-Control'] } as const;
const ADDRESS_ERRORS = ['not_found', 'id_tenant_mismatch'] as const;

const ADDRESSED = {
  webhookId: z.string().min(1).max(512).describe('The id of the subscription, in the form of either major.'),
};

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

function ok(body: NonNullable<Awaited<ReturnType<MountRoute['serve']>>['body']>) {
  return { status: 200, headers: { 'cache-control': 'private, no-store' }, body };
}

/** Accepts the id of either major: an operator copies it from a log, a response or a delivery. */
function idIn(call: AuthorizedCall): string {
  return bareId(call.params.webhookId ?? '', call);
}

function bareId(text: string, { principal }: AuthorizedCall): string {
  const resolved = resolveId(text, { tenant: principal.tenancy.tenant, major: 2, overlap: true });
  if (resolved.ok) return resolved.id;
  // Not a 400: ids of an older deployment may be shorter than major 2 allows.
  if (resolved.error.code === 'validation_error') {
    throw new HostError('not_found', 'There is no such subscription or delivery.', { details: undefined });
  }
  throw resolved.error;
}

function pageLimit(query: URLSearchParams): number {
  const text = query.get('limit') ?? '50';
  if (!/^[0-9]{1,9}$/.test(text)) throw invalid({ field: 'query.limit', problem: 'must be a whole number' });
  return Math.min(Math.max(Number(text), 1), 200);
}
