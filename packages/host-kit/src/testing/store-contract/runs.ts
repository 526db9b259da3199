import type { StoreContract } from './contract.ts';
import { sampleRun, TENANCY } from './samples.ts';

/** What every store of runs must do. */
export function runsContract({ onStore, assert }: StoreContract): void {
  onStore('a run is read back as it was inserted', async (store) => {
    const run = sampleRun({ workspace: 'w1', tags: ['a'], metadata: { key: [1, null] } });
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    assert.deepEqual(await store.runs.read(TENANCY, run.runId), { kind: 'found', value: run });
  });

  onStore('a run of another tenant, or of the other mode, is absent', async (store) => {
    const run = sampleRun({ workspace: 'w1' });
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    assert.deepEqual(await store.runs.read({ ...TENANCY, tenant: 'other' }, run.runId), { kind: 'absent' });
    assert.deepEqual(await store.runs.read({ ...TENANCY, mode: 'test' }, run.runId), { kind: 'absent' });
  });

  onStore('a run of another workspace is told apart, and not shown', async (store) => {
    const run = sampleRun({ workspace: 'w1' });
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    const tenancy = { ...TENANCY, workspaces: ['w2'] };
    assert.deepEqual(await store.runs.read(tenancy, run.runId), { kind: 'other-workspace' });
  });

  onStore('a change of a run keeps what it does not name', async (store) => {
    const run = sampleRun({});
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    const started = { status: 'running', lastSequence: 0, startedAt: 5 } as const;
    const failed = { status: 'failed', lastSequence: 1, completedAt: 9, error: { code: 'x', message: 'y' } } as const;
    await store.transaction((transaction) => store.runs.update(run.runId, started, transaction));
    await store.transaction((transaction) => store.runs.update(run.runId, failed, transaction));
    const expected = { ...run, ...started, ...failed };
    assert.deepEqual(await store.runs.read(TENANCY, run.runId), { kind: 'found', value: expected });
  });

  onStore('the newest sequence of each run that is asked for', async (store) => {
    await store.transaction(async (transaction) => {
      for (const runId of ['run_1', 'run_2', 'run_3']) await store.runs.insert(sampleRun({ runId }), transaction);
      await store.runs.update('run_2', { status: 'running', lastSequence: 7 }, transaction);
    });
    const found = await store.runs.lastSequences(['run_2', 'run_0', 'run_1']);
    assert.deepEqual(new Map(found), new Map(Object.entries({ run_1: -1, run_2: 7 })));
    assert.deepEqual(await store.runs.lastSequences([]), []);
  });

  onStore('unfinished runs come in pages, without those that ended', async (store) => {
    const ids = ['run_1', 'run_2', 'run_3', 'run_4'];
    await store.transaction(async (transaction) => {
      for (const runId of ids) await store.runs.insert(sampleRun({ runId }), transaction);
      await store.runs.update('run_2', { status: 'completed', lastSequence: 0 }, transaction);
    });
    const first = await store.runs.unfinished({ after: undefined, limit: 2 });
    const second = await store.runs.unfinished({ after: 'run_3', limit: 2 });
    assert.deepEqual(
      [first, second].map((page) => page.map(({ runId }) => runId)),
      [['run_1', 'run_3'], ['run_4']],
    );
  });
}
