import { describe, expect, test } from 'vitest';
import { growthBetween } from './footprint.ts';
import { load } from './load.ts';

test('answers every request as it deserves and does not grow, under mixed load with failing receivers', {
  timeout: 300_000,
}, async () => {
  const { findings, figures } = await load({ seconds: 6, readers: 50, say: () => {} });
  expect(findings).toEqual([]);
  // A host that did no work would pass as well.
  expect(figures.requests).toBeGreaterThan(50);
  expect(figures.events).toBeGreaterThan(10);
  expect(figures.delivered).toBeGreaterThan(0);
});

describe('reports growth', () => {
  const warm = { megabytes: 100, descriptors: 100 };
  test.each([
    ['memory', { megabytes: 200, descriptors: 100 }],
    ['descriptors', { megabytes: 100, descriptors: 300 }],
  ])('of %s', (_, last) => expect(growthBetween(warm, last, 100)).toHaveLength(1));
});
