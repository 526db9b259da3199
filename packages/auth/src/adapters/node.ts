import type { ServerResponse } from 'node:http';
import { type Admittance, admittance, GUARD_OPTIONS, type GuardOptions } from '../guard.ts';
import { requireKnown } from '../known-options.ts';
import type { Principal } from '../principal.ts';
import { headOf, type NodeRequest } from './node-request.ts';

export type { GuardOptions } from '../guard.ts';
export { type NodeRequest, peerOf } from './node-request.ts';

/**
 * Makes a guard for `node:http`. It answers a refused request itself.
 *
 * @returns the caller, or undefined when the request has been answered
 * @example
 * const admitted = nodeGuard({ authenticator: auth, scope: 'runs:read' });
 * createServer(async (request, response) => {
 *   const principal = await admitted(request, response);
 *   if (principal !== undefined) handle(request, response, principal);
 * });
 */
export function nodeGuard(
  options: GuardOptions,
): (request: NodeRequest, response: ServerResponse) => Promise<Principal | undefined> {
  requireKnown('nodeGuard', options, GUARD_OPTIONS);
  const admit = admittance(options);
  return async (request, response) => settle(await admit(headOf(request)), response);
}

function settle(verdict: Admittance, response: ServerResponse): Principal | undefined {
  const { headers } = verdict.admitted ? verdict : verdict.refusal;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (verdict.admitted) return verdict.principal;
  response.writeHead(verdict.refusal.status).end(verdict.refusal.body);
  return undefined;
}
