import { EgressError } from '@svc/egress-guard/fetch';
import { NodeFailure, type Workflow } from './workflow.ts';

/**
 * Makes one HTTP GET to `url` through the egress guard, with the secret `bearer` of the tenant as its bearer token if
 * it is named. A denied URL fails the node. The failure does not say why the address was denied.
 */
export const fetch: Workflow = {
  refuse({ url, bearer }) {
    if (typeof url !== 'string' || url.length > MOST_URL || !URL.canParse(url)) {
      return { field: 'inputs.url', problem: `must be a URL of at most ${MOST_URL} characters` };
    }
    if (bearer === undefined || typeof bearer === 'string') return undefined;
    return { field: 'inputs.bearer', problem: 'must be the name of a secret' };
  },
  run: ({ url, bearer }, { node }) =>
    node('fetch', 'sample.fetch', async ({ fetch, secret, signal }) => {
      const token = typeof bearer === 'string' ? await secret(bearer) : undefined;
      if (token === undefined && bearer !== undefined) throw noSecret();
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(String(url), { headers }).catch((error: unknown) => {
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

const MOST_URL = 2048;
const MOST_TEXT = 65_536;

function noSecret(): NodeFailure {
  const message = 'The tenant has no secret of this name. Store it under byok/secrets.';
  return new NodeFailure({ code: 'credential_required', message, retryable: false });
}

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
