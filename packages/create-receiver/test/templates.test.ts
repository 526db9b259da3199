import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const examples = fileURLToPath(new URL('../../../examples', import.meta.url));

/** A project of one kind may not drift apart from its siblings. */
const SHARED = [
  ...['new-key.ts', 'engine.ts'].map((file) => ({ kind: 'hosts', file })),
  { kind: 'receivers', file: 'on-delivery.ts' },
];

describe('every example', () => {
  test.each(SHARED)('of the $kind has the same src/$file', ({ kind, file }) => {
    const texts = projects(kind).map((name) => readFileSync(`${examples}/${kind}/${name}/src/${file}`, 'utf8'));
    expect(new Set(texts).size).toBe(1);
  });

  test('is named in the table of the examples, and in the README of the package that creates it', () => {
    const table = readFileSync(`${examples}/README.md`, 'utf8');
    for (const [kind, pack] of [
      ['hosts', 'create-host'],
      ['receivers', 'create-receiver'],
    ]) {
      const readme = readFileSync(`${examples}/../packages/${pack}/README.md`, 'utf8');
      for (const name of projects(`${kind}`)) {
        expect(table).toContain(`(${kind}/${name})`);
        expect(readme).toContain(`\`${name}\``);
      }
    }
  });
});

function projects(kind: string): string[] {
  return readdirSync(`${examples}/${kind}`).sort();
}
