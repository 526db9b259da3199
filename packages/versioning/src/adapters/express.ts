import type { IncomingMessage, ServerResponse } from 'node:http';
import { settle, verdictOfTarget } from './node-verdict.ts';
import {
  type NegotiatedOperation,
  requireVersioningOptions,
  VERSIONING_OPTIONS,
  type VersioningOptions,
} from './verdict.ts';

export { type NegotiatedRequest, operationOf } from './negotiated-request.ts';
export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

declare global {
  namespace Express {
    /** Every request of Express. */
    interface Request {
      /** The operation. Set by `versioning`; undefined on a path outside the protocol. */
      svc?: NegotiatedOperation | undefined;
    }
  }
}

/** The part of Express's request that the middleware uses. */
export interface ExpressRequest extends IncomingMessage {
  /** The request target as received. Express removes the mount path of a router from `url`. */
  readonly originalUrl?: string;
  /** The operation, set by {@link versioning}; undefined on a path outside the protocol. */
  svc?: NegotiatedOperation | undefined;
}

/**
 * Creates an Express middleware for version negotiation. `request.svc` is the operation; `operationOf(request)` is the
 * same without `undefined` in its type. Requests that the versioning rules reject never reach the next handler.
 *
 * @example
 * import { served } from '@svc/versioning';
 * import { versioning, operationOf } from '@svc/versioning/express';
 * import express from 'express';
 *
 * const app = express();
 * app.use(versioning({ served: served({ versions: ['1.1', '2.0'], preferred: '1.1' }) }));
 * app.get('/v1/runs/:id', (request, response) => {
 *   response.json(operationOf(request).params);
 * });
 */
export function versioning(
  options: VersioningOptions,
): (request: ExpressRequest, response: ServerResponse, next: () => void) => void {
  requireVersioningOptions(options, VERSIONING_OPTIONS);
  return (request, response, next) => {
    const found = settle(verdictOfTarget(request, request.originalUrl ?? request.url ?? '', options), response);
    if (found === 'answered') return;
    if (found !== 'foreign') request.svc = found;
    next();
  };
}
