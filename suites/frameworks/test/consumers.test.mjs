import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { furnish, tool } from '../project.mjs';

const { ENTRIES } = await tool('entries.mjs');

const folder = await furnish('consumers');
const PROGRAMS = fileURLToPath(new URL('../node_modules/', import.meta.url));

const ALL = ENTRIES.map(({ name }) => name);
const isForHono = (name) => name.endsWith('/hono');

/** The newest compiler, and the oldest that the packages support. The declarations of Hono need a newer one. */
const COMPILERS = [
  { compiler: 'typescript', entries: ALL },
  { compiler: 'typescript-5.4', entries: ALL.filter((name) => !isForHono(name)) },
];

const RESOLUTIONS = [
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
];

describe('a program that imports every entry compiles', () => {
  for (const { compiler, entries } of COMPILERS) {
    for (const resolution of RESOLUTIONS) {
      test(`with ${titleOf(compiler)} and moduleResolution ${resolution.moduleResolution}`, () =>
        compiles(compiler, entries, { ...resolution, skipLibCheck: false }));
    }
  }

  test(`with ${titleOf('typescript-5.4')} for the entries of Hono, whose own declarations are not checked`, () =>
    compiles('typescript-5.4', ALL.filter(isForHono), { ...RESOLUTIONS[1], skipLibCheck: true }));
});

function titleOf(compiler) {
  return `TypeScript ${JSON.parse(readFileSync(join(PROGRAMS, compiler, 'package.json'), 'utf8')).version}`;
}

async function compiles(compiler, entries, options) {
  const project = join(folder, `${compiler}-${options.moduleResolution}-${entries.length}`);
  const strict = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: ['node'] };
  const compilerOptions = { target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], ...strict, ...options };
  write(project, {
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    'tsconfig.json': JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
    'consumer.ts': entries.map((name, index) => `export * as entry${index} from '${name}';\n`).join(''),
  });
  await runs([join(PROGRAMS, compiler, 'bin/tsc'), '-p', 'tsconfig.json'], project);
}

describe('jest', () => {
  const test_ = `import { expect, test } from '@jest/globals';
import { receiver } from '@svc/webhook-verify/node';
import { invalidDeliveries, testDelivery } from '@svc/webhook-verify/testing';
import { Webhook } from '@svc/webhook-verify';

const webhook = new Webhook('only-for-tests');
test('a delivery is accepted', () => {
  const { body, headers } = testDelivery({ secret: 'only-for-tests' });
  expect(webhook.verify(body, headers).eventType).toBe('run.completed');
  expect(typeof receiver).toBe('function');
});
test.each(invalidDeliveries({ secret: 'only-for-tests' }))('a delivery $why is refused', ({ body, headers, code }) => {
  expect(webhook.safeVerify(body, headers)).toMatchObject({ ok: false, error: { code } });
});
`;

  // As docs/guides/test-a-receiver.md says.
  test('imports the packages in a project of ES modules', async () => {
    const project = join(folder, 'jest');
    write(project, {
      'package.json': JSON.stringify({ private: true, type: 'module', jest: { transform: {} } }),
      'webhook.test.js': test_,
      'every-entry.test.js': everyEntry(),
    });
    const jest = join(PROGRAMS, 'jest/bin/jest.js');
    const output = await runs(
      ['--experimental-vm-modules', jest, '--ci', '--rootDir', project, '--watchman=false'],
      project,
    );
    assert.match(output, /Tests: +17 passed/);
  });
});

/** A test file that imports every entry inside of jest. */
function everyEntry() {
  const imports = ENTRIES.map(({ name }, index) => `import * as entry${index} from '${name}';`);
  const names = ENTRIES.map((_, index) => `entry${index}`).join(', ');
  return `import { expect, test } from '@jest/globals';
${imports.join('\n')}

test('every entry is a module', () => expect([${names}]).toHaveLength(${ENTRIES.length}));
`;
}

function write(project, files) {
  mkdirSync(project, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
}

/** Runs a program of Node to its end, and returns its output. */
async function runs(args, cwd) {
  const { NODE_OPTIONS, NODE_TEST_CONTEXT, ...rest } = env;
  const child = spawn(execPath, args, { cwd, env: { ...rest, NO_COLOR: '1', CI: 'true' }, timeout: 120_000 });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  const code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  const output = Buffer.concat(chunks).toString();
  assert.equal(code, 0, output.slice(0, 4000));
  return output;
}
