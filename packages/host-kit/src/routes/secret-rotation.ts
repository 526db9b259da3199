import { json } from '../http/description.ts';
import { type Route, routeWithBody } from '../http/route.ts';
import type { Save } from '../ports/idempotency.ts';
import { type Rotated, type RotateOptions, rotateSecret } from '../webhooks/rotate.ts';
import { rotatedBody, rotatedSecret, rotation, rotationExample } from '../wire/webhook.ts';
import { ADDRESS_ERRORS, type AddressedOptions, addressedSubscription, addressQuery } from './subscription-address.ts';

/** Defines the route that rotates the secret of Standard Webhooks subscriptions. */
export function secretRotationRoutes(options: RotateOptions & AddressedOptions): Route[] {
  return [
    routeWithBody({
      operationId: 'rotateWebhookSecret',
      scope: 'webhooks:manage',
      schema: { 1: rotation, 2: rotation },
      describes: {
        tag: 'Webhooks',
        summary: 'Replace the secret of a webhook',
        description:
          'For subscriptions with `standard-webhooks-1`; register any other one again instead. Until the replaced ' +
          'secret expires, deliveries are signed with both.',
        query: addressQuery(options),
        example: rotationExample,
        answers: { 200: json('The new secret signs deliveries from now on.', rotatedSecret) },
        errors: ADDRESS_ERRORS,
      },
      async serve(call, { secret }, save: Save<Rotated>) {
        const { webhookId, principal } = addressedSubscription(options, call);
        return await rotateSecret(options, principal, webhookId, secret, save);
      },
      reply: (rotated) => ({ status: 200, body: rotatedBody(rotated) }),
    }),
  ];
}
