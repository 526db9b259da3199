import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCronForm, isTimeZone, loadCalendar } from './calendar.ts';
import vectors from './daylight-saving.json' with { type: 'json' };

const calendarOf = await loadCalendar();

describe('the times of a schedule', () => {
  test.each(vectors)('$title: $cron in $timeZone', ({ cron, timeZone, after, times }) => {
    const calendar = calendarOf({ cron, timeZone });
    let time = Date.parse(after);
    for (const expected of times) {
      const next = calendar.after(time);
      expect(new Date(next ?? 0)).toEqual(new Date(expected));
      time = next ?? 0;
    }
  });

  test('rise, and do not depend on the time from which they are asked', () => {
    const cron = fc
      .tuple(
        fc.constantFrom('*', '0', '30', '*/20', '15,45'),
        fc.constantFrom('*', '2', '1-3', '*/6'),
        fc.constantFrom('*', '1', '29'),
        fc.constantFrom('*', '3', '10-11'),
        fc.constantFrom('*', 'SUN'),
      )
      .map((fields) => fields.join(' '));
    const timeZone = fc.constantFrom('America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'UTC');
    const time = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2027-01-01') });
    fc.assert(
      fc.property(cron, timeZone, time, fc.integer({ min: 1, max: 3_600_000 }), (expression, zone, start, step) => {
        const calendar = calendarOf({ cron: expression, timeZone: zone });
        const next = calendar.after(start);
        if (next === undefined) return;
        expect(next).toBeGreaterThan(start);
        expect(next % 60_000).toBe(0);
        expect(calendar.after(Math.min(start + step, next - 1))).toBe(next);
        expect(calendar.after(next)).toBeGreaterThan(next);
      }),
      { numRuns: 300 },
    );
  });

  test('have no end for an expression without occurrences', () => {
    expect(calendarOf({ cron: '0 0 30 2 *', timeZone: 'UTC' }).after(0)).toBe(undefined);
  });
});

describe('a cron expression', () => {
  test.each(['* * * * *', '0 9 * * MON-FRI', '*/5 1,2 L * 1#2'])('%j has the form', (text) =>
    expect(isCronForm(text)).toBe(true),
  );

  test.each([
    ...['', '* * * *', '* * * * * *', ' * * * * *', '*  * * * *', '@daily', '? * * * *', '* * * * +1'],
    ...['*\t* * * *', '* * * * *\n', `${'1,'.repeat(80)}1 * * * *`, '٣ * * * *'],
  ])('%j has not', (text) => expect(isCronForm(text)).toBe(false));

  test.each([
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
    'a * * * *',
  ])('%j is out of range', (cron) => expect(() => calendarOf({ cron, timeZone: 'UTC' })).toThrow());

  test('no text makes the parser hang, and each is refused or has rising times', () => {
    const field = fc.stringMatching(/^[0-9*,/#LWA-F-]{1,6}$/);
    fc.assert(
      fc.property(fc.array(field, { minLength: 5, maxLength: 5 }), (fields) => {
        const cron = fields.join(' ');
        if (!isCronForm(cron)) return;
        try {
          const next = calendarOf({ cron, timeZone: 'America/New_York' }).after(0);
          if (next !== undefined) expect(next).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a time zone', () => {
  test.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])('%j is one', (name) =>
    expect(isTimeZone(name)).toBe(true),
  );

  test.each(['', '+05:00', 'Mars/Base', '../etc', 'Europe/Berlin ', 'A'.repeat(65)])('%j is none', (name) => {
    expect(isTimeZone(name)).toBe(false);
    expect(() => calendarOf({ cron: '* * * * *', timeZone: name })).toThrow('time zone');
  });
});
