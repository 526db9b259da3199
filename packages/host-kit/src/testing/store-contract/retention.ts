import { BEFORE_ALL_EVENTS } from '../../ports/events.ts';
import type { Run } from '../../ports/runs.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';
import { CLAIM, sampleDelivery, sampleEvent, sampleRun, TENANCY, withSubscriptions } from './samples.ts';

/** Tests of the removal of ended runs and of old audit entries. */
export function retentionContract(contract: StoreContract): void {
  runRemoval(contract);
  positions(contract);
  auditRemoval(contract);
}

function runRemoval({ onStore, assert }: StoreContract): void {
  onStore('runs that ended before a time are removed, those that ended first before the others', async (store) => {
    await insert(store, ended('run_1', 30), ended('run_2', 10), ended('run_3', 20), ended('run_4', 40));
    await insert(store, sampleRun({ runId: 'run_5', status: 'running', startedAt: 1 }));
    assert.deepEqual(await store.runs.removeEnded({ endedBefore: 40, limit: 2 }), 2);
    assert.deepEqual(await runIds(store), ['run_5', 'run_4', 'run_1']);
    assert.deepEqual(await store.runs.removeEnded({ endedBefore: 40, limit: 2 }), 1);
    assert.deepEqual(await store.runs.removeEnded({ endedBefore: 40, limit: 2 }), 0);
    assert.deepEqual(await runIds(store), ['run_5', 'run_4']);
    assert.deepEqual(await store.runs.read(TENANCY, 'run_1'), { kind: 'absent' });
    assert.deepEqual(await store.runs.lastSequences(['run_1', 'run_4']), [['run_4', 0]]);
  });

  onStore('a run is not removed while a fork that has not ended reads its log', async (store) => {
    const fork = { sourceRunId: 'run_1', fromSeq: 0, mode: 'branch' } as const;
    const forks = [
      sampleRun({ runId: 'run_2', fork, status: 'paused', startedAt: 1 }),
      sampleRun({ runId: 'run_3', fork: { ...fork, sourceRunId: 'run_4' }, status: 'completed', completedAt: 90 }),
    ];
    await insert(store, ended('run_1', 10), ended('run_4', 20), ...forks);
    assert.deepEqual(await store.runs.removeEnded({ endedBefore: 50, limit: 1 }), 1);
    assert.deepEqual(await store.runs.removeEnded({ endedBefore: 50, limit: 1 }), 0);
    assert.deepEqual(await runIds(store), ['run_3', 'run_2', 'run_1']);
    const source = sampleRun({ runId: 'run_2', fork, status: 'cancelled', completedAt: 60 });
    await store.transaction((transaction) => store.runs.update([source], transaction));
    assert.deepEqual(await store.runs.removeEnded({ endedBefore: 50, limit: 9 }), 1);
  });

  onStore('a child is not removed while its parent, which reads its outcome, has not ended', async (store) => {
    const parent = sampleRun({ runId: 'run_1', status: 'waiting-external', startedAt: 1 });
    await insert(store, parent, { ...ended('run_2', 10), parent: { runId: 'run_1', nodeId: 'n', depth: 1 } });
    assert.deepEqual(await store.runs.removeEnded({ endedBefore: 50, limit: 9 }), 0);
    const over: Run = { ...parent, status: 'completed', completedAt: 90 };
    await store.transaction((transaction) => store.runs.update([over], transaction));
    assert.deepEqual(await store.runs.removeEnded({ endedBefore: 50, limit: 9 }), 1);
    assert.deepEqual(await runIds(store), ['run_1']);
  });

  onStore('the records of removed runs are deleted in steps, and no other record', async (store) => {
    await insert(store, ended('run_1', 10), ended('run_2', 90));
    for (const runId of ['run_1', 'run_2']) await addRecords(store, runId);
    assert.deepEqual(await store.runs.sweep(100), 0);
    assert.deepEqual(await store.runs.removeEnded({ endedBefore: 50, limit: 9 }), 1);
    let swept = -1;
    for (let steps = 0; swept !== 0 && steps < 50; steps++) swept = await store.runs.sweep(3);
    assert.deepEqual(swept, 0);
    assert.deepEqual(await recordsOf(store, 'run_1'), { events: 0, artifacts: 0, annotations: 0, effects: 0 });
    assert.deepEqual(await recordsOf(store, 'run_2'), { events: 5, artifacts: 1, annotations: 1, effects: 1 });
    // The ledger keeps the effect, which another run may ask for.
    assert.deepEqual((await store.effects.read('eff_run_1'))?.effectId, 'eff_run_1');
    await store.transaction(async (transaction) => {
      assert.deepEqual(await store.interrupts.byId('run_1', 'int_1', transaction), undefined);
      assert.deepEqual((await store.interrupts.byId('run_2', 'int_1', transaction))?.interruptId, 'int_1');
    });
  });

  onStore('a delivery that waits, and a dead letter, outlive their run', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await insert(store, ended('run_1', 10));
    const deliveries = ['dlv_1', 'dlv_2'].map((deliveryId) => sampleDelivery({ deliveryId, runId: 'run_1' }));
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    const [claim] = await store.deliveries.claim({ ...CLAIM, limit: 1 });
    if (claim === undefined) throw new Error('no delivery was claimed');
    const settlement = { kind: 'dead', at: 1000, expiresAt: 9000, attempts: 1, lastStatus: 500 } as const;
    await store.transaction((transaction) => store.deliveries.settle([{ claim, settlement }], transaction));
    assert.deepEqual(await store.runs.removeEnded({ endedBefore: 50, limit: 9 }), 1);
    while ((await store.runs.sweep(100)) > 0);
    assert.deepEqual((await store.deliveries.claim(CLAIM)).length, 1);
    assert.deepEqual((await store.deliveries.deadLetters('whk_1', { limit: 9, now: 1000 })).length, 1);
  });
}

function positions({ onStore, assert }: StoreContract): void {
  onStore('the highest position of removed events is known, by tenant and mode', async (store) => {
    const others = [{ tenant: 'globex' }, { mode: 'test' as const }];
    assert.deepEqual(await store.events.removedUpTo(TENANCY), BEFORE_ALL_EVENTS);
    await insert(store, ended('run_1', 10), ended('run_2', 90));
    for (const sequence of [1, 2]) await append(store, { ...sampleEvent(sequence), eventId: `evt_a${sequence}` });
    const removed = await store.events.newest();
    await append(store, { ...sampleEvent(1), runId: 'run_2' });
    await store.runs.removeEnded({ endedBefore: 50, limit: 9 });
    assert.deepEqual(await store.events.removedUpTo(TENANCY), removed);
    for (const other of others)
      assert.deepEqual(await store.events.removedUpTo({ ...TENANCY, ...other }), BEFORE_ALL_EVENTS);
    while ((await store.runs.sweep(100)) > 0);
    const { events } = await store.events.listAll(TENANCY, { after: BEFORE_ALL_EVENTS, limit: 9 });
    assert.deepEqual(
      events.map(({ event }) => event.runId),
      ['run_2'],
    );
  });

  onStore('positions rise when the newest events have been removed', async (store) => {
    await insert(store, ended('run_1', 10));
    await append(store, sampleEvent(1));
    const newest = await store.events.newest();
    await store.runs.removeEnded({ endedBefore: 50, limit: 9 });
    while ((await store.runs.sweep(100)) > 0);
    assert.deepEqual(await store.events.newest(), newest);
    await insert(store, ended('run_2', 10));
    await append(store, { ...sampleEvent(1), runId: 'run_2' });
    const { events } = await store.events.listAll(TENANCY, { after: newest, limit: 9 });
    assert.deepEqual(
      events.map(({ event }) => event.runId),
      ['run_2'],
    );
  });
}

function auditRemoval({ onStore, assert }: StoreContract): void {
  onStore('the audit log starts with a stored checkpoint, and only with later ones', async (store) => {
    await audited(store, 3);
    await sealed(store, 3, 0);
    await audited(store, 2);
    await sealed(store, 5, 3);
    await audited(store, 1);
    const startAt = (atSequence: number) =>
      store.transaction((transaction) => store.audit.startAt({ atSequence }, transaction));
    assert.deepEqual(await store.audit.start(), undefined);
    assert.deepEqual(await startAt(4), false);
    assert.deepEqual(await store.audit.sweep(9), 0);
    assert.deepEqual(await startAt(5), true);
    assert.deepEqual(await startAt(3), false);
    assert.deepEqual(await startAt(5), false);
    assert.deepEqual((await store.audit.start())?.checkpoint, 'ckp_5');
    assert.deepEqual(await store.audit.sweep(2), 2);
    assert.deepEqual(await store.audit.sweep(9), 3);
    assert.deepEqual(await store.audit.sweep(9), 0);
    assert.deepEqual(await sequences(store), [5, 6]);
    assert.deepEqual(await store.audit.checkpoints(0, 9), [checkpointAt(5)]);
    assert.deepEqual(
      (await store.audit.unsealed(9)).map(({ atSequence }) => atSequence),
      [6],
    );
    await audited(store, 1);
    assert.deepEqual(await sequences(store), [5, 6, 7]);
  });

  onStore('a start of the audit log that is rolled back removes nothing', async (store) => {
    await audited(store, 2);
    await sealed(store, 2, 0);
    const failing = store.transaction(async (transaction) => {
      await store.audit.startAt({ atSequence: 2 }, transaction);
      throw new Error('no');
    });
    await assert.rejects(failing);
    assert.deepEqual(await store.audit.sweep(9), 0);
    assert.deepEqual(await sequences(store), [1, 2]);
  });
}

function ended(runId: string, completedAt: number): Run {
  return sampleRun({ runId, status: 'completed', lastSequence: 0, startedAt: 1, completedAt });
}

async function insert(store: Store, ...runs: readonly Run[]): Promise<void> {
  await store.transaction(async (transaction) => {
    for (const run of runs) await store.runs.insert(run, transaction);
  });
}

function append(store: Store, event: ReturnType<typeof sampleEvent>): Promise<void> {
  return store.transaction((transaction) => store.events.insert([event], transaction));
}

async function runIds(store: Store): Promise<readonly string[]> {
  return (await store.runs.list(TENANCY, { before: undefined, limit: 99 })).map(({ runId }) => runId);
}

async function addRecords(store: Store, runId: string): Promise<void> {
  const effectId = `eff_${runId}`;
  await store.transaction(async (transaction) => {
    const events = [0, 1, 2, 3, 4].map((sequence) => ({
      ...sampleEvent(sequence),
      runId,
      eventId: `${runId}_${sequence}`,
    }));
    await store.events.insert(events, transaction);
    await store.artifacts.insert(
      { artifactId: 'art_1', runId, artifactType: 'draft', content: 'x', createdAt: 1 },
      transaction,
    );
    await store.annotations.insert(
      { annotationId: 'ann_1', runId, signal: { kind: 'flag' }, actor: 'p_1', createdAt: 1 },
      transaction,
    );
    await store.interrupts.insert(
      {
        ...{ interruptId: 'int_1', runId, nodeId: 'n', key: 'k', kind: 'approval', data: {} },
        ...{ status: 'closed', requestedAt: 1, votes: [] },
      },
      transaction,
    );
    await store.effects.save(
      {
        ...{ effectId, keying: 'business-identity', providerKey: 'acme:pay', state: 'completed', at: 5 },
        ...{ invocationId: 'inv_1', runId, epoch: 0, nodeId: 'n', attempt: 0 },
      },
      transaction,
    );
    await store.effects.addUse({ effectId, runId, nodeId: 'n', attempt: 0, at: 5 }, transaction);
  });
}

async function recordsOf(store: Store, runId: string) {
  const run = sampleRun({ runId });
  return {
    events: (await store.events.list(run, { after: -1, limit: 99 })).length,
    artifacts: (await store.artifacts.list(run, 99)).length,
    annotations: (await store.annotations.list(run, 99)).length,
    effects: (await store.effects.list(run, 99)).length,
  };
}

function audited(store: Store, count: number): Promise<void> {
  const fact = { action: 'run.read', actor: 'p_1', target: null, occurredAt: '2026-01-01T00:00:00.000Z', details: {} };
  return store.transaction((transaction) =>
    store.audit.append(
      Array.from({ length: count }, () => fact),
      transaction,
    ),
  );
}

function checkpointAt(atSequence: number) {
  return { checkpoint: `ckp_${atSequence}`, atSequence, merkleRoot: 'f'.repeat(64), signature: 'sig' };
}

function sealed(store: Store, atSequence: number, after: number): Promise<void> {
  // A removal does not read the tree.
  const growth = { from: after, runs: [], postings: [] };
  return store.transaction((transaction) => store.audit.seal(checkpointAt(atSequence), after, growth, transaction));
}

async function sequences(store: Store): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const { atSequence } of store.audit.entries(0, 99)) found.push(atSequence);
  return found;
}
