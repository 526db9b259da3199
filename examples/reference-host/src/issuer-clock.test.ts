import type { LogRecord } from '@svc/host-kit';
import { describe, expect, test } from 'vitest';
import { comparedWithIssuers } from './issuer-clock.ts';

const NOW = Date.UTC(2026, 5, 1);
const dated = (ms: number) => new Date(ms).toUTCString();

/** Fetches twice for each date, and returns the records. */
async function recordsOf(dates: readonly (string | undefined)[]): Promise<readonly LogRecord[]> {
  const logged: LogRecord[] = [];
  const left = dates.flatMap((date) => [date, date]);
  const answer = async () => {
    const date = left.shift();
    return new Response('{}', { headers: date === undefined ? {} : { date } });
  };
  const fetch = comparedWithIssuers(answer, { now: () => NOW, log: (record) => logged.push(record) });
  for (const _ of dates.flatMap((date) => [date, date])) await fetch('https://idp.example.com/jwks?secret=1', {});
  return logged;
}

describe('the clock of an issuer', () => {
  test.each([
    ['the same time', dated(NOW)],
    ['30 s ago', dated(NOW - 30_000)],
    ['in 30 s', dated(NOW + 30_000)],
    ['no time', undefined],
    ['no date', 'yesterday'],
    ['a date of another form', '2020-01-01T00:00:00Z'],
  ])('is not told of when it shows %s', async (_title, date) => {
    expect(await recordsOf([date])).toEqual([]);
  });

  test.each([
    ['behind', dated(NOW + 31_000), -31_000],
    ['ahead', dated(NOW - 3_600_000), 3_600_000],
  ])('is told of once when the host is %s', async (_title, date, aheadMs) => {
    expect(await recordsOf([date])).toEqual([
      expect.objectContaining({ event: 'clock.differs-from-issuer', issuer: 'https://idp.example.com', aheadMs }),
    ]);
  });

  test('is told of again after both agreed', async () => {
    expect(await recordsOf([dated(0), dated(NOW), dated(0)])).toHaveLength(2);
  });
});
