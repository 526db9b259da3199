import type { IncomingMessage, ServerResponse } from 'node:http';
import { requireKnown } from '../known-options.ts';
import { settle, verdictOfTarget } from './node-verdict.ts';
import { type NegotiatedOperation, VERSIONING_OPTIONS, type VersioningOptions } from './verdict.ts';

export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

/**
 * Negotiates a request of `node:http`. Sends the response to a request that the versioning rules reject; for an
 * operation, sets `SVC-Version` and the retirement headers on the response.
 *
 * @returns the operation; `foreign` for a path outside the protocol; `answered` when the response has been sent
 * @example
 * import { createServer } from 'node:http';
 * import { served } from '@svc/versioning';
 * import { negotiateRequest } from '@svc/versioning/node';
 *
 * const protocol = served({ versions: ['1.1', '2.0'], preferred: '1.1' });
 * createServer((request, response) => {
 *   const found = negotiateRequest(request, response, { served: protocol });
 *   if (found === 'foreign') response.writeHead(404).end();
 *   else if (found !== 'answered') response.end(found.operation.operationId);
 * });
 */
export function negotiateRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: VersioningOptions,
): NegotiatedOperation | 'foreign' | 'answered' {
  requireKnown('negotiateRequest', options, VERSIONING_OPTIONS);
  return settle(verdictOfTarget(request, request.url ?? '', options), response);
}
