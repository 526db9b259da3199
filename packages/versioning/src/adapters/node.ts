import type { IncomingMessage, ServerResponse } from 'node:http';
import { settle, verdictOfTarget } from './node-verdict.ts';
import {
  type NegotiatedOperation,
  requireVersioningOptions,
  VERSIONING_OPTIONS,
  type VersioningOptions,
} from './verdict.ts';

export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

/**
 * Makes a function that negotiates requests of `node:http`. It sends the response to a request that the versioning rules
 * reject; for an operation, it sets `SVC-Version` and the retirement headers on the response.
 *
 * @returns a function that returns the operation; `foreign` for a path outside the protocol; `answered` when it has sent
 * the response
 * @throws {TypeError} when an option is unknown
 * @example
 * import { createServer } from 'node:http';
 * import { served } from '@svc/versioning';
 * import { versioning } from '@svc/versioning/node';
 *
 * const negotiate = versioning({ served: served({ versions: ['1.1', '2.0'], preferred: '1.1' }) });
 * createServer((request, response) => {
 *   const found = negotiate(request, response);
 *   if (found === 'foreign') response.writeHead(404).end();
 *   else if (found !== 'answered') response.end(found.operation.operationId);
 * });
 */
export function versioning(
  options: VersioningOptions,
): (request: IncomingMessage, response: ServerResponse) => NegotiatedOperation | 'foreign' | 'answered' {
  requireVersioningOptions(options, VERSIONING_OPTIONS);
  return (request, response) => settle(verdictOfTarget(request, request.url ?? '', options), response);
}
