import { EgressError, type GuardedFetch } from '@svc/egress-guard/fetch';
import { NodeFailure, type Workflow } from './workflow.ts';

/**
 * Makes one HTTP GET to `url` through the egress guard. A denied URL fails the node. The failure does not say why the
 * address was denied.
 */
export function fetchWith(guardedFetch: GuardedFetch): Workflow {
  return {
    refuse({ url }) {
      if (typeof url === 'string' && url.length <= MOST_URL && URL.canParse(url)) return undefined;
      return { field: 'inputs.url', problem: `must be a URL of at most ${MOST_URL} characters` };
    },
    run: ({ url }, { node }) =>
      node('fetch', 'sample.fetch', async ({ signal }) => {
        const response = await guardedFetch(String(url), { signal }).catch((error: unknown) => {
          signal.throwIfAborted();
          throw failureOf(error);
        });
        const text = await response.text();
        return {
          status: response.status,
          contentType: response.headers.get('content-type'),
          body: text.slice(0, MOST_TEXT),
          isTruncated: text.length > MOST_TEXT,
        };
      }),
  };
}

const MOST_URL = 2048;
const MOST_TEXT = 65_536;

/** Passes code and message of the guard on: both are written for the caller who chose the URL, and name no address. */
function failureOf(error: unknown): unknown {
  if (!EgressError.is(error)) return error;
  const { code, message } = error;
  const denied = code === 'url_rejected' || code === 'destination_unavailable';
  return new NodeFailure({
    code: denied ? 'egress_denied' : 'upstream_unavailable',
    message,
    details: { reason: code },
    retryable: !denied,
  });
}
