import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { temporaryTree } from '@svc/tools/temporary-tree';
import { describe, expect, test } from 'vitest';

const examples = fileURLToPath(new URL('../../../examples', import.meta.url));

/** A project of one kind may not drift apart from its siblings. */
const SHARED: readonly { readonly kind: string; readonly file: string; readonly except?: readonly string[] }[] = [
  ...['new-key.ts', 'engine.ts'].map((file) => ({ kind: 'hosts', file })),
  // The host of Next.js is one of its own.
  { kind: 'hosts', file: 'host.ts', except: ['next'] },
  { kind: 'receivers', file: 'on-delivery.ts' },
];

describe('every example', () => {
  test.each(SHARED)('of the $kind has the same src/$file', ({ kind, file, except = [] }) => {
    const alike = projects(kind).filter((name) => !except.includes(name));
    const texts = alike.map((name) => readFileSync(`${examples}/${kind}/${name}/src/${file}`, 'utf8'));
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

describe('npm run key of a host', () => {
  const newKey = `${examples}/hosts/express/src/new-key.ts`;

  /** Returns the printed key, the notice, and the file after it. */
  function made(cwd: string) {
    const { stdout, stderr } = spawnSync(execPath, [newKey], { cwd, encoding: 'utf8' });
    const hash = createHash('sha256').update(stdout.trim()).digest('hex');
    return { hash, notice: stderr, file: readFileSync(join(cwd, '.env'), 'utf8') };
  }

  test('adds the hash of a key to those of before, and says so', () => {
    const folder = temporaryTree({ '.env': 'API_KEY_HASH=\nPORT=8787' });
    const first = made(folder);
    expect(first).toMatchObject({ notice: '', file: `PORT=8787\nAPI_KEY_HASH=${first.hash}\n` });
    const second = made(folder);
    expect(second.file).toBe(`PORT=8787\nAPI_KEY_HASH=${first.hash},${second.hash}\n`);
    expect(second.notice).toContain('The keys of before stay valid.');
  });

  test('makes the file', () => {
    const { hash, file } = made(temporaryTree());
    expect(file).toBe(`API_KEY_HASH=${hash}\n`);
  });
});

test('npm start of every receiver that is compiled compiles it before', () => {
  for (const name of projects('receivers')) {
    const { scripts } = JSON.parse(readFileSync(`${examples}/receivers/${name}/package.json`, 'utf8'));
    if (/ dist\//.test(scripts.start ?? '')) expect([name, scripts.prestart]).toEqual([name, 'tsc']);
  }
});

test.each(['hosts', 'receivers'])('every server of the %s listens on this machine alone', (kind) => {
  for (const name of projects(kind)) {
    const { scripts } = JSON.parse(readFileSync(`${examples}/${kind}/${name}/package.json`, 'utf8'));
    const starts = [scripts.dev, scripts.start].filter((script) => /^next /.test(script ?? ''));
    for (const script of starts) expect([name, script]).toEqual([name, expect.stringContaining(' -H 127.0.0.1')]);
  }
});

function projects(kind: string): string[] {
  return readdirSync(`${examples}/${kind}`).sort();
}
