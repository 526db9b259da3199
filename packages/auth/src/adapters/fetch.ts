import { admittance, GUARD_OPTIONS, type GuardOptions } from '../guard.ts';
import { requireKnown } from '../known-options.ts';
import type { Principal } from '../principal.ts';
import type { Peer, RequestHead } from '../request-head.ts';

export type { GuardOptions } from '../guard.ts';

/**
 * Puts a guard before a Web handler. The handler is called for admitted callers only, with their principal.
 *
 * @returns a handler whose second argument is the peer. Client certificates and client addresses need it; pass it where
 * the platform gives it.
 * @example
 * export const GET = guarded({ authenticator: auth, scope: 'runs:read' }, (request, principal) =>
 *   Response.json(runsOf(principal.tenancy)),
 * );
 */
export function guarded(
  options: GuardOptions,
  handler: (request: Request, principal: Principal) => Response | Promise<Response>,
): (request: Request, peer?: Peer) => Promise<Response> {
  requireKnown('guarded', options, GUARD_OPTIONS);
  const admit = admittance(options);
  return async (request, peer) => {
    const verdict = await admit(headOf(request, peer));
    if (!verdict.admitted) {
      const { status, headers, body } = verdict.refusal;
      return new Response(body, { status, headers });
    }
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

/** Copies the response: the headers of a response from `fetch` are immutable. */
function withHeaders(response: Response, headers: Readonly<Record<string, string>>): Response {
  const named = Object.entries(headers);
  if (named.length === 0) return response;
  const merged = new Headers(response.headers);
  for (const [name, value] of named) merged.set(name, value);
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers: merged });
}
