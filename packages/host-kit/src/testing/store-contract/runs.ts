import type { Run } from '../../ports/runs.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';
import { sampleRun, TENANCY } from './samples.ts';

/** Tests of `RunStore`. */
export function runsContract(contract: StoreContract): void {
  storedRuns(contract);
  tenancy(contract);
  execution(contract);
  childRuns(contract);
}

function storedRuns({ onStore, assert }: StoreContract): void {
  onStore('a run is read back unchanged', async (store) => {
    const run = sampleRun({
      ...{ workspace: 'w1', tags: ['a'], metadata: { key: [1, null] }, conversation: 'c' },
      causationId: 'dlv_0',
      fork: { sourceRunId: 'run_0', fromSeq: 3, mode: 'branch' },
      parent: { runId: 'run_9', nodeId: 'n', depth: 1 },
    });
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    assert.deepEqual(await store.runs.read(TENANCY, run.runId), { kind: 'found', value: run });
  });

  onStore('every method reads the versions that a host of major 1 stored as integers', async (store) => {
    const run = sampleRun({ status: 'cancelling', scopeId: 's', engineVersion: 7, eventLogSchemaVersion: 2 });
    const { eventLogSchemaVersion: _, ...kept } = run;
    const stored: Run = JSON.parse(JSON.stringify({ ...kept, engineVersion: '7' }));
    await store.transaction((transaction) => store.runs.insert(stored, transaction));
    const found = await store.transaction(async (transaction) => [
      (await store.runs.list(TENANCY, { before: undefined, limit: 1 }))[0],
      (await store.runs.unfinished({ after: undefined, limit: 1 }))[0],
      (await store.runs.toStop([run.runId]))[0],
      (await store.runs.forAppend([run.runId], transaction))[0],
      await store.runs.activeIn(run, transaction),
    ]);
    assert.deepEqual(found, [run, run, run, run, run]);
    const changed = await store.transaction((transaction) => store.runs.readForChange(TENANCY, run.runId, transaction));
    assert.deepEqual(changed, { kind: 'found', value: run });
    assert.deepEqual(await store.runs.read(TENANCY, run.runId), { kind: 'found', value: run });
  });

  onStore('a read rejects when the stored engine version is not an integer', async (store) => {
    for (const [index, engineVersion] of ['07', '1.0', '-1', '', null].entries()) {
      const runId = `run_${index}`;
      const stored: Run = JSON.parse(JSON.stringify({ ...sampleRun({ runId }), engineVersion }));
      await store.transaction((transaction) => store.runs.insert(stored, transaction));
      await assert.rejects(store.runs.read(TENANCY, runId));
    }
  });

  onStore('an update writes the whole state of a run, absent members included', async (store) => {
    const run = sampleRun({ scopeId: 's' });
    const asked: Run = {
      ...run,
      status: 'running',
      lastSequence: 0,
      startedAt: 5,
      openNodes: [{ nodeId: 'n', attempt: 1 }],
      currentNodeId: 'n',
      compensation: { compensable: 2, requested: 2, isStarted: true, failed: 1 },
      pauseRequest: { drainPolicy: 'immediate', reason: 'é' },
      pausedAt: 6,
      usage: { nodeExecutions: 2, idleMs: 3, idleSince: 6, secrets: ['é'] },
      filesRevision: 0,
    };
    const ended: Run = {
      ...run,
      status: 'failed',
      lastSequence: 1,
      startedAt: 5,
      completedAt: 9,
      error: { code: 'x', message: 'y', details: { z: [1] } },
      cancelRequest: { reason: 'r', by: 'p_1', at: 7 },
    };
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    for (const state of [asked, ended]) {
      await store.transaction((transaction) => store.runs.update([state], transaction));
      assert.deepEqual(await store.runs.read(TENANCY, run.runId), { kind: 'found', value: state });
    }
  });
}

function tenancy({ onStore, assert }: StoreContract): void {
  onStore('a run of another tenant or of the other mode is absent', async (store) => {
    const run = sampleRun({ workspace: 'w1' });
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    assert.deepEqual(await store.runs.read({ ...TENANCY, tenant: 'other' }, run.runId), { kind: 'absent' });
    assert.deepEqual(await store.runs.read({ ...TENANCY, mode: 'test' }, run.runId), { kind: 'absent' });
  });

  onStore('a run of another workspace is reported as such, without its content', async (store) => {
    const run = sampleRun({ workspace: 'w1' });
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    const tenancy = { ...TENANCY, workspaces: ['w2'] };
    assert.deepEqual(await store.runs.read(tenancy, run.runId), { kind: 'other-workspace' });
  });

  onStore(
    'readForChange reads uncommitted writes of its transaction and applies the tenancy of a read',
    async (store) => {
      const run = sampleRun({ workspace: 'w1' });
      const kinds = await store.transaction(async (transaction) => {
        await store.runs.insert(run, transaction);
        const asked = [TENANCY, { ...TENANCY, tenant: 'other' }, { ...TENANCY, workspaces: ['w2'] }];
        const found: string[] = [];
        for (const tenancy of asked) found.push((await store.runs.readForChange(tenancy, run.runId, transaction)).kind);
        return found;
      });
      assert.deepEqual(kinds, ['found', 'absent', 'other-workspace']);
    },
  );

  onStore('runs within reach of the caller are listed in pages, newest first', async (store) => {
    await store.transaction(async (transaction) => {
      for (const [index, workspace] of ['w1', 'w2', 'w1', undefined, 'w3'].entries()) {
        const where = workspace === undefined ? {} : { workspace };
        await store.runs.insert(sampleRun({ runId: `run_${index}`, ...where }), transaction);
      }
      await store.runs.insert(sampleRun({ runId: 'run_5', tenant: 'other' }), transaction);
      await store.runs.insert(sampleRun({ runId: 'run_6', mode: 'test' }), transaction);
    });
    const listed = async (workspaces: typeof TENANCY.workspaces, before: string | undefined, limit: number) =>
      (await store.runs.list({ ...TENANCY, workspaces }, { before, limit })).map(({ runId }) => runId);
    assert.deepEqual(await listed('all', undefined, 3), ['run_4', 'run_3', 'run_2']);
    assert.deepEqual(await listed('all', 'run_2', 3), ['run_1', 'run_0']);
    assert.deepEqual(await listed(['w1', 'w2'], undefined, 2), ['run_2', 'run_1']);
    assert.deepEqual(await listed(['w1', 'w2'], 'run_1', 2), ['run_0']);
    assert.deepEqual(await listed([], undefined, 2), []);
  });

  onStore('the turns of a conversation within reach of the caller are listed, newest first', async (store) => {
    await store.transaction(async (transaction) => {
      for (const [index, conversation] of ['a', 'b', 'a', undefined, 'a'].entries()) {
        const fields = { runId: `run_${index}`, workspace: 'w1', ...(conversation !== undefined && { conversation }) };
        await store.runs.insert(sampleRun(fields), transaction);
      }
      const others = [{ tenant: 'other' }, { mode: 'test' }, { workspace: 'w2' }] as const;
      for (const [index, other] of others.entries()) {
        await store.runs.insert(sampleRun({ runId: `run_5${index}`, conversation: 'a', ...other }), transaction);
      }
    });
    const turns = async (limit: number) =>
      (await store.runs.ofConversation({ ...TENANCY, workspaces: ['w1'] }, 'a', limit)).map(({ runId }) => runId);
    assert.deepEqual(await turns(9), ['run_4', 'run_2', 'run_0']);
    assert.deepEqual(await turns(2), ['run_4', 'run_2']);
  });
}

function execution({ onStore, assert }: StoreContract): void {
  onStore('lastSequences returns the newest sequence of each known run', async (store) => {
    await store.transaction(async (transaction) => {
      for (const runId of ['run_1', 'run_2', 'run_3']) await store.runs.insert(sampleRun({ runId }), transaction);
      await store.runs.update([sampleRun({ runId: 'run_2', lastSequence: 7 })], transaction);
    });
    const found = await store.runs.lastSequences(['run_2', 'run_0', 'run_1']);
    assert.deepEqual(new Map(found), new Map(Object.entries({ run_1: -1, run_2: 7 })));
    assert.deepEqual(await store.runs.lastSequences([]), []);
  });

  onStore('a scope has an active run until that run ends', async (store) => {
    const run = sampleRun({ workspace: 'w1', scopeId: 's' });
    const others = [
      sampleRun({ runId: 'run_2', scopeId: 's' }),
      sampleRun({ runId: 'run_3', workspace: 'w1', scopeId: 't' }),
      sampleRun({ runId: 'run_4', workspace: 'w1', scopeId: 's', mode: 'test' }),
    ];
    await store.transaction(async (transaction) => {
      for (const other of others) await store.runs.insert(other, transaction);
    });
    const active = () => store.transaction((transaction) => store.runs.activeIn(run, transaction));
    assert.deepEqual(await active(), undefined);
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    assert.deepEqual((await active())?.runId, run.runId);
    await store.transaction((transaction) => store.runs.update([{ ...run, status: 'completed' }], transaction));
    assert.deepEqual(await active(), undefined);
  });

  onStore('unfinished lists runs to execute in pages, without those that wait or have ended', async (store) => {
    const statuses = ['pending', 'completed', 'running', 'waiting-approval', 'cancelling', 'paused'] as const;
    await store.transaction(async (transaction) => {
      for (const [index, status] of statuses.entries())
        await store.runs.insert(sampleRun({ runId: `run_${index}`, status }), transaction);
    });
    const first = await store.runs.unfinished({ after: undefined, limit: 2 });
    const second = await store.runs.unfinished({ after: 'run_2', limit: 2 });
    assert.deepEqual(
      [first, second].map((page) => page.map(({ runId }) => runId)),
      [['run_0', 'run_2'], ['run_4']],
    );
  });

  onStore('toStop returns the runs that were paused, cancelled or ended', async (store) => {
    const runs = [
      sampleRun({ runId: 'run_1', status: 'running' }),
      sampleRun({ runId: 'run_2', status: 'running', pauseRequest: { drainPolicy: 'immediate' } }),
      sampleRun({ runId: 'run_3', status: 'cancelling' }),
      sampleRun({ runId: 'run_4', status: 'completed' }),
      sampleRun({ runId: 'run_5', status: 'cancelling' }),
    ];
    await store.transaction(async (transaction) => {
      for (const run of runs) await store.runs.insert(run, transaction);
    });
    const toStop = await store.runs.toStop(['run_1', 'run_2', 'run_3', 'run_4', 'run_x']);
    assert.deepEqual(toStop.map(({ runId }) => runId).sort(), ['run_2', 'run_3', 'run_4']);
  });

  onStore('a claimed run belongs to this host', async (store) => {
    const run = sampleRun({ status: 'running' });
    const claimed = await store.transaction(async (transaction) => {
      await store.runs.insert(run, transaction);
      return store.runs.claim(run, transaction);
    });
    assert.deepEqual(await store.runs.read(TENANCY, run.runId), { kind: 'found', value: claimed });
    assert.deepEqual(await store.runs.unfinished({ after: undefined, limit: 1 }), [claimed]);
  });
}

function childRuns({ onStore, assert }: StoreContract): void {
  const childOf = (runId: string, nodeId: string, fields: Partial<Run>) =>
    sampleRun({ parent: { runId, nodeId, depth: 1 }, ...fields });
  const insertAll = (store: Store, ...runs: readonly Run[]) =>
    store.transaction(async (transaction) => {
      for (const run of runs) await store.runs.insert(run, transaction);
    });
  const idsOf = (runs: readonly Run[]) => runs.map(({ runId }) => runId);

  onStore('the child of a node is found, also in the transaction that inserts it', async (store) => {
    const child = childOf('run_1', 'n', { runId: 'run_2' });
    const found = await store.transaction(async (transaction) => {
      await store.runs.insert(sampleRun({ runId: 'run_1' }), transaction);
      const before = await store.runs.childOf({ runId: 'run_1', nodeId: 'n' }, transaction);
      await store.runs.insert(child, transaction);
      return [before, await store.runs.childOf({ runId: 'run_1', nodeId: 'n' }, transaction)];
    });
    assert.deepEqual(found, [undefined, child]);
    const others = await store.transaction(async (transaction) => [
      await store.runs.childOf({ runId: 'run_1', nodeId: 'other' }, transaction),
      await store.runs.childOf({ runId: 'run_2', nodeId: 'n' }, transaction),
    ]);
    assert.deepEqual(others, [undefined, undefined]);
  });

  onStore('children that go on although their parent has ended or is being cancelled are listed', async (store) => {
    const parents = (['running', 'cancelling', 'failed', 'waiting-external'] as const).map((status, index) =>
      sampleRun({ runId: `run_${index}`, status, startedAt: 1 }),
    );
    const children = parents.flatMap(({ runId }) =>
      (['pending', 'paused', 'cancelling', 'completed'] as const).map((status) =>
        childOf(runId, status, { runId: `${runId}_${status}`, status }),
      ),
    );
    await insertAll(store, ...parents, ...children);
    const all = ['run_1_paused', 'run_1_pending', 'run_2_paused', 'run_2_pending'];
    assert.deepEqual(idsOf(await store.runs.orphans({ limit: 9 })), all);
    assert.deepEqual(idsOf(await store.runs.orphans({ after: all[1], limit: 1 })), ['run_2_paused']);
    assert.deepEqual(idsOf(await store.runs.orphans({ of: 'run_1', limit: 9 })), all.slice(0, 2));
    assert.deepEqual(idsOf(await store.runs.orphans({ of: 'run_2_paused', limit: 9 })), ['run_2_paused']);
    assert.deepEqual(await store.runs.orphans({ of: 'run_3', limit: 9 }), []);
  });

  onStore('ended children for whose node their parent waits are listed', async (store) => {
    const waits = { status: 'waiting-external', currentNodeId: 'n', startedAt: 1 } as const;
    await insertAll(
      store,
      sampleRun({ runId: 'run_1', ...waits }),
      childOf('run_1', 'n', { runId: 'run_11', status: 'failed', completedAt: 2 }),
      childOf('run_1', 'other', { runId: 'run_12', status: 'completed', completedAt: 2 }),
      sampleRun({ runId: 'run_2', ...waits }),
      childOf('run_2', 'n', { runId: 'run_21', status: 'running', startedAt: 2 }),
      sampleRun({ runId: 'run_3', status: 'running', currentNodeId: 'n', startedAt: 1 }),
      childOf('run_3', 'n', { runId: 'run_31', status: 'completed', completedAt: 2 }),
    );
    assert.deepEqual(idsOf(await store.runs.awaited({ limit: 9 })), ['run_11']);
    const ended = childOf('run_2', 'n', { runId: 'run_21', status: 'cancelled', startedAt: 2, completedAt: 3 });
    await store.transaction((transaction) => store.runs.update([ended], transaction));
    assert.deepEqual(idsOf(await store.runs.awaited({ limit: 9 })), ['run_11', 'run_21']);
    assert.deepEqual(idsOf(await store.runs.awaited({ after: 'run_11', limit: 9 })), ['run_21']);
    assert.deepEqual(idsOf(await store.runs.awaited({ limit: 1 })), ['run_11']);
    assert.deepEqual(idsOf(await store.runs.awaited({ of: 'run_2', limit: 9 })), ['run_21']);
    assert.deepEqual(idsOf(await store.runs.awaited({ of: 'run_11', limit: 9 })), ['run_11']);
  });
}
