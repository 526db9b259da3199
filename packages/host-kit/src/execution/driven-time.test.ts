import { expect, test } from 'vitest';
import type { Run } from '../ports/runs.ts';
import { sampleRun } from '../testing/store-contract/samples.ts';
import { DrivenTime } from './driven-time.ts';
import { timeLimitOf } from './limits.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 10);
const LIMITS = { maxRunDurationMs: 10_000 };

/** A machine whose time of the day can be set. */
function machine() {
  let elapsed = 5;
  let offset = 0;
  return {
    now: () => START + elapsed + offset,
    monotonic: () => elapsed,
    after: () => () => {},
    pass: (ms: number) => {
      elapsed += ms;
    },
    set: (ms: number) => {
      offset += ms;
    },
  };
}

function leftOf(run: Run, clock: ReturnType<typeof machine>, time: DrivenTime): number | undefined {
  const times = { limits: LIMITS, startedAt: run.startedAt ?? clock.now(), drivenMs: time.ms(), now: clock.now() };
  return timeLimitOf(run, times)?.leftMs;
}

test.each([-DAY_MS, -3_600_000, 0, 3_600_000, DAY_MS])(
  'the duration of a run goes on from its earlier turns when the clock was set by %i ms',
  (step) => {
    const clock = machine();
    let run = sampleRun({ runId: 'run_1', status: 'running', startedAt: clock.now() });
    for (const expected of [10_000, 7_000, 4_000, 1_000]) {
      const time = new DrivenTime(clock, true);
      time.begin(run);
      expect(leftOf(run, clock, time)).toBe(expected);
      clock.pass(2_000);
      clock.set(step);
      clock.pass(1_000);
      run = time.counted(run);
    }
  },
);

test('a run of an earlier version goes on from the time since its start, without its waits', () => {
  const clock = machine();
  const run = sampleRun({ runId: 'run_1', status: 'running', startedAt: clock.now(), usage: { idleMs: 500 } });
  clock.pass(2_000);
  const time = new DrivenTime(clock, true);
  time.begin(run);
  expect(leftOf(run, clock, time)).toBe(8_500);
  const ahead = sampleRun({ runId: 'run_2', status: 'running', startedAt: clock.now() + DAY_MS });
  const other = new DrivenTime(clock, true);
  other.begin(ahead);
  expect(leftOf(ahead, clock, other)).toBe(10_000);
});

test('the time-out of a caller counts the waits, and at least the driven time when the clock was set back', () => {
  const clock = machine();
  const configurable = { run: { runTimeoutMs: 6_000 } };
  const run = sampleRun({ runId: 'run_1', status: 'running', startedAt: clock.now(), configurable });
  const leftWith = (drivenMs: number) =>
    timeLimitOf(run, { limits: {}, startedAt: run.startedAt ?? 0, drivenMs, now: clock.now() })?.leftMs;
  clock.pass(4_000);
  expect(leftWith(1_000)).toBe(2_000);
  clock.set(-DAY_MS);
  expect(leftWith(1_000)).toBe(5_000);
});

test('a run without a limit of its duration, and one that has ended, get no count', () => {
  const clock = machine();
  const run = sampleRun({ runId: 'run_1', status: 'running' });
  expect(new DrivenTime(clock, false).counted(run)).toBe(run);
  const ended = sampleRun({ runId: 'run_1', status: 'completed' });
  expect(new DrivenTime(clock, true).counted(ended)).toBe(ended);
});
