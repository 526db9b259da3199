import { expect, test } from 'vitest';
import { CHECKS, PROFILES } from '../src/index.ts';

test.each(Object.entries(PROFILES))('the profile %s names checks and areas that exist', (_name, { checks = [] }) => {
  const known = new Set(CHECKS.flatMap(({ id }) => [id, id.slice(0, id.indexOf('.'))]));
  expect(checks.filter((name) => !known.has(name))).toEqual([]);
});
