import type { Context } from 'hono';
import { requireKnown } from '../known-options.ts';
import { fetchReceiver, WEB_OPTIONS, type WebReceiverOptions } from './fetch-receiver.ts';

/** The part of Hono's context that the handler reads. */
export interface HonoContext {
  /** Hono's request, with the Web `Request` in `raw`. */
  readonly req: { readonly raw: Request };
}

/**
 * The options of {@link receiver}. A function for the secret gets the context of Hono. It must not read the body of
 * the request.
 */
export interface HonoReceiverOptions<Received extends HonoContext = Context>
  extends WebReceiverOptions<[context: Received]> {}

/**
 * Makes a receiver for a Hono route. It reads the body itself, so no middleware may read it before.
 *
 * @returns a handler; it rejects with a TypeError when the body of the request was already read
 * @throws {TypeError} when an option is invalid or unknown
 * @example
 * import { receiver } from '@svc/webhook-verify/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono<{ Bindings: { WEBHOOK_SECRET: string } }>();
 * const onDelivery = ({ eventType }: { eventType: string }) => console.log(eventType);
 * app.post('/webhooks', receiver({ secret: (c) => c.env.WEBHOOK_SECRET, onDelivery }));
 */
export function receiver<Received extends HonoContext = Context>(
  options: HonoReceiverOptions<Received>,
): (context: Received) => Promise<Response> {
  requireKnown('receiver', options, WEB_OPTIONS);
  const handle = fetchReceiver(options);
  return (context) => handle(context.req.raw, context);
}
