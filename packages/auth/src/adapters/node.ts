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
import { headOf, type NodeRequest } from './node-request.ts';
import { settled } from './settled.ts';

export type { GuardOptions, OptionalGuardOptions } from '../guard.ts';
export { type NodeRequest, peerOf } from './node-request.ts';

/** The caller of an admitted request, where a credential is optional. */
export interface OptionalCaller {
  /** The caller. Undefined for a request without a credential. */
  readonly principal: Principal | undefined;
}

/**
 * Makes a guard for `node:http` and `node:http2`. It answers a refused request itself.
 *
 * @returns the caller, or undefined when the request has been answered. With `optional`, an object with the caller, who
 * may be undefined there.
 * @throws {Error} on a request, the error that `onError` or `refuse` throws
 * @example
 * const admitted = guard({ authenticator: auth, scope: 'runs:read' });
 * createServer(async (request, response) => {
 *   const principal = await admitted(request, response);
 *   if (principal !== undefined) handle(request, response, principal);
 * });
 */
export function guard(options: GuardOptions): NodeGuard<Principal>;
export function guard(options: OptionalGuardOptions): NodeGuard<OptionalCaller>;
export function guard(options: GuardOptions | OptionalGuardOptions): NodeGuard<Principal | OptionalCaller> {
  requireGuardOptions('guard', options, GUARD_OPTIONS);
  const admit = admittance(options);
  return async (request, response) => {
    const verdict = await admit(headOf(request));
    if (!settled(verdict, response)) return undefined;
    return options.optional === true ? { principal: verdict.principal } : verdict.principal;
  };
}

/** A guard of `guard`: returns undefined when it has answered the request. */
export type NodeGuard<Caller> = (
  request: NodeRequest | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
) => Promise<Caller | undefined>;
