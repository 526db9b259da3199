import { receiver } from '@svc/webhook-verify/fastify';
import type { DedupStore } from '@svc/webhook-verify/receive';
import Fastify, { type FastifyInstance } from 'fastify';
import { onDelivery } from './on-delivery.ts';

export interface AppOptions {
  /** The secret that the registration of the webhook returned. */
  readonly secret: string | undefined;
  /** Remembers the deliveries that are handled. */
  readonly dedup: DedupStore;
}

/** Makes the app. `main.ts` serves it, and the tests call it. */
export async function makeApp({ secret, dedup }: AppOptions): Promise<FastifyInstance> {
  const app = Fastify();

  // A scope of its own, without body parsers: the signature covers the bytes of the body.
  await app.register(
    receiver({
      path: '/webhooks',
      secret,
      dedup,
      onDelivery,
      onRejected: ({ code, message }) => console.warn(`refused: ${code}. ${message}`),
    }),
  );

  // Your own routes follow here, with the parsers of Fastify.

  return app;
}
