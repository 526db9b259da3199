import { type NegotiatedOperation, type VersioningOptions, verdictOn } from './verdict.ts';

export type { NegotiatedOperation, VersioningOptions } from './verdict.ts';

export interface FetchVersioningOptions extends VersioningOptions {
  /** Answers what is an operation; the response is stamped. */
  readonly operation: (request: Request, negotiation: NegotiatedOperation) => Response | Promise<Response>;
  /** Answers everything else: vendor paths, pages. Default: 404 without a word. */
  readonly foreign?: (request: Request) => Response | Promise<Response>;
}

/**
 * Negotiation in front of a handler of Web requests. What the versioning rules refuse is answered here.
 *
 * @example
 * export default { fetch: withVersioning({ served: protocol, operation: (request, { major }) => … }) };
 */
export function withVersioning(options: FetchVersioningOptions): (request: Request) => Promise<Response> {
  const { operation, foreign = () => new Response(null, { status: 404 }) } = options;
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

/** A copy, since the headers of some responses cannot be changed. */
function stamped(response: Response, stamp: Headers): Response {
  const copy = new Response(response.body, response);
  for (const [name, value] of stamp) copy.headers.set(name, value);
  return copy;
}
