import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import type { Run } from '../../src/ports/runs.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-runs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RUN: Run = {
  runId: 'run_1',
  tenant: 'acme',
  mode: 'live',
  workflowId: 'w',
  status: 'running',
  owner: { tenant: 'acme' },
  inputs: { text: 'x'.repeat(100) },
  tags: [],
  engineVersion: 1,
  eventLogSchemaVersion: 3,
  lastSequence: 0,
  createdAt: 1,
};

async function opened(name: string) {
  const path = join(folder, name);
  const store = sqliteStore(path);
  await store.transaction((transaction) => store.runs.insert(RUN, transaction));
  /** Moves the run on by one event, as an append does, and returns the sequence that it found. */
  const step = (isUndone = false) =>
    store.transaction(async (transaction) => {
      const [run = RUN] = await store.runs.forAppend(['run_1'], transaction);
      await store.runs.update([{ ...run, lastSequence: run.lastSequence + 1 }], transaction);
      if (isUndone) throw new Error('undone');
      return run.lastSequence;
    });
  return { path, store, step };
}

test('an append finds the run as the last committed one left it', async () => {
  const { store, step } = await opened('steps.db');
  for (let sequence = 0; sequence < 5; sequence++) expect(await step()).toBe(sequence);
  await store.close();
});

test('appends that share a commit find the changes of each other, without those that were undone', async () => {
  const { store, step } = await opened('shared.db');
  await step();
  const shared = await Promise.allSettled([step(), step(true), step(), step(true), step()]);
  const found = shared.map((each) => (each.status === 'fulfilled' ? each.value : 'undone'));
  expect(found).toEqual([1, 'undone', 2, 'undone', 3]);
  expect(await step()).toBe(4);
  await expect(step(true)).rejects.toThrow('undone');
  expect(await step()).toBe(5);
  await store.close();
});

test('an append finds the whole run again that was read before, also after it has ended', async () => {
  const { store, step } = await opened('whole.db');
  await step();
  const find = () => store.transaction((transaction) => store.runs.forAppend(['run_1'], transaction));
  expect(await find()).toEqual([{ ...RUN, lastSequence: 1 }]);
  const ended: Run = { ...RUN, status: 'completed', completedAt: 5, lastSequence: 2 };
  await store.transaction((transaction) => store.runs.update([ended], transaction));
  expect(await find()).toEqual([ended]);
  await store.close();
});

test('an append finds what another process has written to the run', async () => {
  const { path, store, step } = await opened('foreign.db');
  await step();
  const shell = new DatabaseSync(path);
  shell.exec('UPDATE runs SET last_sequence = 40');
  shell.close();
  expect(await step()).toBe(40);
  await store.close();
});

test('an update stores every member of the state, whichever of them has changed', async () => {
  const { store } = await opened('members.db');
  const states: readonly Partial<Run>[] = [
    { openNodes: [{ nodeId: 'n', attempt: 1 }], usage: { nodeExecutions: 1 } },
    { openNodes: [{ nodeId: 'm', attempt: 2 }], currentNodeId: 'm' },
    { pauseRequest: { drainPolicy: 'drain-current-node' } },
    { status: 'paused', pausedAt: 9 },
    { filesRevision: 7, usage: { idleMs: 3 } },
    { cancelRequest: { at: 11 }, startedAt: 2 },
    { status: 'failed', completedAt: 12, error: { code: 'x', message: 'y' } },
  ];
  for (const [index, state] of states.entries()) {
    const next: Run = { ...RUN, ...state, lastSequence: index + 1 };
    await store.transaction(async (transaction) => {
      await store.runs.forAppend(['run_1'], transaction);
      await store.runs.update([next], transaction);
    });
    const found = await store.runs.read({ tenant: 'acme', workspaces: 'all', mode: 'live' }, 'run_1');
    expect(found).toEqual({ kind: 'found', value: next });
  }
  await store.close();
});
