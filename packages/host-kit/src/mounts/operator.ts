import { resolveId } from '@svc/versioning/ids';
import { HostError, invalid } from '../errors.ts';
import { type AuthorizedCall, type MountRoute, mountRoute, parse } from '../http/route.ts';
import { managed, moveSubscription, type OperatorActionOptions, redrive } from '../webhooks/operator-actions.ts';
import { attemptView, operatorView, redriveRequest } from '../wire/operator.ts';

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
        serve: async (call) => ok(operatorView(await moveSubscription(options, call.principal, idIn(call), signal))),
      }),
    ),
    mountRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/dead-letters/redrive',
      scope,
      takesBody: true,
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
