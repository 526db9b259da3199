import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LONGEST } from './longest-first.ts';

test.each(LONGEST)('%s exists', (path) => {
  expect(existsSync(new URL(`../${path}`, import.meta.url))).toBe(true);
});
