import type { StoreContract } from './contract.ts';
import { withSubscriptions } from './samples.ts';

/** What every log of attempts must do. */
export function attemptsContract({ onStore, assert }: StoreContract): void {
  onStore('the last attempts are kept, newest first, and no more than the log holds', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const attempt = (at: number) => ({
      deliveryId: 'dlv_1',
      webhookId: 'whk_1',
      runId: 'run_1',
      sequence: 1,
      eventType: 'run.completed',
      attempt: 1,
      at,
      durationMs: 1.5,
      outcome: 'failed' as const,
      status: at % 2 === 0 ? 500 : undefined,
      reason: at % 2 === 0 ? undefined : 'timeout',
    });
    for (let at = 0; at < 260; at++) {
      await store.transaction((transaction) => store.attempts.record([attempt(at)], transaction));
    }
    assert.deepEqual(await store.attempts.list('whk_1', 2), [attempt(259), attempt(258)]);
    assert.deepEqual((await store.attempts.list('whk_1', 1000)).length, 100);
    await store.transaction((transaction) =>
      store.attempts.record([{ ...attempt(1), webhookId: 'whk_9' }], transaction),
    );
  });
}
