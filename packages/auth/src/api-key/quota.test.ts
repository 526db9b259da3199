import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkedApiKeyRecord, type KeyQuota } from './index.ts';
import { drawn, isStanding, periodAt, type QuotaCount, type QuotaDraw } from './quota.ts';

const DAY_MS = 86_400_000;
const JUNE_1 = Date.UTC(2026, 5, 1);
const day = (fields: Partial<QuotaDraw> = {}): QuotaDraw => ({
  ...periodAt('day', JUNE_1),
  ...{ account: 'key_1', period: 'day', limit: 10, wanted: 1, used: 0, returned: 0 },
  ...fields,
});

describe('the period of a quota', () => {
  test.each([
    ['day', '2026-02-28T23:59:59.999Z', '2026-02-28T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['day', '2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    ['month', '2026-12-31T23:59:59.999Z', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['month', '2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ] as const)('the %s of %s begins at %s and ends at %s', (period, now, startsAt, endsAt) => {
    expect(periodAt(period, Date.parse(now))).toEqual({ startsAt: Date.parse(startsAt), endsAt: Date.parse(endsAt) });
  });

  test('a count stands in its period and in the one before, and in no other', () => {
    const standing = (startsAt: number) => isStanding({ period: 'day', startsAt }, 'day', periodAt('day', JUNE_1));
    expect([-DAY_MS, 0, DAY_MS, 2 * DAY_MS].map((shift) => standing(JUNE_1 + shift))).toEqual([
      ...[false, true, true, false],
    ]);
    expect(isStanding({ period: 'month', startsAt: JUNE_1 }, 'day', periodAt('day', JUNE_1))).toBe(false);
  });
});

describe('a draw', () => {
  test('grants what is left, and nothing above the limit', () => {
    const first = drawn(undefined, day({ wanted: 7 }));
    expect(first).toEqual({ granted: 7, count: { period: 'day', startsAt: JUNE_1, taken: 7, used: 0 } });
    expect(drawn(first.count, day({ wanted: 7 }))).toMatchObject({ granted: 3, count: { taken: 10 } });
    expect(drawn(first.count, day({ wanted: 7, limit: 5 }))).toMatchObject({ granted: 0, count: { taken: 7 } });
  });

  test('settles the reserve of its own period, and ignores that of another', () => {
    const before: QuotaCount = { period: 'day', startsAt: JUNE_1, taken: 8, used: 1 };
    const settled = day({ wanted: 0, reservedIn: JUNE_1, used: 3, returned: 4 });
    expect(drawn(before, settled).count).toMatchObject({ taken: 4, used: 4 });
    expect(drawn(before, { ...settled, reservedIn: JUNE_1 - DAY_MS }).count).toEqual(before);
    expect(drawn(before, { ...settled, reservedIn: undefined }).count).toEqual(before);
  });

  test('a new period begins a new count, and so does another kind of period', () => {
    const before: QuotaCount = { period: 'day', startsAt: JUNE_1, taken: 10, used: 10 };
    expect(drawn(before, day()).granted).toBe(0);
    expect(drawn(before, day(periodAt('day', JUNE_1 + DAY_MS)))).toMatchObject({ granted: 1, count: { taken: 1 } });
    expect(drawn(before, day({ period: 'month', ...periodAt('month', JUNE_1) })).granted).toBe(1);
  });

  test('a host whose clock is behind draws on the count of the others', () => {
    const before: QuotaCount = { period: 'day', startsAt: JUNE_1 + DAY_MS, taken: 10, used: 10 };
    expect(drawn(before, day())).toEqual({ granted: 0, count: before });
  });

  test('never grants more than the limit, for any reports', () => {
    const draws = fc.record({
      wanted: fc.nat(20),
      used: fc.nat(20),
      returned: fc.nat(20),
      reservedIn: fc.constantFrom(undefined, JUNE_1, JUNE_1 - DAY_MS),
    });
    const holds = ({ taken, used }: QuotaCount) => 0 <= used && used <= taken && taken <= 10;
    fc.assert(
      fc.property(fc.array(draws), (all) => {
        let count: QuotaCount | undefined;
        for (const fields of all) {
          const { granted, count: after } = drawn(count, day(fields));
          if (granted < 0 || !holds(after)) return false;
          count = after;
        }
        return true;
      }),
    );
  });
});

describe('the quota of a record', () => {
  const record = (quota: unknown) => () =>
    checkedApiKeyRecord({
      ...{ id: 'key_1', hash: '0'.repeat(64), tenant: 'acme', workspaces: 'all', principal: 'p', mode: 'live' },
      scopes: [],
      quota: quota as KeyQuota,
    });

  test.each([
    ...[null, 5, {}, { limit: 0, period: 'day' }, { limit: 1.5, period: 'day' }, { limit: 1, period: 'week' }],
    ...[
      { limit: 1, period: 'day', account: 'a b' },
      { limit: 1, period: 'day', account: 7 },
    ],
  ])('%j is refused', (quota) => {
    expect(record(quota)).toThrow(
      'API key key_1: quota must be a limit, a whole number of at least 1, and a period, day or month, or left out.',
    );
  });

  test('is frozen with the record', () => {
    const { quota } = record({ limit: 5, period: 'month', account: 'key_0' })();
    expect([quota, Object.isFrozen(quota)]).toEqual([{ limit: 5, period: 'month', account: 'key_0' }, true]);
  });
});
