import { type GuardOptions, guard } from '../guard.ts';
import type { Principal } from '../principal.ts';
import type { Peer } from '../request-head.ts';
import { headOf } from './fetch.ts';

export type { GuardOptions } from '../guard.ts';

/** The part of Hono's context that the guard uses. */
export interface HonoContext {
  /** The request, as Hono holds it. */
  readonly req: {
    /** The Web request. */
    readonly raw: Request;
  };
  /** The response. The guard adds its headers. */
  res: Response;
  /** Stores the principal for the handlers. */
  set(key: 'principal', value: Principal): void;
}

/** Options of `guarded`. */
export interface HonoGuardOptions extends GuardOptions {
  /** Returns the other end of the connection, e.g. `(c) => peerOf(c.env.incoming.socket)` on Node. Default: unknown. */
  readonly peerOf?: (context: HonoContext) => Peer | undefined;
}

/**
 * Makes a Hono middleware from a guard: `context.get('principal')` is the caller.
 *
 * @example
 * app.get('/runs', guarded({ authenticator: auth, scope: 'runs:read' }), (c) =>
 *   c.json(runsOf(c.get('principal').tenancy)),
 * );
 */
export function guarded(
  options: HonoGuardOptions,
): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined> {
  const admittance = guard(options);
  return async (context, next) => {
    const verdict = await admittance(headOf(context.req.raw, options.peerOf?.(context)));
    if (!verdict.admitted) {
      const { status, headers, body } = verdict.refusal;
      return new Response(body, { status, headers });
    }
    context.set('principal', verdict.principal);
    await next();
    for (const [name, value] of Object.entries(verdict.headers)) context.res.headers.set(name, value);
    return undefined;
  };
}
