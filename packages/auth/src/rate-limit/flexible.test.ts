import { describe, expect, test } from 'vitest';
import { flexibleRateLimiter } from './flexible.ts';
import { memoryRateLimiter } from './memory.ts';

const down = async () => {
  throw new Error('down');
};
const unreachable = { consume: down, get: down };

describe('flexibleRateLimiter', () => {
  test('decides by its fallback while the store fails, also when the observer throws', async () => {
    const causes: unknown[] = [];
    const limiter = flexibleRateLimiter(unreachable, {
      limit: 10,
      windowSeconds: 60,
      fallback: memoryRateLimiter({ limit: 1, windowSeconds: 60, now: () => 0 }),
      onFailure(cause) {
        causes.push(cause);
        throw new Error('an observer');
      },
    });
    const decisions = [await limiter.peek('a'), await limiter.consume('a'), await limiter.consume('a')];
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    expect(causes).toEqual([new Error('down'), new Error('down'), new Error('down')]);
  });
});
