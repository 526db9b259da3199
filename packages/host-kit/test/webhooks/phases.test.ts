import { expect, test } from 'vitest';
import { phaseClock } from '../../src/webhooks/phases.ts';

test('each phase lasts until the next one begins, and the last one until the end', () => {
  const times = [0, 2, 2, 5.25, 5.25, 9];
  const clock = phaseClock(() => times.shift() ?? 0);
  clock.begin('resolve');
  clock.begin('connect');
  clock.begin('request');
  expect(clock.end()).toEqual([
    { phase: 'resolve', durationMs: 2 },
    { phase: 'connect', durationMs: 3.25 },
    { phase: 'request', durationMs: 3.75 },
  ]);
  expect(clock.end()).toHaveLength(3);
});

test('a name with many addresses has 16 phases at most', () => {
  const clock = phaseClock(() => 0);
  for (let address = 0; address < 40; address++) clock.begin('connect');
  expect(clock.end()).toHaveLength(16);
});
