import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RateDecision, RateLimiter } from './limiter.ts';
import { memoryRateLimiter } from './memory.ts';

/** A limiter under a clock that the test moves. */
function limited(limit: number, windowSeconds: number, maxKeys = 100_000) {
  const clock = { now: 1_800_000_000_000 };
  const limiter = memoryRateLimiter({ limit, windowSeconds, now: () => clock.now, maxKeys });
  return { clock, consume: (key = 'key_1') => decided(limiter, key) };
}

function decided(limiter: RateLimiter, key: string): RateDecision {
  const decision = limiter.consume(key);
  if (decision instanceof Promise) throw new Error('The memory limiter is synchronous.');
  return decision;
}

describe('memoryRateLimiter', () => {
  test.each([1, 3, 7, 60, 600, 9973])('allows %i at once and refuses the next', (limit) => {
    const { consume } = limited(limit, 60);
    for (let count = 1; count <= limit; count++) {
      expect(consume()).toMatchObject({ allowed: true, limit, remaining: limit - count, windowSeconds: 60 });
    }
    expect(consume()).toMatchObject({ allowed: false, error: { code: 'rate_limited' } });
  });

  test('grants the whole limit again when the window ends, and not before', () => {
    const { clock, consume } = limited(3, 60);
    consume();
    clock.now += 30_000;
    for (let count = 0; count < 2; count++) consume();
    clock.now += 29_999;
    expect(consume().allowed).toBe(false);
    clock.now += 1;
    expect([consume(), consume(), consume(), consume()].map(({ allowed }) => allowed)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test('grants at most one limit, however long a key was quiet', () => {
    const { clock, consume } = limited(3, 60);
    for (let count = 0; count < 3; count++) consume();
    clock.now += 600_000;
    expect([consume(), consume(), consume(), consume()].map(({ allowed }) => allowed)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test('does not count a refused request', () => {
    const { clock, consume } = limited(2, 10);
    for (let count = 0; count < 50; count++) consume();
    expect(consume()).toMatchObject({ error: { details: { current: 2 } } });
    clock.now += 10_000;
    expect(consume().allowed).toBe(true);
  });

  test('returns the time until the window ends', () => {
    const { clock, consume } = limited(4, 60);
    expect(consume()).toMatchObject({ remaining: 3, resetSeconds: 60 });
    clock.now += 30_500;
    expect(consume()).toMatchObject({ remaining: 2, resetSeconds: 30 });
    clock.now += 29_500;
    expect(consume()).toMatchObject({ remaining: 3, resetSeconds: 60 });
  });

  test('reads the monotonic clock of the process when it is given none', () => {
    const consume = () => decided(limiter, 'key_1');
    const limiter = memoryRateLimiter({ limit: 1, windowSeconds: 3600 });
    expect([consume().allowed, consume().allowed]).toEqual([true, false]);
  });
});

describe(covers('errors.code.rate-limited'), () => {
  test('puts the numbers of the interface into the refusal', () => {
    const { consume } = limited(3, 60);
    for (let count = 0; count < 3; count++) consume();
    expect(consume()).toMatchObject({
      error: {
        status: 429,
        details: { window: 60, limit: 3, current: 3, retryAfterSeconds: 60 },
        headers: { 'retry-after': '60' },
      },
    });
  });

  test('rounds Retry-After up to a whole second', () => {
    const { consume } = limited(1000, 1);
    for (let count = 0; count < 1000; count++) consume();
    expect(consume()).toMatchObject({ error: { details: { retryAfterSeconds: 1 } } });
  });

  test('allows a request after Retry-After, for any limit', () => {
    const limits = fc.record({
      limit: fc.integer({ min: 1, max: 500 }),
      windowSeconds: fc.integer({ min: 1, max: 3600 }),
    });
    const waits = fc.array(fc.integer({ min: 0, max: 10_000 }), { maxLength: 30 });
    fc.assert(
      fc.property(limits, waits, ({ limit, windowSeconds }, pauses) => {
        const { clock, consume } = limited(limit, windowSeconds);
        for (const pause of pauses) {
          clock.now += pause;
          const decision = consume();
          if (decision.allowed) continue;
          clock.now += decision.error.details.retryAfterSeconds * 1000;
          expect(consume().allowed).toBe(true);
        }
      }),
    );
  });
});

describe(covers('auth.rate-limit.per-key'), () => {
  test('limits each key separately', () => {
    const { consume } = limited(1, 60);
    expect(consume('key_1').allowed).toBe(true);
    expect(consume('key_1').allowed).toBe(false);
    expect(consume('key_2').allowed).toBe(true);
    expect(consume('__proto__').allowed).toBe(true);
  });
});

describe('over any course of requests', () => {
  const course = fc.array(
    fc.record({ key: fc.constantFrom('a', 'b', 'c'), pauseMs: fc.integer({ min: 0, max: 20_000 }) }),
    { maxLength: 200 },
  );

  test('allows at most the limit in a window, and every request of a new window within it', () => {
    fc.assert(
      fc.property(course, fc.integer({ min: 1, max: 10 }), (requests, limit) => {
        const { clock, consume } = limited(limit, 60);
        const windows = new Map<string, { end: number; used: number }>();
        for (const { key, pauseMs } of requests) {
          clock.now += pauseMs;
          const known = windows.get(key);
          const window = known !== undefined && clock.now < known.end ? known : { end: clock.now + 60_000, used: 0 };
          windows.set(key, window);
          expect(consume(key).allowed).toBe(window.used < limit);
          window.used = Math.min(limit, window.used + 1);
        }
      }),
    );
  });
});

describe('the clock', () => {
  test('that steps back and forth grants no further requests', () => {
    const { clock, consume } = limited(10, 60);
    const answers = Array.from({ length: 200 }, (_, index) => {
      clock.now += index % 2 === 0 ? 60_000 : -60_000;
      return consume().allowed;
    });
    expect(answers.filter((allowed) => allowed)).toHaveLength(10);
  });

  test('that is set back ends no window until it has caught up', () => {
    const { clock, consume } = limited(2, 10);
    consume();
    consume();
    clock.now -= 3_600_000;
    expect(consume()).toMatchObject({ allowed: false, error: { details: { retryAfterSeconds: 10 } } });
    clock.now += 3_610_000;
    expect(consume().allowed).toBe(true);
  });

  test('that returns NaN refuses once the limit is used up', () => {
    const { clock, consume } = limited(1, 10);
    consume();
    clock.now = Number.NaN;
    expect(consume().allowed).toBe(false);
    expect(consume().allowed).toBe(false);
  });
});

describe('memory', () => {
  test('keeps the count of a key that is in use', () => {
    const { clock, consume } = limited(100, 10);
    consume('earlier');
    clock.now += 5000;
    for (let round = 0; round < 19; round++) {
      clock.now += 500;
      expect(consume('busy')).toMatchObject({ remaining: 99 - round });
      consume(`other_${round}`);
    }
  });

  test('drops keys that were quiet for a window', () => {
    const { clock, consume } = limited(1, 60, 4);
    consume('quiet');
    clock.now += 60_000;
    for (const key of ['a', 'b', 'c', 'd']) expect(consume(key).allowed).toBe(true);
    expect(consume('a').allowed).toBe(false);
  });

  test('drops the quietest keys when it is full, and not the busy one', () => {
    const { consume } = limited(1, 60, 10);
    expect(consume('busy').allowed).toBe(true);
    for (let index = 0; index < 1000; index++) {
      consume(`other_${index}`);
      expect(consume('busy').allowed).toBe(false);
    }
    expect(consume('other_0').allowed).toBe(true);
  });
});

describe('an invalid option', () => {
  const good = { limit: 1, windowSeconds: 1, now: () => 0 };
  const wrong = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY];

  test.each(['limit', 'windowSeconds', 'maxKeys'])('%s', (name) => {
    for (const value of wrong) expect(() => memoryRateLimiter({ ...good, [name]: value })).toThrow(name);
  });

  test('rejects a clock that is not a function', () => {
    expect(() => memoryRateLimiter({ ...good, now: JSON.parse('0') })).toThrow(TypeError);
  });
});
