import {
  admittance,
  GUARD_OPTIONS,
  type Guard,
  type GuardOptions,
  type OptionalGuardOptions,
  requireGuardOptions,
} from '../guard.ts';
import type { Principal } from '../principal.ts';
import type { Refusal } from '../refusal.ts';
import type { Peer, RequestHead } from '../request-head.ts';

export type { GuardOptions, OptionalGuardOptions } from '../guard.ts';

/** A Web handler behind a guard. */
export type GuardedHandler<Caller> = (request: Request, principal: Caller) => Response | Promise<Response>;

/**
 * Puts a guard before a Web handler. The handler is called for admitted callers only, with their principal; with
 * `optional`, also with `undefined`. For Next.js use `@svc/auth/next`, whose handlers get the second argument of Next.js.
 *
 * @returns a handler whose second argument is the peer. Client certificates and client addresses need it; pass it where
 * the platform gives it.
 * @example
 * export const GET = guard({ authenticator: auth, scope: 'runs:read' }, (request, principal) =>
 *   Response.json(runsOf(principal.tenancy)),
 * );
 */
export function guard(
  options: GuardOptions,
  handler: GuardedHandler<Principal>,
): (request: Request, peer?: Peer) => Promise<Response>;
export function guard(
  options: OptionalGuardOptions,
  handler: GuardedHandler<Principal | undefined>,
): (request: Request, peer?: Peer) => Promise<Response>;
export function guard(...pair: Guarded): (request: Request, peer?: Peer) => Promise<Response> {
  requireGuardOptions('guard', pair[0], GUARD_OPTIONS);
  return isOptional(pair) ? behind(admittance(pair[0]), pair[1]) : behind(admittance(pair[0]), pair[1]);
}

/** The arguments of both signatures of {@link guard}. */
type Guarded = [GuardOptions, GuardedHandler<Principal>] | OptionallyGuarded;
type OptionallyGuarded = [OptionalGuardOptions, GuardedHandler<Principal | undefined>];

function isOptional(pair: Guarded): pair is OptionallyGuarded {
  return pair[0].optional === true;
}

function behind<Caller>(
  admit: Guard<Caller>,
  handler: GuardedHandler<Caller>,
): (request: Request, peer?: Peer) => Promise<Response> {
  return async (request, peer) => {
    const verdict = await admit(headOf(request, peer));
    if (!verdict.admitted) return refusedResponse(verdict.refusal);
    const response = await handler(request, verdict.principal);
    return withHeaders(response, verdict.headers);
  };
}

/**
 * Makes a request head from a Web request and its peer.
 *
 * @example
 * const outcome = await auth.authenticate(headOf(request, undefined));
 */
export function headOf({ method, url, headers }: Request, peer: Peer | undefined): RequestHead {
  return { method, url, headers, peer };
}

/**
 * Makes the Web response of a refusal.
 *
 * @example
 * if (outcome.kind === 'refused') return refusedResponse(refusal(outcome.error));
 */
export function refusedResponse({ status, headers, body }: Refusal): Response {
  return new Response(body, { status, headers });
}

/**
 * Copies a response with further headers: those of a response from `fetch` are immutable.
 *
 * @example
 * return withHeaders(await serve(request), verdict.headers);
 */
export function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  const named = Object.entries(headers);
  if (named.length === 0) return response;
  const merged = new Headers(response.headers);
  for (const [name, value] of named) merged.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers: merged });
}
