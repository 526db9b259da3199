import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SettledPlace } from './settled-place.ts';

const SETTLE_MS = 3;

/** A transaction takes a cursor, begins to write at most `SETTLE_MS` later, and ends. */
const transaction = fc.record({
  takes: fc.nat(40),
  writesAfter: fc.nat(SETTLE_MS),
  endsAfter: fc.nat(30),
  commits: fc.boolean(),
});

describe(covers('triggers.change.settled'), () => {
  test('a place settles after the delay, when the transactions that were open then have ended', () => {
    const place = new SettledPlace<number>(1000, (one, other) => one === other);
    expect(place.observe({ top: 5, now: 0, oldestOpen: 10n, next: 12n })).toBe(undefined);
    expect(place.observe({ top: 6, now: 999, oldestOpen: 12n, next: 12n })).toBe(undefined);
    expect(place.observe({ top: 6, now: 1000, oldestOpen: 12n, next: 14n })).toBe(undefined);
    expect(place.observe({ top: 7, now: 2000, oldestOpen: 13n, next: 15n })).toBe(undefined);
    expect(place.observe({ top: 7, now: 2001, oldestOpen: 14n, next: 15n })).toBe(5);
    expect(place.observe({ top: 7, now: 3001, oldestOpen: 15n, next: 15n })).toBe(7);
    expect(place.observe({ top: 7, now: 9001, oldestOpen: 15n, next: 15n })).toBe(7);
  });

  test('no row appears at or below a place that has settled, for any order of commits', () => {
    fc.assert(
      fc.property(fc.array(transaction, { maxLength: 15 }), (transactions) => {
        // Cursors are taken in the order of time, and numbers of transactions at the first write.
        const taken = [...transactions].sort((a, b) => a.takes - b.takes);
        const rows = taken.map((one, index) => {
          const writes = one.takes + one.writesAfter;
          return { ...one, cursor: index + 1, writes, ends: writes + one.endsAfter };
        });
        const place = new SettledPlace<number>(SETTLE_MS + 1, (one, other) => one === other);
        let settled = 0;
        for (let now = 0; now <= 120; now++) {
          const began = rows.filter(({ writes }) => writes <= now).sort((a, b) => a.writes - b.writes);
          const open = began.findIndex(({ ends }) => ends > now);
          const visible = rows.filter(({ ends, commits }) => commits && ends <= now).map(({ cursor }) => cursor);
          const appeared = rows.filter(({ ends, commits }) => commits && ends === now).map(({ cursor }) => cursor);
          for (const cursor of appeared) expect(cursor).toBeGreaterThan(settled);
          const next = BigInt(began.length);
          const oldestOpen = open === -1 ? next : BigInt(open);
          settled = place.observe({ top: Math.max(0, ...visible), now, oldestOpen, next }) ?? 0;
        }
        // All of them have ended: every committed row is read.
        expect(settled).toBe(Math.max(0, ...rows.filter(({ commits }) => commits).map(({ cursor }) => cursor)));
      }),
    );
  });
});
