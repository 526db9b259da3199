import { type FetchReceiverOptions, toFetchHandler } from './fetch.ts';

/** What is needed of Hono's context. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
}

/**
 * A receiver for a Hono route. It reads the body itself, so no middleware may read it before.
 *
 * @throws {TypeError} for options that are wrong
 * @example
 * app.post('/webhooks', toHonoHandler({ secret: env.WEBHOOK_SECRET, onDelivery: (delivery) => { … } }));
 */
export function toHonoHandler(options: FetchReceiverOptions): (context: HonoContext) => Promise<Response> {
  const handle = toFetchHandler(options);
  return ({ req }) => handle(req.raw);
}
