import { receiver } from '@svc/webhook-verify/express';
import type { DedupStore } from '@svc/webhook-verify/receive';
import express, { type Express } from 'express';
import { onDelivery } from './on-delivery.ts';

export interface AppOptions {
  /** The secret that the registration of the webhook returned. */
  readonly secret: string | undefined;
  /** Remembers the deliveries that are handled. */
  readonly dedup: DedupStore;
}

/** Makes the app. `main.ts` serves it, and the tests call it. */
export function makeApp({ secret, dedup }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');

  // Before express.json(): the signature covers the bytes of the body.
  app.post(
    '/webhooks',
    receiver({
      secret,
      dedup,
      onDelivery,
      onRejected: ({ code, message }) => console.warn(`refused: ${code}. ${message}`),
    }),
  );

  app.use(express.json());
  // Your own routes follow here.

  return app;
}
