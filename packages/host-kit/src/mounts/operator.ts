import { resolveId } from '@svc/versioning/ids';
import { HostError, invalid } from '../errors.ts';
import { type AuthorizedCall, type MountRoute, mountRoute, parse } from '../http/route.ts';
import { managed, moveSubscription, type OperatorActionOptions, redrive } from '../webhooks/operator-actions.ts';
import { attemptView, operatorView, redriveRequest } from '../wire/operator.ts';

/**
 * What an operator does with subscriptions, under `/host/<org>/`: it looks at them and their last attempts, pauses and resumes them,
 * and redrives dead letters. An operator is a caller like any other and sees its own tenant.
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
    // Of the host's own, so without an `Idempotency-Key`. To say it again changes nothing more: the subscription is what it was told to be.
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
      // The same. A redrive that is repeated, because its answer was lost, finds nothing left of what it has put back; what has died once
      // more since then is given another start, as for anybody who asks now.
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

/** Either form of an id: an operator copies it from wherever it saw it. */
function idIn(call: AuthorizedCall): string {
  return bareId(call.params.webhookId ?? '', call);
}

function bareId(text: string, { principal }: AuthorizedCall): string {
  const resolved = resolveId(text, { tenant: principal.tenancy.tenant, major: 2, overlap: true });
  if (resolved.ok) return resolved.id;
  // A deployment's own ids of old may be shorter than those of major 2.
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
