import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run, Store } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import type { Executor } from '../../src/execution/executor.ts';
import { runFamilies } from '../../src/execution/run-families.ts';
import { logUnreadable } from '../../src/host/unreadable-log.ts';
import { systemClock } from '../../src/ports/clock.ts';
import type { LogRecord } from '../../src/ports/log.ts';
import { systemRandom } from '../../src/ports/random.ts';
import { eventLog } from '../../src/runs/event-log.ts';
import { sampleRun, TENANCY } from '../../src/testing/store-contract/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-families-'));
const postgres = await startPostgres();
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

let opened = 0;
const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  memory: async () => memoryStore(),
  SQLite: async () => sqliteStore(join(folder, `${++opened}.db`)),
  PostgreSQL: () => postgresStore({ url: postgres.url, schema: `families_${++opened}` }),
};

/** A run that no store can read: it has a version that is no number. */
const damaged = (run: Run): Run => Object.assign({ ...run }, { engineVersion: 'damaged' });

const child = (runId: string, parentId: string, fields: Partial<Run>, nodeId = 'n'): Run =>
  sampleRun({ runId, parent: { runId: parentId, nodeId, depth: 1 }, ...fields });

describe.each(Object.entries(STORES))('families on %s', (_name, open) => {
  test('pass over runs that cannot be read, act on the others, and log each damage once', async () => {
    const store = await open();
    const waits = { status: 'waiting-external', currentNodeId: 'n', startedAt: 1 } as const;
    const ended = { status: 'completed', startedAt: 1, completedAt: 2 } as const;
    const runs = [
      sampleRun({ runId: 'run_1', ...ended }),
      damaged(child('run_11', 'run_1', { status: 'paused', startedAt: 1 }, 'm')),
      child('run_12', 'run_1', { status: 'paused', startedAt: 1 }),
      damaged(sampleRun({ runId: 'run_2', ...waits })),
      child('run_21', 'run_2', ended),
      sampleRun({ runId: 'run_3', ...waits }),
      damaged(child('run_31', 'run_3', ended)),
    ];
    await store.transaction(async (transaction) => {
      for (const run of runs) await store.runs.insert(run, transaction);
    });
    const logged: LogRecord[] = [];
    const log = (record: LogRecord) => void logged.push(record);
    logUnreadable(store, log);
    const clock = systemClock;
    const events = eventLog({ store, clock, random: systemRandom, outbox: async () => 0, appended: () => {} });
    const noticed: string[] = [];
    const executor = { onRequest: ({ runId }: Run) => void noticed.push(runId) } as Executor;
    const families = runFamilies({ log, services: () => ({ store, clock, events, executor }) });

    for (let sweeps = 0; sweeps < 3; sweeps++) await families.sweep(new AbortController().signal);
    await families.check('run_2');
    expect(noticed).toEqual(['run_12']);
    expect(await store.runs.read(TENANCY, 'run_12')).toMatchObject({ value: { status: 'cancelled' } });
    const told = logged.map(({ level, event, runId, error }) => `${level} ${event} ${runId}: ${error}`);
    expect(told.sort()).toEqual(
      ['run_11', 'run_2', 'run_31'].map(
        (runId) =>
          `error run.unreadable ${runId}: Stored run ${runId}: its engineVersion is neither an integer nor its decimal text. Restore the record from a backup.`,
      ),
    );
    await store.close();
  });

  test('a list of runs is full without those that cannot be read', async () => {
    const store = await open();
    await store.transaction(async (transaction) => {
      for (const [index, runId] of ['run_91', 'run_92', 'run_93', 'run_94', 'run_95'].entries()) {
        const run = sampleRun({ runId, tenant: 'other', workspace: index % 2 === 0 ? 'even' : 'odd' });
        await store.runs.insert(index === 3 || index === 1 ? damaged(run) : run, transaction);
      }
    });
    const tenancy = { ...TENANCY, tenant: 'other' };
    const listed = async (workspaces: typeof TENANCY.workspaces, before?: string) =>
      (await store.runs.list({ ...tenancy, workspaces }, { before, limit: 2 })).map(({ runId }) => runId);
    expect(await listed('all')).toEqual(['run_95', 'run_93']);
    expect(await listed(['even', 'odd'], 'run_95')).toEqual(['run_93', 'run_91']);
    expect(await listed(['odd'])).toEqual([]);
    await expect(store.runs.read(tenancy, 'run_92')).rejects.toThrow(/^Stored run run_92: its engineVersion is/);
    await store.close();
  });
});
