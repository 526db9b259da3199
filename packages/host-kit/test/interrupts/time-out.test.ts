import { expect, test } from 'vitest';
import { timeOutDue } from '../../src/interrupts/time-out.ts';
import { systemClock } from '../../src/ports/clock.ts';
import type { Interrupt } from '../../src/ports/interrupts.ts';
import type { RunStatus } from '../../src/ports/runs.ts';
import { eventLog } from '../../src/runs/event-log.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';

const NO_SIGNAL = new AbortController().signal;

/** Opens a store with runs whose questions are overdue, and a log that rejects changes of one of them. */
async function waiting(
  broken: string,
  {
    runs = 3,
    status = 'waiting-input',
    lastWaits = false,
  }: { readonly runs?: number; readonly status?: RunStatus; readonly lastWaits?: boolean } = {},
) {
  const store = memoryStore();
  const log = eventLog({
    store,
    clock: systemClock,
    random: (size) => new Uint8Array(size),
    outbox: async () => 0,
    appended: () => {},
  });
  await store.transaction(async (transaction) => {
    for (let index = 0; index < runs; index++) {
      const runId = `run_${index + 1}`;
      const isWaiting = lastWaits && index === runs - 1;
      const run = sampleRun({ runId, status: isWaiting ? 'waiting-input' : status, currentNodeId: 'n' });
      await store.runs.insert(run, transaction);
      const interrupt: Interrupt = {
        ...{ runId, interruptId: `int_${index}`, nodeId: 'n', key: 'k', kind: 'clarification', data: {} },
        ...{ status: 'pending', votes: [], requestedAt: 0, dueAt: index + 1 },
      };
      await store.interrupts.insert(interrupt, transaction);
    }
  });
  const noticed: string[] = [];
  const hosted = (runId: string) => {
    if (runId === broken) throw new Error(`${runId} cannot be changed.`);
    return log.hosted(runId);
  };
  const round = timeOutDue({
    store,
    clock: systemClock,
    events: { ...log, hosted },
    executor: { onRequest: ({ runId }) => noticed.push(runId) },
    recordAudit: async () => {},
  });
  return { round, noticed };
}

test('resolves the other questions when one fails, and rejects with its error', async () => {
  const { round, noticed } = await waiting('run_1');
  await expect(round(NO_SIGNAL)).rejects.toThrow('run_1 cannot be changed.');
  expect(noticed).toEqual(['run_2', 'run_3']);
});

test('resolves each question once', async () => {
  const { round, noticed } = await waiting('none');
  await round(NO_SIGNAL);
  await round(NO_SIGNAL);
  expect(noticed).toEqual(['run_1', 'run_2', 'run_3']);
});

test('questions of runs that do not wait hide no later one', async () => {
  const { round, noticed } = await waiting('none', { runs: 1150, status: 'paused', lastWaits: true });
  await round(NO_SIGNAL);
  expect(noticed).toHaveLength(1000);
  expect(noticed).not.toContain('run_1150');
  await round(NO_SIGNAL);
  expect(noticed.slice(1000)).toHaveLength(150);
  expect(noticed.at(-1)).toBe('run_1150');
  await round(NO_SIGNAL);
  expect(noticed.at(1150)).toBe('run_1');
});

test('ends when more than a page of questions stays due, because their runs do not wait', async () => {
  const { round, noticed } = await waiting('none', { runs: 120, status: 'paused' });
  const stop = AbortSignal.timeout(5000);
  await round(stop);
  expect(stop.aborted).toBe(false);
  expect(noticed.length).toBeLessThanOrEqual(240);
});
