import { once } from 'node:events';
import { createHost } from '@svc/host-kit';
import { guardedTransport, repeat } from './receivers.mjs';
import { runOf, SECRET_KEY, subscriptionOf } from './records.mjs';

export const AT_ONCE = 64;
const PAYLOAD = { nodeId: 'n', outputs: 'x'.repeat(160) };
/** The workspace whose runs match every subscription. */
const SHARED = 'shared';

/**
 * Seeds the store of a host: `subscriptions` subscriptions, each with a workspace and a run of its own, and as many
 * runs of a workspace that all subscriptions match.
 *
 * @param tenantOf returns the tenant of the subscription and the runs with a number
 * @returns the ids of both kinds of runs
 */
export async function seed(store, { subscriptions, port, path, prefix = '', tenantOf = () => 'acme' }) {
  const own = [];
  const shared = [];
  for (let from = 0; from < subscriptions; from += STEP) {
    await store.transaction(async (transaction) => {
      for (let index = from; index < Math.min(from + STEP, subscriptions); index += 1) {
        const workspace = `${prefix}w${index}`;
        own.push(`run_${prefix}own_${index}`);
        shared.push(`run_${prefix}shared_${index}`);
        await store.runs.insert(runOf(own[index], workspace, tenantOf(index)), transaction);
        await store.runs.insert(runOf(shared[index], `${prefix}${SHARED}`, tenantOf(index)), transaction);
        const webhookId = `whk_${prefix}${index}`;
        const workspaces = [workspace, `${prefix}${SHARED}`];
        await store.subscriptions.insert(
          subscriptionOf({ webhookId, workspaces, port, path, tenant: tenantOf(index) }),
          transaction,
        );
      }
    });
  }
  return { own, shared };
}

const STEP = 500;

/**
 * Starts a host on a store, with the real egress guard. A failed delivery ends the benchmark, unless `mayFail` is set.
 */
export async function startHost(store, { mayFail = false } = {}) {
  const guarded = guardedTransport();
  let answered = 0;
  let waiting;
  let failure;
  const transport = Object.assign(
    async (request) => {
      const verdict = await guarded(request);
      if (verdict.kind === 'answered' && verdict.status === 204) {
        answered += 1;
        if (answered === waiting?.at) waiting.resolve();
      } else if (!mayFail) {
        failure ??= new Error(`A delivery failed: ${JSON.stringify(verdict)}`);
        waiting?.reject(failure);
      }
      return verdict;
    },
    { close: () => guarded.close() },
  );
  const host = createHost({
    store,
    authenticate: [
      { name: 'nobody', advertises: [{ kind: 'api-key', issuer: 'urn:nobody' }], authenticate: () => undefined },
    ],
    engine: { execute: (_run, { signal }) => once(signal, 'abort') },
    secretKey: SECRET_KEY,
    ports: { transport },
    webhooks: { durable: true, concurrency: { total: AT_ONCE, perSubscription: 4 } },
  });
  await host.start();
  let turn = 0;

  function append(runs) {
    turn = (turn + 1) % runs.length;
    return host.events.append(runs[turn], { type: 'node.completed', payload: PAYLOAD });
  }

  return {
    append: (runId) => host.events.append(runId, { type: 'node.completed', payload: PAYLOAD }),
    /** Appends `events` events to the runs in turn, 64 at a time. */
    appendAll: (runs, events) => repeat(events, AT_ONCE, () => append(runs)),
    /** Returns deliveries per second, from the first append to the last response. */
    async perSecond(runs, { events, listeners }) {
      const deliveries = events * listeners;
      const all = new Promise((resolve, reject) => {
        waiting = { at: answered + deliveries, resolve, reject };
      });
      const started = performance.now();
      await Promise.all([repeat(events, AT_ONCE, () => append(runs)), all]);
      return (deliveries / (performance.now() - started)) * 1000;
    },
    stop: () => host.stop(1000),
  };
}
