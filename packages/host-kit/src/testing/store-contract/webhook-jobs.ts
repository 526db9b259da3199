import type { WebhookJob } from '../../ports/webhook-jobs.ts';
import type { StoreContract } from './contract.ts';
import { CLAIM, sampleDelivery, TENANCY, withSubscriptions } from './samples.ts';

/** Tests of `WebhookJobStore`, and of the transfer of dead letters. */
export function webhookJobsContract({ onStore, assert }: StoreContract): void {
  onStore('jobs are read and listed by their subscription, newest first', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const jobs = ['job_1', 'job_2', 'job_3'].map((jobId) => sample({ jobId }));
    await store.transaction(async (transaction) => {
      for (const job of [...jobs, sample({ jobId: 'job_9', webhookId: 'whk_9' })]) {
        await store.webhookJobs.insert(job, transaction);
      }
    });
    assert.deepEqual(await store.webhookJobs.read('whk_1', 'job_2'), jobs[1]);
    assert.deepEqual(await store.webhookJobs.read('whk_2', 'job_2'), undefined);
    assert.deepEqual(await store.webhookJobs.read('whk_9', 'job_9'), undefined);
    const page = (before: string | undefined) => store.webhookJobs.list('whk_1', { before, limit: 2 });
    assert.deepEqual(await page(undefined), [jobs[2], jobs[1]]);
    assert.deepEqual(await page('job_2'), [jobs[0]]);
  });

  onStore('running jobs are due at their next step, and open jobs are counted', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction(async (transaction) => {
      await store.webhookJobs.insert(sample({ jobId: 'job_1', nextStepAt: 20 }), transaction);
      await store.webhookJobs.insert(sample({ jobId: 'job_2', nextStepAt: 10 }), transaction);
      await store.webhookJobs.insert(sample({ jobId: 'job_3', state: 'paused' }), transaction);
      await store.webhookJobs.insert(sample({ jobId: 'job_4', state: 'completed' }), transaction);
    });
    const due = async (now: number, limit: number) =>
      (await store.webhookJobs.due(now, limit)).map(({ jobId }) => jobId);
    assert.deepEqual(await due(19, 10), ['job_2']);
    assert.deepEqual(await due(20, 10), ['job_2', 'job_1']);
    assert.deepEqual(await due(20, 1), ['job_2']);
    const open = await store.transaction((transaction) => store.webhookJobs.countOpen('whk_1', transaction));
    assert.deepEqual(open, 3);
  });

  onStore('a step that only a clock an hour ahead can have planned is due', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction(async (transaction) => {
      await store.webhookJobs.insert(sample({ jobId: 'job_1', nextStepAt: 3_600_000 }), transaction);
      await store.webhookJobs.insert(sample({ jobId: 'job_2', nextStepAt: 10_000 }), transaction);
    });
    assert.deepEqual(
      (await store.webhookJobs.due(0, 10)).map(({ jobId }) => jobId),
      ['job_1'],
    );
  });

  onStore('concurrent changes of a job see each other', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.webhookJobs.insert(sample({}), transaction));
    const count = () =>
      store.transaction((transaction) =>
        store.webhookJobs.change(
          'job_1',
          (job) => ({ ...job, version: job.version + 1, place: { at: job.version }, lookedAt: job.lookedAt + 5 }),
          transaction,
        ),
      );
    await Promise.all([count(), count(), count()]);
    const stored = await store.webhookJobs.read('whk_1', 'job_1');
    assert.deepEqual(stored, sample({ version: 3, place: { at: 2 }, lookedAt: 15 }));
    const unchanged = store.transaction((transaction) =>
      store.webhookJobs.change('job_1', () => undefined, transaction),
    );
    assert.deepEqual(await unchanged, undefined);
    assert.deepEqual(await store.webhookJobs.read('whk_1', 'job_1'), stored);
  });

  onStore('of sixteen additions at once that count first, no more are stored than the limit', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const add = (webhookId: string, jobId: string) =>
      store.transaction(async (transaction) => {
        if ((await store.webhookJobs.countOpen(webhookId, transaction)) >= 5) return false;
        await store.webhookJobs.insert(sample({ jobId, webhookId }), transaction);
        return true;
      });
    const other = add('whk_2', 'job_other');
    const added = await Promise.all(Array.from({ length: 16 }, (_, n) => add('whk_1', `job_${n}`)));
    assert.deepEqual(added.filter((isAdded) => isAdded).length, 5);
    assert.deepEqual((await store.webhookJobs.list('whk_1', { before: undefined, limit: 20 })).length, 5);
    assert.deepEqual(await other, true);
  });

  onStore('jobs are deleted with their subscription, and some time after their end', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    await store.transaction(async (transaction) => {
      await store.webhookJobs.insert(sample({ jobId: 'job_1' }), transaction);
      await store.webhookJobs.insert(sample({ jobId: 'job_2', webhookId: 'whk_2', updatedAt: 5 }), transaction);
      const ended = sample({ webhookId: 'whk_2', state: 'cancelled' });
      await store.webhookJobs.insert({ ...ended, jobId: 'job_3', updatedAt: 9 }, transaction);
      await store.webhookJobs.insert({ ...ended, jobId: 'job_4', updatedAt: 10 }, transaction);
    });
    assert.deepEqual(await store.webhookJobs.sweep(10, 10), 1);
    const left = await store.webhookJobs.list('whk_2', { before: undefined, limit: 10 });
    assert.deepEqual(
      left.map(({ jobId }) => jobId),
      ['job_4', 'job_2'],
    );
    await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction));
    assert.deepEqual(await store.webhookJobs.due(1000, 10), left.slice(1));
  });

  onStore('a transfer moves the dead letters of one subscription to another, with their ids', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const deliveries = ['dlv_1', 'dlv_2', 'dlv_3'].map((deliveryId) => sampleDelivery({ deliveryId }));
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    const claims = await store.deliveries.claim(CLAIM);
    const ended = claims.map((claim, index) => ({
      claim,
      settlement: { kind: 'dead', at: 1000 + index, expiresAt: 90_000, attempts: 3, lastStatus: 410 } as const,
    }));
    await store.transaction((transaction) => store.deliveries.settle(ended, transaction));
    const transfer = (before: number) =>
      store.transaction((transaction) =>
        store.deliveries.transfer({ from: 'whk_1', to: 'whk_2', before, now: 2000, limit: 2 }, transaction),
      );
    assert.deepEqual(await transfer(1001), 2);
    assert.deepEqual(await transfer(1001), 0);
    const left = await store.deliveries.deadLetters('whk_1', { limit: 10, now: 1000 });
    assert.deepEqual(
      left.map(({ deliveryId }) => deliveryId),
      ['dlv_3'],
    );
    const moved = await store.deliveries.claim({ ...CLAIM, now: 2000 });
    assert.deepEqual(
      moved.map(({ deliveryId, webhookId, attempts }) => [deliveryId, webhookId, attempts]),
      [
        ['dlv_1', 'whk_2', 0],
        ['dlv_2', 'whk_2', 0],
      ],
    );
  });
}

function sample(fields: Partial<WebhookJob>): WebhookJob {
  return {
    jobId: 'job_1',
    webhookId: 'whk_1',
    kind: 'redrive',
    request: { types: ['run.completed'], since: 5 },
    rate: 100,
    state: 'running',
    version: 0,
    lookedAt: 0,
    queued: 0,
    nextStepAt: 7,
    createdAt: 3,
    updatedAt: 4,
    ...fields,
  };
}
