import type { OptionNames } from '../known-options.ts';
import {
  type NegotiatedOperation,
  requireVersioningOptions,
  VERSIONING_OPTIONS,
  type VersioningOptions,
  verdictOn,
} from './verdict.ts';

export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

/** Options of {@link versioning}. */
export interface FetchVersioningOptions extends VersioningOptions {
  /** Handles a protocol operation. `SVC-Version` and the retirement headers are added to its response. */
  readonly operation: (request: Request, negotiation: NegotiatedOperation) => Response | Promise<Response>;
  /** Handles every other request, for example vendor paths and pages. Default: 404 with an empty body. */
  readonly foreign?: (request: Request) => Response | Promise<Response>;
}

const FETCH_OPTIONS: OptionNames<FetchVersioningOptions> = { ...VERSIONING_OPTIONS, operation: true, foreign: true };

/**
 * Puts version negotiation in front of a handler of Web requests. Requests that the versioning rules reject never reach
 * the handler.
 *
 * @throws {TypeError} when an option is unknown, or `served` or `operation` is missing
 * @example
 * import { served } from '@svc/versioning';
 * import { versioning } from '@svc/versioning/fetch';
 *
 * const fetch = versioning({
 *   served: served({ versions: ['1.1', '2.0'], preferred: '1.1' }),
 *   operation: (_request, { major, operation }) => Response.json({ major, operationId: operation.operationId }),
 * });
 * export default { fetch };
 */
export function versioning(options: FetchVersioningOptions): (request: Request) => Promise<Response> {
  requireVersioningOptions(options, FETCH_OPTIONS);
  const { operation, foreign = () => new Response(null, { status: 404 }) } = options;
  if (typeof operation !== 'function')
    throw new TypeError('versioning: operation must be a function. Pass one that answers a request of the protocol.');
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const verdict = verdictOn({ method: request.method, target: pathname + search, headers: request.headers }, options);
    if (verdict.kind === 'foreign') return foreign(request);
    if (verdict.kind === 'answered') {
      const { status, headers, body } = verdict;
      return new Response(body === '' ? null : body, { status, headers });
    }
    return stamped(await operation(request, verdict.negotiation), verdict.headers);
  };
}

/** Copies the response, because the headers of some responses are immutable. */
function stamped(response: Response, stamp: Headers): Response {
  const copy = new Response(response.body, response);
  for (const [name, value] of stamp) copy.headers.set(name, value);
  return copy;
}
