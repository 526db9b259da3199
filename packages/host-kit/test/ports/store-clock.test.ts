import { describe, expect, test } from 'vitest';
import { sleepUntil } from '../../src/ports/clock.ts';
import type { LogRecord } from '../../src/ports/log.ts';
import { storeClock } from '../../src/ports/store-clock.ts';
import { manualClock } from '../streams/manual-clock.ts';

const START = Date.UTC(2026, 5, 1);
const HOUR_MS = 3_600_000;

/** A host on a database with a clock of its own. Both are set by the test. */
function hostAndDatabase(aheadMs = 0) {
  const clock = manualClock(START + aheadMs);
  const origin = clock.monotonic();
  const logged: LogRecord[] = [];
  const database = { setBy: 0, takesMs: 0, isAway: false, asked: 0 };
  const time = async () => {
    database.asked += 1;
    if (database.isAway) throw new Error('away');
    const answer = START + database.setBy + clock.monotonic() - origin + database.takesMs / 2;
    clock.advance(database.takesMs);
    return answer;
  };
  const ofStore = storeClock({ clock, store: { time }, log: (record) => logged.push(record) });
  return { clock, ofStore, database, logged };
}

describe('the clock of a store that has one', () => {
  test('is read, carried on by the monotonic clock, and read again after 5 s', async () => {
    const { clock, ofStore, database } = hostAndDatabase(HOUR_MS);
    expect(await ofStore.read()).toBe(START);
    clock.advance(4999);
    expect(await ofStore.read()).toBe(START + 4999);
    expect(database.asked).toBe(1);
    clock.advance(1);
    expect(await ofStore.read()).toBe(START + 5000);
    expect(database.asked).toBe(2);
  });

  test('is not moved when the clock of the host is set', async () => {
    const { clock, ofStore } = hostAndDatabase();
    await ofStore.read();
    clock.set(-HOUR_MS);
    expect(ofStore.now()).toBe(START);
    expect(ofStore.aheadMs()).toBe(-HOUR_MS);
  });

  test('follows the clock of the database when that is set', async () => {
    const { clock, ofStore, database } = hostAndDatabase();
    await ofStore.read();
    database.setBy = -HOUR_MS;
    clock.advance(5000);
    expect(await ofStore.read()).toBe(START - HOUR_MS + 5000);
  });

  test('does not go back by the inaccuracy of a reading', async () => {
    const { clock, ofStore, database } = hostAndDatabase();
    await ofStore.read();
    database.setBy = -20;
    clock.advance(5000);
    const before = ofStore.now();
    expect(await ofStore.read()).toBe(before);
  });

  test('keeps its time when an answer takes so long that it explains the difference', async () => {
    const { clock, ofStore, database } = hostAndDatabase();
    await ofStore.read();
    database.takesMs = 8000;
    database.setBy = 4900;
    clock.advance(5000);
    expect(await ofStore.read()).toBe(START + 13_000);
  });

  test('becomes more accurate with a quicker answer, and not less with a slower one', async () => {
    const { clock, ofStore, database } = hostAndDatabase();
    database.takesMs = 800;
    database.setBy = 300;
    await ofStore.read();
    expect(ofStore.now()).toBe(START + 1100);
    database.takesMs = 2;
    database.setBy = 0;
    clock.advance(10_000);
    await ofStore.read();
    // It does not go back, so it stands still until the time has come.
    clock.advance(1000);
    const accurate = ofStore.now();
    expect(accurate).toBe(START + 11_802);
    database.takesMs = 800;
    database.setBy = 300;
    clock.advance(5000);
    expect(await ofStore.read()).toBe(accurate + 5800);
  });

  test('rejects a reading while the database is away, and asks again', async () => {
    const { ofStore, database } = hostAndDatabase();
    database.isAway = true;
    await expect(ofStore.read()).rejects.toThrow('away');
    expect(ofStore.aheadMs()).toBe(undefined);
    database.isAway = false;
    expect(await ofStore.read()).toBe(START);
  });

  test('is asked once by callers at the same time', async () => {
    const { ofStore, database } = hostAndDatabase();
    await Promise.all([ofStore.read(), ofStore.read(), ofStore.read()]);
    expect(database.asked).toBe(1);
  });

  test('tells once that the clocks differ, and once that they agree again', async () => {
    const { clock, ofStore, logged } = hostAndDatabase();
    const later = async () => {
      clock.advance(5000);
      await ofStore.read();
    };
    await later();
    clock.set(HOUR_MS);
    await later();
    await later();
    clock.set(-HOUR_MS);
    await later();
    await later();
    expect(logged.map(({ level, event, aheadMs }) => [level, event, aheadMs])).toEqual([
      ['warn', 'clock.differs', HOUR_MS],
      ['info', 'clock.agrees', 0],
    ]);
  });

  test('tells nothing of a difference that the duration of the reading explains', async () => {
    const { ofStore, database, logged } = hostAndDatabase(2500);
    database.takesMs = 4000;
    await ofStore.read();
    expect(logged).toEqual([]);
  });
});

test('a store without a clock goes on by the time of the start, after any change of the clock', async () => {
  const clock = manualClock(START);
  const ofStore = storeClock({ clock, store: {}, log: () => expect.fail('There is nothing to compare with.') });
  clock.set(-HOUR_MS);
  clock.advance(1000);
  expect(await ofStore.read()).toBe(START + 1000);
  expect(ofStore.aheadMs()).toBe(undefined);
});

describe('a wait for a time of the day', () => {
  /** Waits for `time`, and reports after which time the wait ended, in ms. */
  function waiting(until: number) {
    const clock = manualClock(START);
    const began = clock.monotonic();
    let endedAfter: number | undefined;
    void sleepUntil(clock, until).then(() => {
      endedAfter = clock.monotonic() - began;
    });
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= 1000) {
        clock.advance(Math.min(left, 1000));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return endedAfter;
    };
    return { clock, pass };
  }

  test('ends when the time has come', async () => {
    const { pass } = waiting(START + HOUR_MS);
    expect(await pass(HOUR_MS - 1000)).toBe(undefined);
    expect(await pass(1000)).toBe(HOUR_MS);
  });

  test('is not prolonged by a clock that is set back', async () => {
    const { clock, pass } = waiting(START + HOUR_MS);
    clock.set(-HOUR_MS);
    expect(await pass(HOUR_MS)).toBe(HOUR_MS);
  });

  test('ends within a minute when the clock has passed the time, as after a suspension of the machine', async () => {
    const { clock, pass } = waiting(START + HOUR_MS);
    await pass(10_000);
    clock.set(2 * HOUR_MS);
    expect(await pass(60_000)).toBeLessThanOrEqual(60_000);
  });
});
