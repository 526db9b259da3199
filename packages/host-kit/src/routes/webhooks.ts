import type { Major } from '@svc/versioning';
import { invalid } from '../errors.ts';
import { type AuthorizedCall, type Route, route, routeWithBody } from '../http/route.ts';
import { type RegisterOptions, register } from '../webhooks/register.ts';
import { type UnregisterOptions, unregister } from '../webhooks/unregister.ts';
import { lenientRegistration, registeredBody, registration } from '../wire/webhook.ts';
import { type AddressedOptions, addressedSubscription } from './subscription-address.ts';

export interface WebhookRoutesOptions extends RegisterOptions, UnregisterOptions, AddressedOptions {}

export function webhookRoutes(options: WebhookRoutesOptions): Route[] {
  return [
    routeWithBody({
      operationId: 'registerWebhook',
      scope: 'webhooks:manage',
      schema: options.tenantIdOptional ? lenientRegistration : registration,
      async serve(call, given) {
        const { major, principal } = call;
        const requested = { ...given, workspace: given.workspace ?? impliedWorkspace[major](call) };
        const registered = await register(options, principal, major, requested);
        return { status: 201, body: registeredBody[major](registered, requested.secret !== undefined) };
      },
    }),
    route({
      operationId: 'unregisterWebhook',
      scope: 'webhooks:manage',
      async serve(call) {
        const { webhookId, workspace } = addressedSubscription(options, call);
        await unregister(options, call.principal, webhookId, workspace);
        return { status: 204 };
      },
    }),
  ];
}

/** A client of major 1 that names no workspace means the only one that it has; in major 2 the caller's whole scope is meant. */
const impliedWorkspace: Readonly<Record<Major, (call: AuthorizedCall) => string | undefined>> = {
  1: ({ principal }) => {
    const { workspaces } = principal.tenancy;
    const [only, ...others] = workspaces === 'all' ? [] : workspaces;
    if (only !== undefined && others.length === 0) return only;
    throw invalid({ field: 'tenantId', problem: 'must name the workspace, because the credential has not just one' });
  },
  2: () => undefined,
};
