import { createHash } from 'node:crypto';
import type { ReplayStore, ReplayStoreOptions } from '@svc/auth/dpop';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/** Opens an empty store. */
export type OpenReplayStore = (options: ReplayStoreOptions) => Promise<ReplayStore>;

/** Makes the id of a proof. */
export const proofId = (name: string | number): string => createHash('sha256').update(String(name)).digest('hex');

/** Tests what every replay store guarantees. */
export function replayContract(open: OpenReplayStore): void {
  /** Opens a store whose clocks the test sets, in ms. */
  async function opened(options: Partial<ReplayStoreOptions> = {}) {
    const clocks = { now: 1_800_000_000_000, monotonic: 0 };
    const store = await open({ now: () => clocks.now, monotonic: () => clocks.monotonic, ...options });
    return {
      store,
      clocks,
      claim: (name: string | number, livesMs = 60_000) => store.claim(proofId(name), clocks.now + livesMs),
      pass(ms: number) {
        clocks.now += ms;
        clocks.monotonic += ms;
      },
    };
  }

  test('accepts a proof once', async () => {
    const { claim } = await opened();
    expect([await claim('a'), await claim('a'), await claim('b'), await claim('b')]).toEqual([
      'fresh',
      'seen',
      'fresh',
      'seen',
    ]);
  });

  test('accepts one of a hundred concurrent presentations of a proof, among others', async () => {
    const { claim } = await opened();
    const presented = Array.from({ length: 500 }, (_, turn) => turn % 5);
    const answers = await Promise.all(presented.map((name) => claim(name)));
    for (const name of [0, 1, 2, 3, 4]) {
      const of = answers.filter((_, turn) => turn % 5 === name);
      expect(of.filter((answer) => answer === 'fresh')).toHaveLength(1);
      expect(of.filter((answer) => answer === 'seen')).toHaveLength(99);
    }
  });

  test('remembers a proof until it expires, and forgets it within 30 s', async () => {
    const { claim, pass } = await opened();
    await claim('a', 60_000);
    pass(60_000);
    expect(await claim('a')).toBe('seen');
    // Readings of the clock before the last 30 s no longer count.
    for (let turn = 0; turn < 4; turn++) {
      pass(15_000);
      await claim(`other ${turn}`);
    }
    expect(await claim('a')).toBe('fresh');
    expect(await claim('a')).toBe('seen');
  });

  test('remembers a proof while the clock is an hour ahead for some seconds', async () => {
    const { claim, clocks, pass } = await opened();
    await claim('a');
    clocks.now += 3_600_000;
    for (let turn = 0; turn < 10; turn++) {
      pass(1000);
      await claim(`ahead ${turn}`);
    }
    clocks.now -= 3_600_000;
    expect(await claim('a')).toBe('seen');
  });

  test('remembers a proof while the clock is an hour behind', async () => {
    const { claim, clocks, pass } = await opened();
    await claim('a');
    clocks.now -= 3_600_000;
    for (let turn = 0; turn < 10; turn++) {
      pass(60_000);
      await claim(`behind ${turn}`, 1);
    }
    clocks.now += 3_000_000;
    expect(await claim('a')).toBe('seen');
  });

  test('says that it is full, and has room again when proofs expired', async () => {
    const told: unknown[] = [];
    const { claim, pass } = await opened({ maxEntries: 3, onFull: (full) => told.push(full) });
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'a', 'e'].map((name) => claim(name)));
    expect(answers).toEqual(['fresh', 'fresh', 'fresh', 'full', 'seen', 'full']);
    expect(await claim('d')).toBe('full');
    expect(told).toEqual([{ maxEntries: 3 }]);
    for (let turn = 0; turn < 8; turn++) {
      pass(15_000);
      await claim('a');
    }
    expect(await claim('d')).toBe('fresh');
  });

  test('calls onFull once a minute while it is full', async () => {
    const told: unknown[] = [];
    const { claim, clocks } = await opened({ maxEntries: 1, onFull: (full) => told.push(full) });
    await claim('a', 600_000);
    for (let turn = 0; turn < 181; turn++) {
      expect(await claim('b')).toBe('full');
      clocks.monotonic += 1000;
    }
    expect(told).toHaveLength(4);
  });

  test('has room while more proofs than it holds pass through it', async () => {
    const { claim, pass } = await opened({ maxEntries: 2000 });
    for (let second = 0; second < 300; second++) {
      const answers = await Promise.all(Array.from({ length: 15 }, (_, turn) => claim(`${second} ${turn}`)));
      expect(new Set(answers)).toEqual(new Set(['fresh']));
      pass(1000);
    }
  }, 60_000);

  test('accepts no proof twice while it is valid, for any passing of time', async () => {
    const step = fc.record({
      name: fc.integer({ min: 0, max: 5 }),
      pauseMs: fc.constantFrom(0, 1, 999, 14_000, 70_000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { claim, clocks, pass } = await opened();
        const accepted = new Map<number, number>();
        for (const { name, pauseMs } of steps) {
          pass(pauseMs);
          const expiresAt = accepted.get(name);
          const answer = await claim(name);
          if (expiresAt === undefined) expect(answer).toBe('fresh');
          else if (clocks.now <= expiresAt) expect(answer).toBe('seen');
          if (answer === 'fresh') accepted.set(name, clocks.now + 60_000);
        }
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  test.each([0, -1, 1.5, Number.NaN])('throws a TypeError for maxEntries %s', async (maxEntries) => {
    await expect(opened({ maxEntries })).rejects.toThrow(/maxEntries must be a whole number/);
  });

  test('throws a TypeError for clocks that are no functions, and for an unknown option', async () => {
    await expect(opened({ now: JSON.parse('1') })).rejects.toThrow(/now must be a function/);
    await expect(opened({ monotonic: JSON.parse('1') })).rejects.toThrow(/monotonic must be a function/);
    await expect(opened(JSON.parse('{"maxEntires": 1}'))).rejects.toThrow(/maxEntries/);
  });
}
