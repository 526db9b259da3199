import { requireKnown } from '../known-options.ts';
import { fetchReceiver, WEB_OPTIONS, type WebReceiverOptions } from './fetch-receiver.ts';

/**
 * The options of {@link receiver}. A function for the secret gets the request, whose body it must not read, and
 * the further arguments of the platform: in Workers, `env` and `ctx`.
 */
export interface FetchReceiverOptions<Env = unknown, Context = unknown>
  extends WebReceiverOptions<[request: Request, env: Env, context: Context]> {}

/**
 * Makes a receiver for platforms with Web `Request` and `Response`: Next.js, SvelteKit, Remix, Bun, Deno, Workers.
 *
 * @returns a handler; it rejects with a TypeError when the body of the request was already read
 * @throws {TypeError} when an option is invalid or unknown
 * @example
 * import { receiver } from '@svc/webhook-verify/fetch';
 *
 * const secret = process.env.WEBHOOK_SECRET;
 * export const POST = receiver({ secret, onDelivery: ({ eventType }) => console.log(eventType) });
 * @example
 * // Workers have the secret in `env` of the request.
 * import { receiver } from '@svc/webhook-verify/fetch';
 *
 * const fetch = receiver({
 *   secret: (_request, env: { WEBHOOK_SECRET: string }) => env.WEBHOOK_SECRET,
 *   onDelivery: ({ eventType }) => console.log(eventType),
 * });
 * export default { fetch };
 */
export function receiver<Env = unknown, Context = unknown>(
  options: FetchReceiverOptions<Env, Context>,
): (request: Request, env?: Env, context?: Context) => Promise<Response> {
  requireKnown('receiver', options, WEB_OPTIONS);
  const handle = fetchReceiver(options);
  // Only the platform knows its arguments. They are optional, as platforms that pass none must fit the type too.
  return (request, ...platform) => handle(request, request, ...(platform as [Env, Context]));
}
