import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clockOf } from './clock-of.ts';

test('a clock is that of the caller, or the one of the machine', () => {
  const now = () => 0;
  expect(clockOf('aDoor', now)).toBe(now);
  expect(clockOf('aDoor', undefined)).toBe(Date.now);
});

test('a given clock that is no function is an error', () => {
  fc.assert(
    fc.property(fc.anything(), (now) => {
      if (now === undefined) return;
      const call = () => clockOf('aDoor', now as never);
      expect(call).toThrow(new TypeError('aDoor: now must be a function. Omit it, or pass Date.now.'));
    }),
  );
});
