import { describe, expect, test } from 'vitest';
import { excessOf, growthBetween } from './footprint.ts';
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
  const warm = { megabytes: 100, heapMegabytes: 50, descriptors: 100 };
  test.each([
    ['the heap', { ...warm, heapMegabytes: 90 }],
    ['descriptors', { ...warm, descriptors: 300 }],
  ])('of %s', (_, last) => expect(growthBetween(warm, last, 100)).toHaveLength(1));
});

test('the resident memory grows without a finding up to its bound', () => {
  const warm = { megabytes: 100, heapMegabytes: 50, descriptors: 100 };
  expect(growthBetween(warm, { ...warm, megabytes: 270 }, 100)).toEqual([]);
  expect(excessOf(270, 100)).toEqual([]);
  expect(excessOf(300, 100)).toEqual(['The memory was 300 MiB, and its bound is 280 MiB.']);
});
