import type { ServerResponse } from 'node:http';
import { GUARD_OPTIONS, type GuardOptions } from '../guard.ts';
import { requireKnown } from '../known-options.ts';
import type { Principal } from '../principal.ts';
import { nodeGuard } from './node.ts';
import type { NodeRequest } from './node-request.ts';

export type { GuardOptions } from '../guard.ts';
export { type GuardedRequest, principalOf } from './guarded-request.ts';
export { type NodeRequest, peerOf } from './node-request.ts';

declare global {
  namespace Express {
    /** Every request of Express. */
    interface Request {
      /** The caller. Set by `expressGuard`; undefined on a route without it. */
      principal?: Principal | undefined;
    }
  }
}

/** The part of Express's request that the guard uses. */
export interface ExpressRequest extends NodeRequest {
  /** The caller. Set by `expressGuard`. */
  principal?: Principal | undefined;
}

/**
 * Makes an Express middleware from a guard. `request.principal` is the caller; `principalOf(request)` is the same
 * without `undefined` in its type. NestJS on Express uses it with `app.use(…)` or `consumer.apply(…)`.
 *
 * @example
 * import { authenticator } from '@svc/auth';
 * import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
 * import { expressGuard, principalOf } from '@svc/auth/express';
 * import express from 'express';
 *
 * const auth = authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore([]), now: Date.now })] });
 * const app = express();
 * app.get('/runs', expressGuard({ authenticator: auth, scope: 'runs:read' }), (request, response) => {
 *   response.json({ tenant: principalOf(request).tenancy.tenant });
 * });
 */
export function expressGuard(
  options: GuardOptions,
): (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void) => void {
  requireKnown('expressGuard', options, GUARD_OPTIONS);
  const admitted = nodeGuard(options);
  return (request, response, next) => {
    admitted(request, response).then((principal) => {
      if (principal === undefined) return;
      request.principal = principal;
      next();
    }, next);
  };
}
