import { type NegotiatedOperation, type VersioningOptions, verdictOn } from './verdict.ts';

export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

/** The part of Hono's context that the middleware uses. */
export interface HonoContext {
  /** Hono's request, whose `raw` is the Web request. */
  readonly req: { readonly raw: Request };
  /** The response of the handler, to which the headers are added. */
  res: Response;
  /** Stores the negotiated operation for the handler. */
  set(key: 'svc', value: NegotiatedOperation): void;
}

/**
 * Creates a Hono middleware for version negotiation. `context.get('svc')` returns the operation; `SVC-Version` and the
 * retirement headers are added to its response. Requests that the versioning rules reject never reach the handler.
 *
 * @example
 * import { served } from '@svc/versioning';
 * import { type NegotiatedOperation, versioning } from '@svc/versioning/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono<{ Variables: { svc: NegotiatedOperation } }>();
 * app.use(versioning({ served: served({ versions: ['1.1', '2.0'], preferred: '1.1' }) }));
 */
export function versioning(
  options: VersioningOptions,
): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined> {
  return async (context, next) => {
    const { raw } = context.req;
    const { pathname, search } = new URL(raw.url);
    const verdict = verdictOn({ method: raw.method, target: pathname + search, headers: raw.headers }, options);
    if (verdict.kind === 'answered') {
      const { status, headers, body } = verdict;
      return new Response(body === '' ? null : body, { status, headers });
    }
    if (verdict.kind === 'operation') context.set('svc', verdict.negotiation);
    await next();
    if (verdict.kind === 'operation') for (const [name, value] of verdict.headers) context.res.headers.set(name, value);
    return undefined;
  };
}
