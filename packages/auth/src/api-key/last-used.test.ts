import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { authenticator } from '../authenticate.ts';
import { hashApiKey } from './format.ts';
import { apiKeyLane } from './lane.ts';
import { trackLastUsed } from './last-used.ts';
import { memoryKeyStore } from './memory.ts';

describe('trackLastUsed', () => {
  test('writes the latest time once for many requests', async () => {
    const writes: ReadonlyMap<string, number>[] = [];
    const tracked = trackLastUsed({ write: async (times) => void writes.push(times) });
    const key = 'k'.repeat(40);
    const record = {
      id: 'key_1',
      hash: hashApiKey(key),
      tenant: 'acme',
      workspaces: 'all',
      principal: 'p_1',
      scopes: [],
      mode: 'live',
    } as const;
    let time = 0;
    const lane = apiKeyLane({ keys: memoryKeyStore([record]), now: () => ++time, onUsed: tracked.note });
    const auth = authenticator({ lanes: [lane] });
    for (let turn = 0; turn < 100; turn++) await auth.authenticate({ headers: { authorization: `Bearer ${key}` } });
    await auth.authenticate({ headers: { authorization: `Bearer ${'x'.repeat(40)}` } });
    expect(writes).toEqual([]);
    await tracked.close();
    expect(writes).toEqual([new Map([['key_1', 100]])]);
  });

  test('writes at the end of an interval with uses, and not without uses', async () => {
    vi.useFakeTimers();
    try {
      const write = vi.fn(async () => {});
      const tracked = trackLastUsed({ write, intervalMs: 1000 });
      await vi.advanceTimersByTimeAsync(5000);
      expect(write).not.toHaveBeenCalled();
      tracked.note('key_1', 1);
      tracked.note('key_1', 2);
      await vi.advanceTimersByTimeAsync(1000);
      expect(write).toHaveBeenCalledTimes(1);
      await vi.advanceTimersByTimeAsync(5000);
      expect(write).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('writes a failed batch again, and never replaces a newer time by an older one', async () => {
    const writes: ReadonlyMap<string, number>[] = [];
    const failures: unknown[] = [];
    let fail = true;
    const tracked = trackLastUsed({
      async write(times) {
        if (fail) throw new Error('down');
        writes.push(times);
      },
      onFailure: (cause) => failures.push(cause),
    });
    tracked.note('key_1', 1);
    tracked.note('key_2', 1);
    const failing = tracked.flush();
    tracked.note('key_1', 2);
    await failing;
    fail = false;
    await tracked.close();
    expect(failures).toHaveLength(1);
    expect(writes).toEqual([
      new Map([
        ['key_1', 2],
        ['key_2', 1],
      ]),
    ]);
  });

  test('stores at most maxKeys keys, and none after close', async () => {
    const writes: ReadonlyMap<string, number>[] = [];
    const tracked = trackLastUsed({ write: async (times) => void writes.push(times), maxKeys: 2 });
    for (const key of ['a', 'b', 'c', 'a']) tracked.note(key, 1);
    await tracked.close();
    tracked.note('d', 1);
    await tracked.flush();
    expect(writes.map((times) => [...times.keys()])).toEqual([['a', 'b']]);
  });

  test('goes on when onFailure throws', async () => {
    const writes: ReadonlyMap<string, number>[] = [];
    let fail = true;
    const tracked = trackLastUsed({
      async write(times) {
        if (fail) throw new Error('down');
        writes.push(times);
      },
      onFailure() {
        throw new Error('an observer');
      },
    });
    tracked.note('key_1', 1);
    await tracked.flush();
    fail = false;
    await tracked.close();
    expect(writes).toEqual([new Map([['key_1', 1]])]);
  });

  test('over any history of failing writes, has no more than maxKeys keys and the latest time of each', async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('note' as const), key: fc.nat(5) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('flush' as const), isFailing: fc.boolean() }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 6 }), async (steps, maxKeys) => {
        const sizes: number[] = [];
        const replaced: string[] = [];
        const stored = new Map<string, number>();
        const last = new Map<string, number>();
        const pending: (() => void)[] = [];
        let isFailing = false;
        let isHolding = true;
        const tracked = trackLastUsed({
          maxKeys,
          async write(times) {
            sizes.push(times.size);
            const fails = isFailing;
            if (isHolding) await new Promise<void>((resolve) => pending.push(resolve));
            if (fails) throw new Error('down');
            for (const [key, time] of times) {
              if (time < (stored.get(key) ?? 0)) replaced.push(key);
              stored.set(key, time);
            }
          },
        });
        for (const [time, each] of steps.entries()) {
          if (each.kind === 'note') {
            tracked.note(String(each.key), time + 1);
            last.set(String(each.key), time + 1);
          } else if (each.kind === 'flush') {
            isFailing = each.isFailing;
            void tracked.flush();
          } else pending.shift()?.();
          await Promise.resolve();
        }
        [isHolding, isFailing] = [false, false];
        for (const end of pending) end();
        await tracked.close();
        expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(maxKeys);
        expect(replaced, 'no older time replaces a newer one').toEqual([]);
        for (const [key, time] of stored) expect(time).toBeLessThanOrEqual(last.get(key) ?? 0);
        if (maxKeys === 6) expect(stored).toEqual(last);
      }),
    );
  });
});
