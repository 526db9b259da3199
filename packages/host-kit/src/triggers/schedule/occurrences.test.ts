import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MissedPolicy, Occurrence, ScheduleSource } from '../../ports/triggers.ts';
import { loadCalendar } from './calendar.ts';
import { nextOccurrence, planned } from './occurrences.ts';

const calendarOf = await loadCalendar();
const HOUR_MS = 3_600_000;
const NOON = Date.parse('2026-03-06T12:00:00Z');

function hourly(fields: Partial<ScheduleSource> = {}) {
  const schedule: ScheduleSource = { cron: '0 * * * *', timeZone: 'UTC', missed: 'skip', jitterSeconds: 0, ...fields };
  return { triggerId: 'trg_1', schedule };
}

const at = (time: number): Occurrence => ({ scheduledAt: time, fireAt: time });

describe(covers('triggers.schedule.missed'), () => {
  const plan = (missed: MissedPolicy, now: number, cron = '0 * * * *') =>
    planned(hourly({ missed, cron }), calendarOf({ cron, timeZone: 'UTC' }), at(NOON), now);

  test.each(['skip', 'once', 'all'] as const)('%s: an occurrence that is late by up to a minute fires', (missed) => {
    for (const late of [0, 1, 59_999]) {
      expect(plan(missed, NOON + late)).toEqual({ fire: [NOON], next: at(NOON + HOUR_MS), skips: false });
    }
  });

  test('skip: missed occurrences do not fire', () => {
    expect(plan('skip', NOON + 60_000)).toEqual({ fire: [], next: at(NOON + HOUR_MS), skips: true });
    expect(plan('skip', NOON + 5.5 * HOUR_MS)).toEqual({ fire: [], next: at(NOON + 6 * HOUR_MS), skips: true });
  });

  test('once: the latest missed occurrence fires', () => {
    expect(plan('once', NOON + 60_000)).toEqual({ fire: [NOON], next: at(NOON + HOUR_MS), skips: false });
    const latest = NOON + 5 * HOUR_MS;
    expect(plan('once', NOON + 5.5 * HOUR_MS)).toEqual({ fire: [latest], next: at(latest + HOUR_MS), skips: true });
  });

  test('all: missed occurrences fire in their order, up to the latest 100', () => {
    const few = plan('all', NOON + 2.5 * HOUR_MS);
    expect(few).toEqual({
      fire: [NOON, NOON + HOUR_MS, NOON + 2 * HOUR_MS],
      next: at(NOON + 3 * HOUR_MS),
      skips: false,
    });
    const many = plan('all', NOON + 240.5 * HOUR_MS);
    expect([many.fire.length, many.fire[0], many.skips]).toEqual([100, NOON + 141 * HOUR_MS, true]);
    const year = plan('all', NOON + 365 * 24 * HOUR_MS, '* * * * *');
    expect([year.fire.length, year.skips]).toEqual([100, true]);
  });

  test.each([
    ['* * * 1 *', '2026-01-01T00:00:00Z', '2026-03-10T00:00:00Z', '2026-01-31T23:59:00Z'],
    ['* * * * FRI', '2026-03-06T12:00:00Z', '2026-03-08T20:00:00Z', '2026-03-06T23:59:00Z'],
  ])('the latest of %s are found without all of them', (cron, from, now, last) => {
    const { after } = calendarOf({ cron, timeZone: 'UTC' });
    let calls = 0;
    const counting = {
      after(time: number) {
        calls++;
        return after(time);
      },
    };
    const scheduled = hourly({ missed: 'all', cron });
    const { fire, skips } = planned(scheduled, counting, at(Date.parse(from)), Date.parse(now));
    expect([fire.length, fire.at(-1), skips]).toEqual([100, Date.parse(last), true]);
    expect(fire.every((time, n) => time === (fire[0] ?? 0) + n * 60_000)).toBe(true);
    expect(calls).toBeLessThan(1400);
    calls = 0;
    const once = planned(hourly({ missed: 'once', cron }), counting, at(Date.parse(from)), Date.parse(now));
    expect(once.fire).toEqual([Date.parse(last)]);
    expect(calls).toBeLessThan(120);
  });

  test('the latest missed occurrences are those that counting each of them finds', () => {
    const crons = fc.constantFrom('* * * * *', '*/7 3 * * *', '0 0 * * MON', '* 5 1,6 * *', '0 9 29 2 *');
    const policies = fc.constantFrom('once', 'all');
    fc.assert(
      fc.property(crons, policies, fc.integer({ min: 1, max: 2000 }), (cron, missed, minutes) => {
        const calendar = calendarOf({ cron, timeZone: 'UTC' });
        const due = calendar.after(NOON) ?? 0;
        const now = due + minutes * 60_000;
        const every: number[] = [];
        for (let time = due; time <= now - 60_000; time = calendar.after(time) ?? Number.POSITIVE_INFINITY)
          every.push(time);
        const { fire, skips } = planned(hourly({ missed, cron }), calendar, at(due), now);
        const most = missed === 'once' ? 1 : 100;
        expect([fire, skips]).toEqual([every.slice(-most), every.length > most]);
      }),
      { numRuns: 40 },
    );
  });

  test('an occurrence that is in time beside missed ones is next', () => {
    const now = NOON + 3 * HOUR_MS + 10_000;
    expect(plan('skip', now).next).toEqual(at(NOON + 3 * HOUR_MS));
  });

  test('with any pauses between rounds, each occurrence fires at most once, in order, and the plan moves on', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 400_000 }), { minLength: 1, maxLength: 40 });
    const missed = fc.constantFrom<MissedPolicy>('skip', 'once', 'all');
    fc.assert(
      fc.property(pauses, missed, fc.constantFrom(0, 30, 600), (steps, policy, jitterSeconds) => {
        const scheduled = hourly({ cron: '*/2 * * * *', missed: policy, jitterSeconds });
        const calendar = calendarOf(scheduled.schedule);
        let due = nextOccurrence(scheduled, calendar, NOON);
        let now = NOON;
        const fired: number[] = [];
        for (const step of steps) {
          now += step;
          while (due !== undefined && due.fireAt <= now) {
            const { fire, next } = planned(scheduled, calendar, due, now);
            fired.push(...fire);
            expect(next?.scheduledAt).toBeGreaterThan(due.scheduledAt);
            due = next;
          }
        }
        expect(fired).toEqual([...new Set(fired)].sort((a, b) => a - b));
        expect(fired.every((time) => time <= now && time > NOON)).toBe(true);
        const longest = Math.max(...steps);
        const inTime = fired.length === Math.floor((Math.max(now - NOON, 0) - jitterSeconds * 1000) / 120_000);
        if (policy === 'all' && jitterSeconds === 0) expect(inTime).toBe(true);
        if (longest < 60_000 && jitterSeconds === 0) expect(inTime).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the jitter of an occurrence', () => {
  test('is the same on every host, within its bound, and differs between triggers and occurrences', () => {
    const calendar = calendarOf({ cron: '0 * * * *', timeZone: 'UTC' });
    const delays = new Set<number>();
    for (const triggerId of ['trg_1', 'trg_2', 'trg_3', 'trg_4']) {
      const scheduled = { ...hourly({ jitterSeconds: 300 }), triggerId };
      for (let time = NOON; time < NOON + 50 * HOUR_MS; time += HOUR_MS) {
        const next = nextOccurrence(scheduled, calendar, time);
        expect(nextOccurrence(scheduled, calendar, time)).toEqual(next);
        const delay = (next?.fireAt ?? 0) - (next?.scheduledAt ?? 0);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(300_000);
        delays.add(delay);
      }
    }
    expect(delays.size).toBeGreaterThan(190);
  });
});
