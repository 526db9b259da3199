import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MOST_POINTS, seriesRange } from '../../src/webhooks/series-range.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = 1000 * HOUR + 12_345;
const asked = (fields: object = {}) => ({ from: undefined, until: undefined, stepMs: undefined, ...fields });
const WEEK = 7 * 24 * HOUR;

test('the default is the last hour in minutes', () => {
  expect(seriesRange(asked(), NOW, WEEK)).toEqual({ from: 999 * HOUR, until: 1000 * HOUR + MINUTE, stepMs: MINUTE });
});

test('a longer range has longer steps', () => {
  const stepOf = (hours: number) => seriesRange(asked({ from: NOW - hours * HOUR }), NOW, WEEK);
  expect([6, 7, 24, 48, 168].map(stepOf)).toMatchObject(
    [1, 5, 5, 15, 60].map((minutes) => ({ stepMs: minutes * MINUTE })),
  );
});

test('an empty range, a range beyond the longest and too many steps are refused', () => {
  expect(seriesRange(asked({ from: NOW, until: NOW }), NOW, WEEK)).toMatchObject({ parameter: 'from' });
  expect(seriesRange(asked({ from: NOW - WEEK - 6 * MINUTE }), NOW, WEEK)).toMatchObject({
    parameter: 'from',
    problem: expect.stringContaining('168 hours'),
  });
  expect(seriesRange(asked({ from: NOW - 25 * HOUR, stepMs: MINUTE }), NOW, WEEK)).toMatchObject({ parameter: 'step' });
  // The clock of the caller is a minute behind.
  expect(seriesRange(asked({ from: NOW - 24 * HOUR - MINUTE, stepMs: MINUTE }), NOW, 24 * HOUR)).toHaveProperty('from');
  expect(seriesRange(asked({ from: NOW - 24 * HOUR, stepMs: MINUTE }), NOW, WEEK)).toMatchObject({ stepMs: MINUTE });
});

test('a served range holds the asked one, in whole steps, and is bounded', () => {
  const time = fc.integer({ min: 0, max: 2 ** 42 });
  const step = fc.option(
    fc.integer({ min: 1, max: 1440 }).map((minutes) => minutes * MINUTE),
    { nil: undefined },
  );
  fc.assert(
    fc.property(time, fc.integer({ min: 1, max: WEEK }), step, (from, length, stepMs) => {
      const range = seriesRange({ from, until: from + length, stepMs }, 0, WEEK);
      if ('problem' in range) {
        expect(range.parameter).toBe('step');
        return;
      }
      expect(range.from).toBeLessThanOrEqual(from);
      expect(range.until).toBeGreaterThanOrEqual(from + length);
      expect([range.from % range.stepMs, range.until % range.stepMs]).toEqual([0, 0]);
      expect((range.until - range.from) / range.stepMs).toBeLessThanOrEqual(MOST_POINTS + 6);
    }),
  );
});

test('the bounds themselves are served', () => {
  const longest = 24 * HOUR;
  const from = NOW - longest - 5 * MINUTE;
  expect(seriesRange(asked({ from }), NOW, longest)).toHaveProperty('stepMs');
  expect(seriesRange(asked({ from: from - 1 }), NOW, longest)).toHaveProperty('parameter', 'from');
  const steps = (count: number) => asked({ from: 0, until: count * MINUTE, stepMs: MINUTE });
  expect(seriesRange(steps(MOST_POINTS + 6), NOW, WEEK)).toHaveProperty('stepMs', MINUTE);
  expect(seriesRange(steps(MOST_POINTS + 7), NOW, WEEK)).toHaveProperty('parameter', 'step');
});

test.each([
  [6, MINUTE],
  [30, 5 * MINUTE],
  [90, 15 * MINUTE],
  [360, HOUR],
  [361, 6 * HOUR],
  [2160, 6 * HOUR],
  [2161, 24 * HOUR],
  [10_000, 24 * HOUR],
])('%i hours have steps of %i ms', (hours, stepMs) => {
  expect(seriesRange(asked({ from: NOW - hours * HOUR }), NOW, 20_000 * HOUR)).toHaveProperty('stepMs', stepMs);
});
