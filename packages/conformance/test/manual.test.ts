import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { FIXTURES } from '../src/index.ts';

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (name: string) => readFileSync(at(`manual/${name}`), 'utf8');

test('the manual of the suite has the fixtures, the requirements and the pages', () => {
  expect(JSON.parse(read('fixtures.json'))).toEqual(FIXTURES);
  expect(read('requirements.json')).toBe(readFileSync(at('../../docs/requirements.json'), 'utf8'));
  expect(read('checks.md')).toContain('| `runs.completes` |');
});

test('links of the manual lead to files of the package, or to the repository', () => {
  for (const name of ['checks.md', 'make-your-host-conform.md'].filter((one) => existsSync(at(`manual/${one}`)))) {
    const relative = [...read(name).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((link) => link[1] ?? '');
    expect(relative.filter((target) => !existsSync(at(`manual/${target}`)))).toEqual([]);
  }
});
