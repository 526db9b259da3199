import { type GuardOptions, guard } from '../guard.ts';
import type { Principal } from '../principal.ts';
import type { Peer } from '../request-head.ts';
import { headOf } from './fetch.ts';

export type { GuardOptions } from '../guard.ts';

/** What is needed of Hono's context. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  res: Response;
  set(key: 'principal', value: Principal): void;
}

export interface HonoGuardOptions extends GuardOptions {
  /** Who is at the other end, where the platform tells; e.g. `(c) => peerOf(c.env.incoming.socket)` on Node. */
  readonly peerOf?: (context: HonoContext) => Peer | undefined;
}

/**
 * A guard as a Hono middleware: `context.get('principal')` is the caller.
 *
 * @example
 * app.get('/runs', guarded({ authenticator: auth, scope: 'runs:read' }), (c) => c.json(runsOf(c.get('principal').tenancy)));
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
