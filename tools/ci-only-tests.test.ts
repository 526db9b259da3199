import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CI_ONLY_TESTS } from './ci-only-tests.ts';

test.each(CI_ONLY_TESTS)('%s exists', (path) => {
  expect(existsSync(new URL(`../${path}`, import.meta.url))).toBe(true);
});
