import { EgressError } from '@svc/egress-guard/fetch';
import { EffectNotMade, EffectUnsettled, type JsonObject } from '@svc/host-kit';
import { NodeFailure, type NodeWork, type Workflow } from './workflow.ts';

/**
 * Posts an order to `url` once, however often the workflow is run for the same `order`. A repeated run returns the
 * stored answer. With `isRepeatable` an attempt whose outcome is unknown is repeated with the same `Idempotency-Key`.
 */
export const pay: Workflow = {
  refuse({ url, order, isRepeatable = false }) {
    if (typeof url !== 'string' || url.length > MOST_URL || !URL.canParse(url)) {
      return { field: 'inputs.url', problem: `must be a URL of at most ${MOST_URL} characters` };
    }
    if (typeof order !== 'string' || !/^[A-Za-z0-9._-]{1,64}$/.test(order)) {
      return { field: 'inputs.order', problem: 'must be 1 to 64 characters of A-Z a-z 0-9 . _ -' };
    }
    return typeof isRepeatable === 'boolean'
      ? undefined
      : { field: 'inputs.isRepeatable', problem: 'must be a boolean' };
  },
  run: ({ url, order, isRepeatable }, { node }) =>
    node('pay', 'sample.pay', async (work) => {
      const request = { provider: 'sample:pay', identity: { key: String(order) }, isRepeatable: isRepeatable === true };
      try {
        return await work.effect(request, ({ effectId }) =>
          post(work, String(url), { order: String(order) }, effectId),
        );
      } catch (error) {
        work.signal.throwIfAborted();
        throw failureOf(error);
      }
    }),
};

const MOST_URL = 2048;
const MOST_TEXT = 65_536;

/** @throws {EffectNotMade} when the request was not sent, or the provider rejected it */
async function post({ fetch }: NodeWork, url: string, order: JsonObject, effectId: string): Promise<JsonObject> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': effectId };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(order) }).catch(
    (error: unknown) => {
      if (EgressError.is(error) && NEVER_SENT.has(error.code)) throw new EffectNotMade(error.message);
      throw error;
    },
  );
  const answer = (await response.text()).slice(0, MOST_TEXT);
  if (response.ok) return { status: response.status, answer };
  const message = `The provider answered ${response.status}.`;
  throw response.status < 500 ? new EffectNotMade(message) : new Error(message);
}

const NEVER_SENT: ReadonlySet<string> = new Set(['url_rejected', 'destination_unavailable']);

function failureOf(error: unknown): unknown {
  if (error instanceof EffectUnsettled) {
    const code = error.state === 'claimed' ? 'idempotency_in_flight' : 'upstream_unavailable';
    return new NodeFailure({ code, message: error.message, retryable: error.state === 'claimed' });
  }
  if (!(error instanceof Error) || error instanceof TypeError) return error;
  const { message } = error;
  return new NodeFailure({ code: 'upstream_unavailable', message, retryable: error instanceof EffectNotMade });
}
