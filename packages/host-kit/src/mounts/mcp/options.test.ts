import { expect, test } from 'vitest';
import { mcpMount } from './index.ts';

test.each([0, -1, 1.5, Number.NaN])('mcpMount refuses pollIntervalMs %d', (pollIntervalMs) => {
  expect(() => mcpMount({ pollIntervalMs })).toThrow(
    new TypeError(`pollIntervalMs: ${pollIntervalMs} is not a whole number from 1. Set a number of milliseconds.`),
  );
});
