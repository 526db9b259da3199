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

/** The oldest compiler that the packages support, the newest of the compilers in JavaScript, and the newest. */
const COMPILERS = ['typescript-5.4', 'typescript-6.0', 'typescript'];

/** As `tsc --init` writes them, and with every check of declarations. */
const STRICT = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true, types: ['node'] };
const RESOLUTIONS = [
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
];

describe('a program that imports every entry compiles', () => {
  const source = ENTRIES.map(({ name }, index) => `export * as entry${index} from '${name}';\n`).join('');
  for (const compiler of COMPILERS) {
    for (const resolution of RESOLUTIONS) {
      const { version } = JSON.parse(readFileSync(join(PROGRAMS, compiler, 'package.json'), 'utf8'));
      test(`with TypeScript ${version} and moduleResolution ${resolution.moduleResolution}`, async () => {
        const project = join(folder, `${compiler}-${resolution.moduleResolution}`);
        const compilerOptions = { target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], ...resolution, ...STRICT };
        write(project, {
          'package.json': JSON.stringify({ private: true, type: 'module' }),
          'tsconfig.json': JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
          'consumer.ts': source,
        });
        await runs([join(PROGRAMS, compiler, 'bin/tsc'), '-p', 'tsconfig.json'], project);
      });
    }
  }
});

describe('jest', () => {
  const test_ = `import { expect, test } from '@jest/globals';
import { toNodeHandler } from '@svc/webhook-verify/node';
import { invalidDeliveries, testDelivery } from '@svc/webhook-verify/testing';
import { Webhook } from '@svc/webhook-verify';

const webhook = new Webhook('only-for-tests');
test('a delivery is accepted', () => {
  const { body, headers } = testDelivery({ secret: 'only-for-tests' });
  expect(webhook.verify(body, headers).eventType).toBe('run.completed');
  expect(typeof toNodeHandler).toBe('function');
});
test.each(invalidDeliveries({ secret: 'only-for-tests' }))('a delivery $why is refused', ({ body, headers, code }) => {
  expect(webhook.safeVerify(body, headers)).toMatchObject({ ok: false, error: { code } });
});
`;

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
