import type { Major, Served } from '@svc/versioning';
import { resolveId } from '@svc/versioning/ids';
import { invalid } from '../errors.ts';
import { type AuthorizedCall, type Route, route, routeWithBody } from '../http/route.ts';
import { type RegisterOptions, register, requireMembership } from '../webhooks/register.ts';
import { type UnregisterOptions, unregister } from '../webhooks/unregister.ts';
import { registeredBody, registration } from '../wire/webhook.ts';

export interface WebhookRoutesOptions extends RegisterOptions, UnregisterOptions {
  readonly served: Pick<Served, 'overlap'>;
}

export function webhookRoutes(options: WebhookRoutesOptions): Route[] {
  return [
    routeWithBody({
      operationId: 'registerWebhook',
      scope: 'webhooks:manage',
      schema: registration,
      async serve({ major, principal }, requested) {
        const registered = await register(options, principal, major, requested);
        return { status: 201, body: registeredBody[major](registered, requested.secret !== undefined) };
      },
    }),
    route({
      operationId: 'unregisterWebhook',
      scope: 'webhooks:manage',
      async serve(call) {
        const workspace = workspaceIn[call.major](call);
        if (workspace !== undefined) requireMembership(options.hasWorkspace, call.principal, workspace);
        await unregister(options, call.principal, idIn(call), workspace);
        return { status: 204 };
      },
    }),
  ];

  function idIn({ major, params, principal }: AuthorizedCall): string {
    const { tenant } = principal.tenancy;
    const resolved = resolveId(params.webhookId ?? '', { tenant, major, overlap: options.served.overlap });
    if (!resolved.ok) throw resolved.error;
    return resolved.id;
  }
}

/** Major 1 names the workspace in a query parameter; in major 2 the id says enough. */
const workspaceIn: Readonly<Record<Major, (call: AuthorizedCall) => string | undefined>> = {
  1: ({ query }) => {
    const [workspace, ...others] = query.getAll('tenantId');
    if (workspace === undefined || workspace === '' || others.length > 0) {
      throw invalid({ field: 'query.tenantId', problem: 'must name, once, the workspace that the subscription is in' });
    }
    return workspace;
  },
  2: () => undefined,
};
