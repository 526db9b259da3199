import type { Context, MiddlewareHandler } from 'hono';
import { withoutOperation } from './negotiated-request.ts';
import {
  type NegotiatedOperation,
  requireVersioningOptions,
  VERSIONING_OPTIONS,
  type VersioningOptions,
  verdictOn,
} from './verdict.ts';

export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The operation. Set by `versioning`; undefined on a path outside the protocol. */
    svc?: NegotiatedOperation | undefined;
  }
}

/** The variables that `versioning` sets, for `new Hono<{ Variables: VersioningVariables }>()`. */
export interface VersioningVariables {
  /** The operation; undefined on a path outside the protocol. */
  svc: NegotiatedOperation | undefined;
}

/**
 * Creates a Hono middleware for version negotiation. `c.get('svc')` is the operation; `operationOf(c)` is the same
 * without `undefined` in its type. `SVC-Version` and the retirement headers are added to the response. Requests that
 * the versioning rules reject never reach the handler.
 *
 * @example
 * import { served } from '@svc/versioning';
 * import { versioning, operationOf } from '@svc/versioning/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.use(versioning({ served: served({ versions: ['1.1', '2.0'], preferred: '1.1' }) }));
 * app.get('/v1/runs/:id', (c) => c.json(operationOf(c).params));
 */
export function versioning(options: VersioningOptions): MiddlewareHandler<{ Variables: VersioningVariables }> {
  requireVersioningOptions(options, VERSIONING_OPTIONS);
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

/**
 * Returns the operation that a request names.
 *
 * @throws {TypeError} on a path outside the protocol, and when no negotiation has run for the request
 * @example
 * app.get('/v1/runs/:id', (c) => c.json(operationOf(c).params));
 */
export function operationOf(context: Context): NegotiatedOperation {
  const svc: NegotiatedOperation | undefined = context.get('svc');
  return svc ?? withoutOperation("c.get('svc')");
}
