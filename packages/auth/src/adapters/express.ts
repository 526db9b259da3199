import type { ServerResponse } from 'node:http';
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
export { type GuardedRequest, principalOf } from './guarded-request.ts';
export { type NodeRequest, peerOf } from './node-request.ts';

declare global {
  namespace Express {
    /** Every request of Express. */
    interface Request {
      /** The caller. Set by `guard`; undefined on a route without it. */
      principal?: Principal | undefined;
    }
  }
}

/** The part of Express's request that the guard uses. */
export interface ExpressRequest extends NodeRequest {
  /** The caller. Set by `guard`. */
  principal?: Principal | undefined;
}

/**
 * Makes an Express middleware from a guard. `request.principal` is the caller; `principalOf(request)` is the same
 * without `undefined` in its type. With `optional`, `request.principal` is undefined for a request without a credential.
 *
 * @example
 * import { authenticator } from '@svc/auth';
 * import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
 * import { guard, principalOf } from '@svc/auth/express';
 * import express from 'express';
 *
 * const auth = authenticator({ lanes: [apiKeyLane({ keys: memoryKeyStore([]) })] });
 * const app = express();
 * app.get('/runs', guard({ authenticator: auth, scope: 'runs:read' }), (request, response) => {
 *   response.json({ tenant: principalOf(request).tenancy.tenant });
 * });
 */
export function guard(
  options: GuardOptions | OptionalGuardOptions,
): (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void) => void {
  requireGuardOptions('guard', options, GUARD_OPTIONS);
  const admit = admittance(options);
  return (request, response, next) => {
    admit(headOf(request)).then((verdict) => {
      if (!settled(verdict, response)) return;
      request.principal = verdict.principal;
      next();
    }, next);
  };
}
