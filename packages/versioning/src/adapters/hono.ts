import { type NegotiatedOperation, type VersioningOptions, verdictOn } from './verdict.ts';

export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

/** What is needed of Hono's context. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  res: Response;
  set(key: 'svc', value: NegotiatedOperation): void;
}

/**
 * Negotiation as a Hono middleware: `context.get('svc')` is the operation, and its response is stamped.
 *
 * @example
 * app.use(versioning({ served: protocol }));
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
