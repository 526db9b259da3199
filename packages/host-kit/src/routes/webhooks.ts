import type { Major } from '@svc/versioning';
import { invalid } from '../errors.ts';
import { empty, json } from '../http/description.ts';
import { type AuthorizedCall, type Route, route, routeWithBody } from '../http/route.ts';
import type { Save } from '../ports/idempotency.ts';
import { namesWorkspace } from '../runs/membership.ts';
import { type Registered, type RegisterOptions, register } from '../webhooks/register.ts';
import { type UnregisterOptions, unregister } from '../webhooks/unregister.ts';
import {
  type RegistrationRules,
  registeredBody,
  registeredWebhook,
  registrationExample,
  registrationSchema,
} from '../wire/webhook.ts';
import { ADDRESS_ERRORS, type AddressedOptions, addressedSubscription, addressQuery } from './subscription-address.ts';

export interface WebhookRoutesOptions extends RegisterOptions, UnregisterOptions, AddressedOptions, RegistrationRules {}

/** Defines the routes that register and unregister webhooks. */
export function webhookRoutes(options: WebhookRoutesOptions): Route[] {
  return [
    routeWithBody({
      operationId: 'registerWebhook',
      scope: 'webhooks:manage',
      schema: registrationSchema(options),
      remedies: ({ tenancy }) => ({ tenantId: namesWorkspace(tenancy) }),
      describes: {
        tag: 'Webhooks',
        summary: 'Register a webhook',
        description:
          'The secret that signs the deliveries is in this response only. Store it. A type that this host never sends ' +
          'is refused. In major 1 a subscription belongs to one workspace, and runs of no workspace are not delivered.',
        example: registrationExample,
        answers: { 201: json('The subscription.', registeredWebhook) },
        errors: { 1: ['webhook_url_rejected'], 2: ['webhook_url_rejected', 'webhook_endpoint_unverified'] },
      },
      async serve(call, given, save: Save<Registered>) {
        const { major, principal } = call;
        const requested = { ...given, workspace: given.workspace ?? impliedWorkspace[major](call) };
        return await register(options, principal, major, requested, save);
      },
      reply: (registered, { major }) => ({
        status: 201,
        body: registeredBody[major](registered, registered.isSecretBrought),
      }),
    }),
    route({
      operationId: 'unregisterWebhook',
      scope: 'webhooks:manage',
      describes: {
        tag: 'Webhooks',
        summary: 'Unregister a webhook',
        description: 'No delivery attempt begins after the response.',
        query: addressQuery(options),
        answers: { 204: empty('The subscription is gone.') },
        errors: ADDRESS_ERRORS,
      },
      async serve(call, save: Save<void>) {
        const { webhookId, workspace } = addressedSubscription(options, call);
        await unregister(options, call.principal, webhookId, workspace, save);
      },
      reply: () => ({ status: 204 }),
    }),
  ];
}

/** The default in major 1 is the caller's only workspace; in major 2 it is the caller's whole reach. */
const impliedWorkspace: Readonly<Record<Major, (call: AuthorizedCall) => string | undefined>> = {
  1: ({ principal }) => {
    const { workspaces } = principal.tenancy;
    const [only, ...others] = workspaces === 'all' ? [] : workspaces;
    if (only !== undefined && others.length === 0) return only;
    throw invalid({ field: 'tenantId', problem: `is required. ${namesWorkspace(principal.tenancy)}` });
  },
  2: () => undefined,
};
