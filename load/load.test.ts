import { describe, expect, test } from 'vitest';
import { growthBetween } from './footprint.ts';
import { load } from './load.ts';

test('under mixed load, with readers and failing receivers, every answer is deserved and nothing grows', {
  timeout: 120_000,
}, async () => {
  const { findings, figures } = await load({ seconds: 6, readers: 50, say: () => {} });
  expect(findings).toEqual([]);
  // A load in which nothing happened would prove nothing.
  expect(figures.requests).toBeGreaterThan(50);
  expect(figures.events).toBeGreaterThan(10);
  expect(figures.delivered).toBeGreaterThan(0);
});

describe('growth is told', () => {
  const warm = { megabytes: 100, descriptors: 100 };
  test.each([
    ['memory', { megabytes: 200, descriptors: 100 }],
    ['descriptors', { megabytes: 100, descriptors: 300 }],
  ])('of %s', (_, last) => expect(growthBetween(warm, last, 100)).toHaveLength(1));
});
