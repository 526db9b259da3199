import {
  admittance,
  GUARD_OPTIONS,
  type Guard,
  type GuardOptions,
  type OptionalGuardOptions,
  requireGuardOptions,
} from '../guard.ts';
import type { OptionNames } from '../known-options.ts';
import type { Principal } from '../principal.ts';
import type { Peer } from '../request-head.ts';
import { headOf, refusedResponse, withHeaders } from './fetch.ts';

export type { GuardOptions, OptionalGuardOptions } from '../guard.ts';

/** Tells the other end of the connection, which Next.js does not give. */
export interface NextPeer {
  /**
   * Returns the other end of the connection, e.g. from a header that your proxy always overwrites. Default: unknown, so
   * that refusals are counted for all clients together.
   */
  readonly peerOf?: (request: Request) => Peer | undefined;
}

/** Options of {@link guard}. */
export interface NextGuardOptions extends GuardOptions, NextPeer {}

/** Options of {@link guard} that also admit requests without a credential. */
export interface NextOptionalGuardOptions extends OptionalGuardOptions, NextPeer {}

/** A route handler or a middleware. Its first two arguments are those of Next.js; `Context` has the `params`. */
export type NextHandler<Incoming extends Request, Context, Caller> = (
  request: Incoming,
  context: Context,
  principal: Caller,
) => Response | Promise<Response>;

/** A handler as Next.js calls it. */
export type NextRoute<Incoming extends Request, Context> = (request: Incoming, context: Context) => Promise<Response>;

const NEXT_GUARD_OPTIONS: OptionNames<NextGuardOptions> = { ...GUARD_OPTIONS, peerOf: true };

/**
 * Puts a guard before a route handler of Next.js, or before its middleware (`proxy.ts`). The third argument of the handler
 * is the caller; the others are those of Next.js. Guard each route: a middleware alone does not see every way to a route,
 * and it hands no caller to it.
 *
 * @example
 * import { authenticator } from '@svc/auth';
 * import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
 * import { guard } from '@svc/auth/next';
 *
 * const auth = authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore([]) })] });
 * interface Context { params: Promise<{ id: string }> }
 * // app/runs/[id]/route.ts
 * export const GET = guard({ authenticator: auth, scope: 'runs:read' }, async (_, { params }: Context, { tenancy }) =>
 *   Response.json({ id: (await params).id, tenant: tenancy.tenant }),
 * );
 */
export function guard<Incoming extends Request, Context>(
  options: NextGuardOptions,
  handler: NextHandler<Incoming, Context, Principal>,
): NextRoute<Incoming, Context>;
export function guard<Incoming extends Request, Context>(
  options: NextOptionalGuardOptions,
  handler: NextHandler<Incoming, Context, Principal | undefined>,
): NextRoute<Incoming, Context>;
export function guard<Incoming extends Request, Context>(
  ...pair: Guarded<Incoming, Context>
): NextRoute<Incoming, Context> {
  requireGuardOptions('guard', pair[0], NEXT_GUARD_OPTIONS);
  const { peerOf } = pair[0];
  return isOptional(pair) ? behind(admittance(pair[0]), pair[1], peerOf) : behind(admittance(pair[0]), pair[1], peerOf);
}

/** The arguments of both signatures of {@link guard}. */
type Guarded<Incoming extends Request, Context> =
  | [NextGuardOptions, NextHandler<Incoming, Context, Principal>]
  | OptionallyGuarded<Incoming, Context>;
type OptionallyGuarded<Incoming extends Request, Context> = [
  NextOptionalGuardOptions,
  NextHandler<Incoming, Context, Principal | undefined>,
];

function isOptional<Incoming extends Request, Context>(
  pair: Guarded<Incoming, Context>,
): pair is OptionallyGuarded<Incoming, Context> {
  return pair[0].optional === true;
}

function behind<Incoming extends Request, Context, Caller>(
  admit: Guard<Caller>,
  handler: NextHandler<Incoming, Context, Caller>,
  peerOf: NextPeer['peerOf'],
): NextRoute<Incoming, Context> {
  return async (request, context) => {
    const verdict = await admit(headOf(request, peerOf?.(request)));
    if (!verdict.admitted) return refusedResponse(verdict.refusal);
    return withHeaders(await handler(request, context, verdict.principal), verdict.headers);
  };
}
