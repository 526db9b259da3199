import { expect, test } from 'vitest';
import { timeOutDue } from '../../src/interrupts/time-out.ts';
import { systemClock } from '../../src/ports/clock.ts';
import type { Interrupt } from '../../src/ports/interrupts.ts';
import { eventLog } from '../../src/runs/event-log.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';

const NO_SIGNAL = new AbortController().signal;

/** Opens a store with three runs whose questions are overdue, and a log that rejects changes of one of them. */
async function waiting(broken: string) {
  const store = memoryStore();
  const log = eventLog({
    store,
    clock: systemClock,
    random: (size) => new Uint8Array(size),
    outbox: async () => 0,
    appended: () => {},
  });
  await store.transaction(async (transaction) => {
    for (const [index, runId] of ['run_1', 'run_2', 'run_3'].entries()) {
      const run = sampleRun({ runId, status: 'waiting-input', currentNodeId: 'n' });
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
    executor: { notice: ({ runId }) => noticed.push(runId) },
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
