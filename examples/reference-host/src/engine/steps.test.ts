import type { Execution } from '@svc/host-kit';
import { expect, test } from 'vitest';
import type { Journal } from './journal.ts';
import { stepsOf } from './steps.ts';

const NOW = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

test.each([
  ['in the past counts from it', NOW - 400, NOW + 600],
  ['by a clock that was a day ahead does not prolong the wait', NOW + DAY_MS, NOW + 1000],
])('a start that was recorded %s', async (_when, startedAt, expected) => {
  const waits: number[] = [];
  const journal: Journal = {
    node: () => ({ starts: 1, startedAt, outcome: undefined, lines: 0, artifacts: [] }),
    pausedSince: () => 0,
  };
  // The node below only rests.
  const execution = {
    append: async () => [],
    until: async (time: number) => void waits.push(time),
  } as Partial<Execution> as Execution;
  const steps = stepsOf(execution, journal, () => NOW);
  await steps.node(
    'delay',
    'sample.delay',
    async ({ rest }) => {
      await rest(1000);
      return {};
    },
    { goesOn: true },
  );
  expect(waits).toEqual([expected]);
});
