import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryTree } from '../temporary-tree.ts';

interface Stamp {
  fingerprint(paths: readonly string[]): string;
  readStamp(path: string): string | undefined;
  writeStamp(path: string, stamp: string): void;
  removeStamp(path: string): void;
}

const { fingerprint, readStamp, writeStamp, removeStamp }: Stamp = await import(
  new URL('./stamp.mjs', import.meta.url).href
);

test('the fingerprint changes with every input, and only with them', () => {
  const root = temporaryTree({ 'src/a.ts': 'a', 'src/b/c.ts': 'c' });
  const at = (path: string) => join(root, path);
  const taken = () => fingerprint([at('src'), at('absent.json')]);
  const before = taken();
  writeFileSync(at('src/a.ts'), 'a');
  expect(taken()).toBe(before);
  writeFileSync(at('src/a.test.ts'), 'tests are not built');
  expect(taken()).toBe(before);
  const changes = [
    () => writeFileSync(at('src/b/c.ts'), 'changed'),
    () => writeFileSync(at('src/new.ts'), ''),
    () => rmSync(at('src/a.ts')),
    () => writeFileSync(at('absent.json'), '{}'),
  ];
  const seen = new Set([before]);
  for (const change of changes) {
    change();
    seen.add(taken());
  }
  expect(seen.size).toBe(1 + changes.length);
});

test('reads the stamp that was written last, and undefined before and after', () => {
  const path = join(temporaryTree(), 'folder/stamp');
  expect(readStamp(path)).toBe(undefined);
  writeStamp(path, 'one');
  writeStamp(path, 'two');
  expect(readStamp(path)).toBe('two');
  removeStamp(path);
  expect(readStamp(path)).toBe(undefined);
});
