import { type Route, route, routeWithBody } from '../http/route.ts';
import { type RegisterOptions, register } from '../webhooks/register.ts';
import { type UnregisterOptions, unregister } from '../webhooks/unregister.ts';
import { registeredBody, registration } from '../wire/webhook.ts';
import { type AddressedOptions, addressedSubscription } from './subscription-address.ts';

export interface WebhookRoutesOptions extends RegisterOptions, UnregisterOptions, AddressedOptions {}

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
        const { webhookId, workspace } = addressedSubscription(options, call);
        await unregister(options, call.principal, webhookId, workspace);
        return { status: 204 };
      },
    }),
  ];
}
