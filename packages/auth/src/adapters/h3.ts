import type { ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import {
  admittance,
  GUARD_OPTIONS,
  type GuardOptions,
  type OptionalGuardOptions,
  requireGuardOptions,
} from '../guard.ts';
import type { Principal } from '../principal.ts';
import type { RequestHead } from '../request-head.ts';
import { headOf as headOfWeb, refusedResponse } from './fetch.ts';
import { unguarded } from './guarded-request.ts';
import { headOf as headOfNode, type NodeRequest } from './node-request.ts';
import { settled } from './settled.ts';

export type { GuardOptions, OptionalGuardOptions } from '../guard.ts';

/** The part of an event that the guard uses. Both major versions of h3 fit. */
export interface GuardableEvent {
  /** The request and the response of Node. In version 2, undefined on other runtimes. */
  readonly node?:
    | {
        /** The request of Node. */
        readonly req: NodeRequest | Http2ServerRequest;
        /** The response of Node. */
        readonly res?: ServerResponse | Http2ServerResponse | undefined;
      }
    | undefined;
  /** The Web request of version 2. */
  readonly req?: unknown;
  /** The response of version 2. */
  readonly res?: unknown;
}

/**
 * Makes a guard for h3 and Nitro, versions 1 and 2 of h3. `principalOf(event)` is the caller. In version 2 it is a
 * middleware: `defineHandler({ middleware: [guard], handler })` or `app.use('/runs/**', guard)`. In version 1, and so in
 * Nitro 2 and Nuxt, it is a hook: `defineEventHandler({ onRequest: [guard], handler })`, or a file of `server/middleware`
 * with `defineEventHandler(guard)`.
 *
 * @example
 * const guard = guard({ authenticator: auth, scope: 'runs:read' });
 * app.get('/runs', defineHandler({ middleware: [guard], handler: (event) => runsOf(principalOf(event).tenancy) }));
 */
export function guard(
  options: GuardOptions | OptionalGuardOptions,
): (event: GuardableEvent) => Promise<Response | undefined> {
  requireGuardOptions('guard', options, GUARD_OPTIONS);
  const admit = admittance(options);
  return async (event) => {
    const verdict = await admit(headIn(event));
    if (verdict.admitted) CALLERS.set(event, verdict.principal);
    if (isWebRequest(event.req)) {
      if (!verdict.admitted) return refusedResponse(verdict.refusal);
      if (hasHeaders(event.res))
        for (const [name, value] of Object.entries(verdict.headers)) event.res.headers.set(name, value);
      return undefined;
    }
    if (event.node?.res === undefined) throw new TypeError(NO_EVENT);
    settled(verdict, event.node.res);
    return undefined;
  };
}

/**
 * Returns the caller of a guarded event.
 *
 * @throws {TypeError} when no guard has run for the event, or it has admitted a request without a credential
 * @example
 * const { tenancy } = principalOf(event);
 */
export function principalOf(event: GuardableEvent): Principal {
  return callerOf(event) ?? unguarded('principalOf(event)');
}

/**
 * Returns the caller of an event, where a credential is optional. Undefined for a request without one, or without a
 * guard.
 *
 * @example
 * const tenant = callerOf(event)?.tenancy.tenant ?? 'public';
 */
export function callerOf(event: GuardableEvent): Principal | undefined {
  return CALLERS.get(event);
}

/** Not in the context of the event: contexts are shared and written by other code. */
const CALLERS = new WeakMap<object, Principal | undefined>();

/** The request of Node is preferred: it has the address, the certificate and each repeat of a header. */
function headIn({ req, node }: GuardableEvent): RequestHead {
  if (node !== undefined) return headOfNode(node.req);
  if (isWebRequest(req)) return headOfWeb(req, { address: typeof req.ip === 'string' ? req.ip : undefined });
  throw new TypeError(NO_EVENT);
}

const NO_EVENT = 'guard: its argument must be an event of h3. Pass the guard as a middleware or as onRequest.';

function isWebRequest(req: unknown): req is Request & { readonly ip?: unknown } {
  return typeof req === 'object' && req !== null && 'headers' in req && hasGet(req.headers);
}

function hasGet(headers: unknown): boolean {
  return typeof headers === 'object' && headers !== null && 'get' in headers && typeof headers.get === 'function';
}

function hasHeaders(res: unknown): res is { readonly headers: Headers } {
  return typeof res === 'object' && res !== null && 'headers' in res && hasGet(res.headers);
}
