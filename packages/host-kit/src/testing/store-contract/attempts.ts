import type { AttemptRecord } from '../../ports/attempts.ts';
import type { StoreContract } from './contract.ts';
import { TENANCY, withSubscriptions } from './samples.ts';

/** Tests of `AttemptLog`. */
export function attemptsContract({ onStore, assert }: StoreContract): void {
  onStore('the last 100 attempts are listed, newest first', async (store) => {
    await withSubscriptions(store, 'whk_1');
    for (let at = 0; at < 260; at++) {
      await store.transaction((transaction) => store.attempts.record([attempt(at)], transaction));
    }
    assert.deepEqual(await store.attempts.list('whk_1', 2), [attempt(259), attempt(258)]);
    assert.deepEqual((await store.attempts.list('whk_1', 1000)).length, 100);
  });

  onStore('attempts for a subscription that does not exist or was removed are ignored', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const record = () =>
      store.transaction((transaction) =>
        store.attempts.record([attempt(1), { ...attempt(1), webhookId: 'whk_9' }], transaction),
      );
    await record();
    assert.deepEqual(await store.attempts.list('whk_1', 10), [attempt(1)]);
    await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction));
    assert.deepEqual(await store.attempts.list('whk_1', 10), []);
    await record();
    for (const webhookId of ['whk_1', 'whk_9']) assert.deepEqual(await store.attempts.list(webhookId, 10), []);
  });
}

function attempt(at: number): AttemptRecord {
  return {
    deliveryId: 'dlv_1',
    webhookId: 'whk_1',
    runId: 'run_1',
    sequence: 1,
    eventType: 'run.completed',
    attempt: 1,
    at,
    durationMs: 1.5,
    outcome: 'failed',
    status: at % 2 === 0 ? 500 : undefined,
    reason: at % 2 === 0 ? undefined : 'timeout',
    ...(at % 3 === 0 && {
      phases: [
        { phase: 'resolve', durationMs: 0.125 },
        { phase: 'connect', durationMs: 1 },
      ],
    }),
  };
}
