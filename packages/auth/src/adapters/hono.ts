import type { Context, MiddlewareHandler } from 'hono';
import {
  admittance,
  GUARD_OPTIONS,
  type GuardOptions,
  type OptionalGuardOptions,
  requireGuardOptions,
} from '../guard.ts';
import type { OptionNames } from '../known-options.ts';
import type { Principal } from '../principal.ts';
import type { Peer } from '../request-head.ts';
import { headOf } from './fetch.ts';
import { unguarded } from './guarded-request.ts';

export type { GuardOptions, OptionalGuardOptions } from '../guard.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The caller. Set by `guard`; undefined on a route without it. */
    principal?: Principal | undefined;
  }
}

/** The variables that `guard` sets, for `new Hono<{ Variables: GuardVariables }>()`. */
export interface GuardVariables {
  /** The caller. */
  principal: Principal;
}

/** Options of {@link guard}. */
export interface HonoGuardOptions extends GuardOptions {
  /** Returns the other end of the connection, e.g. `(c) => peerOf(c.env.incoming.socket)` on Node. Default: unknown. */
  readonly peerOf?: (context: Context) => Peer | undefined;
}

/** Options of {@link guard} that also admit requests without a credential. */
export interface HonoOptionalGuardOptions extends OptionalGuardOptions, Pick<HonoGuardOptions, 'peerOf'> {}

/** The variables that {@link guard} sets with `optional`. */
export interface OptionalGuardVariables {
  /** The caller. Undefined for a request without a credential. */
  principal: Principal | undefined;
}

const HONO_GUARD_OPTIONS: OptionNames<HonoGuardOptions> = { ...GUARD_OPTIONS, peerOf: true };

/**
 * Makes a Hono middleware from a guard. `c.get('principal')` is the caller. In the handlers of the same route its type
 * has no `undefined`; elsewhere use `principalOf(c)`, or declare {@link GuardVariables}.
 *
 * @example
 * import { authenticator } from '@svc/auth';
 * import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
 * import { guard } from '@svc/auth/hono';
 * import { Hono } from 'hono';
 *
 * const auth = authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore([]) })] });
 * const app = new Hono();
 * app.get('/runs', guard({ authenticator: auth, scope: 'runs:read' }), (c) =>
 *   c.json({ tenant: c.get('principal').tenancy.tenant }),
 * );
 */
export function guard(options: HonoGuardOptions): MiddlewareHandler<{ Variables: GuardVariables }>;
export function guard(options: HonoOptionalGuardOptions): MiddlewareHandler<{ Variables: OptionalGuardVariables }>;
export function guard(
  options: HonoGuardOptions | HonoOptionalGuardOptions,
): MiddlewareHandler<{ Variables: GuardVariables }> | MiddlewareHandler<{ Variables: OptionalGuardVariables }> {
  requireGuardOptions('guard', options, HONO_GUARD_OPTIONS);
  const admit = admittance(options);
  const handler: MiddlewareHandler<{ Variables: OptionalGuardVariables }> = async (context, next) => {
    const verdict = await admit(headOf(context.req.raw, options.peerOf?.(context)));
    if (!verdict.admitted) {
      const { status, headers, body } = verdict.refusal;
      return new Response(body, { status, headers });
    }
    context.set('principal', verdict.principal);
    await next();
    for (const [name, value] of Object.entries(verdict.headers)) context.res.headers.set(name, value);
    return undefined;
  };
  return handler;
}

/**
 * Returns the caller of a guarded request.
 *
 * @throws {TypeError} when no guard has run for the request, which is a mistake in the program
 * @example
 * app.use('/runs/*', guard({ authenticator: auth }));
 * app.get('/runs/list', (c) => c.json(runsOf(principalOf(c).tenancy)));
 */
export function principalOf(context: Context): Principal {
  const principal: Principal | undefined = context.get('principal');
  return principal ?? unguarded("c.get('principal')");
}
