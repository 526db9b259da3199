import { type FetchReceiverOptions, toFetchHandler } from './fetch.ts';

/** The part of Hono's context that the handler reads. */
export interface HonoContext {
  /** Hono's request, with the Web `Request` in `raw`. */
  readonly req: { readonly raw: Request };
}

/**
 * Makes a receiver for a Hono route. It reads the body itself, so no middleware may read it before.
 *
 * @returns a handler; it rejects with a TypeError when the body of the request was already read
 * @throws {TypeError} when an option is invalid
 * @example
 * import { toHonoHandler } from '@svc/webhook-verify/hono';
 * import { Hono } from 'hono';
 *
 * const secret = process.env.WEBHOOK_SECRET;
 * const app = new Hono();
 * app.post('/webhooks', toHonoHandler({ secret, onDelivery: ({ eventType }) => console.log(eventType) }));
 */
export function toHonoHandler(options: FetchReceiverOptions): (context: HonoContext) => Promise<Response> {
  const handle = toFetchHandler(options);
  return ({ req }) => handle(req.raw);
}
