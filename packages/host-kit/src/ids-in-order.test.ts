import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mintInOrder } from './ids-in-order.ts';
import type { Clock } from './ports/clock.ts';

const clockAt = (now: () => number): Clock => ({ now, monotonic: () => 0, after: () => () => {} });
const FORM = /^run_[0-9a-hjkmnp-tv-z]{26}$/;

describe('ids in order', () => {
  test('rise with every clock and every source of randomness', () => {
    const random = fc.array(fc.nat(255), { minLength: 10, maxLength: 10 });
    const steps = fc.array(fc.tuple(fc.integer({ min: -86_400_000, max: 86_400_000 }), random), { minLength: 2 });
    fc.assert(
      fc.property(steps, (taken) => {
        let now = 2_000_000_000_000;
        const clock = clockAt(() => now);
        const ids = taken.map(([step, bytes]) => {
          now += step;
          return mintInOrder('run', clock, (size) => Uint8Array.from(bytes.slice(0, size)));
        });
        for (const id of ids) expect(id).toMatch(FORM);
        expect([...ids].sort()).toEqual(ids);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  test('rise when a millisecond has no room left', () => {
    const clock = clockAt(() => 5);
    const ids = Array.from({ length: 3 }, () => mintInOrder('run', clock, (size) => new Uint8Array(size).fill(255)));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(3);
  });

  test('have the time of the clock as soon as it has caught up', () => {
    let now = 1000;
    const clock = clockAt(() => now);
    const zeros = (size: number) => new Uint8Array(size);
    const timeOf = (id: string) => id.slice(4, 14);
    const first = timeOf(mintInOrder('run', clock, zeros));
    now = 500;
    expect(timeOf(mintInOrder('run', clock, zeros))).toBe(first);
    now = 1001;
    expect(timeOf(mintInOrder('run', clock, zeros)) > first).toBe(true);
  });

  test('of one millisecond do not tell each other', () => {
    const clock = clockAt(() => 5);
    const mint = () => mintInOrder('run', clock, (size) => crypto.getRandomValues(new Uint8Array(size)));
    const tails = Array.from({ length: 50 }, () => mint().slice(-8));
    expect(new Set(tails).size).toBe(50);
  });

  test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, 2 ** 48])(
    'are minted again after the clock has shown %d',
    (wrong) => {
      const times = [5, wrong, 6];
      const clock = clockAt(() => times.shift() ?? 7);
      const zeros = (size: number) => new Uint8Array(size);
      const first = mintInOrder('run', clock, zeros);
      if (!(wrong > 5)) expect(mintInOrder('run', clock, zeros) > first).toBe(true);
      else expect(() => mintInOrder('run', clock, zeros)).toThrow(TypeError);
      const next = mintInOrder('run', clock, zeros);
      expect(next).toMatch(FORM);
      expect(next > first).toBe(true);
    },
  );
});
