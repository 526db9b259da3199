import { receiver } from '@svc/webhook-verify/hono';
import type { DedupStore } from '@svc/webhook-verify/receive';
import { Hono } from 'hono';
import { onDelivery } from './on-delivery.ts';

export interface AppOptions {
  /** The secret that the registration of the webhook returned. */
  readonly secret: string | undefined;
  /** Remembers the deliveries that are handled. */
  readonly dedup: DedupStore;
}

/** Makes the app. `main.ts` serves it, and the tests call it. */
export function makeApp({ secret, dedup }: AppOptions): Hono {
  const app = new Hono();

  // No middleware may read the body before: the signature covers its bytes.
  app.post(
    '/webhooks',
    receiver({
      secret,
      dedup,
      onDelivery,
      onRejected: ({ code, message }) => console.warn(`refused: ${code}. ${message}`),
    }),
  );

  // Your own routes follow here.

  return app;
}
