import { expect, test } from 'vitest';
import type { Outage } from '../../src/ports/outage.ts';
import { changesOutage, isTooLong, outageAfter } from '../../src/webhooks/outage.ts';

const RULE = { failureThreshold: 4, failAfterMs: 10_000 };
const attempt = (fields: object = {}) => ({ now: 1, isDeadLetter: false, isOperational: false, ...fields });
const outage = (fields: Partial<Outage> = {}): Outage => ({ since: 0, failures: 1, announced: [], ...fields });

test.each([
  ['the first failed attempt', undefined, {}, outage({ since: 1 })],
  ['the fourth in a row', outage({ failures: 3 }), {}, outage({ failures: 4, announced: ['failing'] })],
  ['a later one', outage({ failures: 4, announced: ['failing'] }), {}, outage({ failures: 4, announced: ['failing'] })],
  [
    'one that leaves a dead letter',
    outage(),
    { isDeadLetter: true },
    outage({ failures: 2, announced: ['dead-lettering'] }),
  ],
  [
    'the fourth, to deliver an operational event',
    outage({ failures: 3 }),
    { isOperational: true, isDeadLetter: true },
    outage({ failures: 4 }),
  ],
])('outageAfter: %s', (_, before, fields, after) => {
  expect(outageAfter(before, attempt(fields), RULE)).toEqual(after);
});

test('a long outage writes its row no more, until it has lasted too long', () => {
  const known = outage({ failures: 4, announced: ['failing', 'dead-lettering'] });
  expect(changesOutage(known, attempt({ isDeadLetter: true }), RULE)).toBe(false);
  expect(changesOutage(known, attempt({ now: 10_000 }), RULE)).toBe(true);
  expect(changesOutage(outage({ failures: 4, announced: ['failing'] }), attempt({ isDeadLetter: true }), RULE)).toBe(
    true,
  );
  expect(changesOutage(outage({ failures: 3 }), attempt(), RULE)).toBe(true);
});

test('an operational event begins an outage without an announcement', () => {
  const begun = outage({ since: 1, failures: 1, announced: [] });
  expect(outageAfter(undefined, attempt({ isOperational: true, isDeadLetter: true }), RULE)).toEqual(begun);
});

test('the beginning of an outage and each failure below the threshold change its row', () => {
  expect(changesOutage(undefined, attempt(), RULE)).toBe(true);
  const known = outage({ failures: 3, announced: ['failing'] });
  expect(changesOutage(known, attempt(), RULE), 'below the threshold').toBe(true);
  expect(changesOutage({ ...known, failures: 4 }, attempt(), RULE), 'at the threshold').toBe(false);
});

test('a beginning that is later than now by more than two clocks differ changes its row', () => {
  const known = outage({ failures: 4, announced: ['failing'] });
  expect(changesOutage({ ...known, since: 2001 }, attempt(), RULE)).toBe(false);
  expect(changesOutage({ ...known, since: 2002 }, attempt(), RULE)).toBe(true);
});

test.each([
  [9999, 10_000, false],
  [10_000, 10_000, true],
  [10_001, 10_000, true],
  [10_000, 0, false],
  [0, 0, false],
])('after %i ms an outage that may last %i ms is too long: %s', (lasted, failAfterMs, expected) => {
  expect(isTooLong(outage({ since: 500 }), 500 + lasted, { ...RULE, failAfterMs })).toBe(expected);
});
