// Holds deploy/conformance.Dockerfile to its commands: they run here as they would in the image, without Docker.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { env, execPath } from 'node:process';
import { after, before, test } from 'node:test';
import { CHECKOUT, dockerInstructions, textOf } from './deploy-files.mjs';

const DOCKERFILE = 'conformance.Dockerfile';
const instructions = dockerInstructions(DOCKERFILE);
const last = instructions.slice(instructions.findLastIndex(({ keyword }) => keyword === 'FROM') + 1);

let root;
before(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-conformance-image-'));
});
after(() => rmSync(root, { recursive: true, force: true }));

test('the image has the Node of the project, no shell command, and a user that is not root', () => {
  const { node } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8')).devDependencies;
  assert.equal(instructions[0].text, `NODE=node:${node}-bookworm-slim`);
  for (const { keyword, exec } of instructions.filter(({ keyword }) => /^(RUN|CMD|ENTRYPOINT)$/.test(keyword))) {
    assert.ok(Array.isArray(exec), keyword);
  }
  assert.match(last.find(({ keyword }) => keyword === 'USER').text, /^[1-9]\d*:[1-9]\d*$/);
});

test('its context is a list of files, and has everything that the manual is made from', () => {
  const [first, ...rest] = textOf(`${DOCKERFILE}.dockerignore`)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  assert.equal(first, '*');
  const kept = rest.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  for (const path of kept) assert.ok(existsSync(join(CHECKOUT, path)), path);
  const { MANUAL_SOURCES } = JSON.parse(
    spawnSync(execPath, ['-e', `import('./tools/write-manual.mjs').then((all) => console.log(JSON.stringify(all)))`], {
      cwd: CHECKOUT,
      encoding: 'utf8',
    }).stdout,
  );
  for (const path of MANUAL_SOURCES)
    assert.ok(
      kept.some((one) => path === one || path.startsWith(`${one}/`)),
      path,
    );
});

test('the files of the image run the suite with the dependencies of the suite alone', () => {
  const build = join(root, 'build');
  // The stage of the dependencies: what npm reads of the context.
  for (const path of ['package.json', 'package-lock.json', 'tools/package.json']) copy(path, build);
  const manifests = JSON.parse(readFileSync(join(CHECKOUT, 'package-lock.json'), 'utf8')).packages;
  for (const path of Object.keys(manifests).filter((one) => /^(packages|examples)\//.test(one))) {
    copy(`${path}/package.json`, build);
  }
  const npm = instructions.filter(({ keyword, exec }) => keyword === 'RUN' && exec[0] === 'npm').at(-1).exec;
  const installed = spawnSync(npm[0], npm.slice(1), { cwd: build, encoding: 'utf8' });
  assert.equal(installed.status, 0, installed.stderr);
  assert.ok(!existsSync(join(build, 'node_modules/typescript')));
  // The last stage.
  const image = join(root, 'image');
  for (const { keyword, flags, words } of last) {
    if (keyword !== 'COPY') continue;
    const target = join(image, words.at(-1));
    for (const source of words.slice(0, -1)) {
      const from = flags.includes('--from=dependencies')
        ? join(root, source)
        : join(CHECKOUT, source.replace(/^\/build\//, ''));
      cpSync(from, words.at(-1).endsWith('/') ? join(target, basename(source)) : target, {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
  }
  const [program, ...args] = last.find(({ keyword }) => keyword === 'ENTRYPOINT').exec;
  assert.equal(program, 'node');
  const run = (...more) =>
    spawnSync(execPath, [...args.map((arg) => arg.replace('/opt/svc', join(image, 'opt/svc'))), ...more], {
      cwd: root,
      env: { PATH: env.PATH, NODE_ENV: 'production' },
      encoding: 'utf8',
    });
  const { version } = JSON.parse(readFileSync(join(CHECKOUT, 'packages/conformance/package.json'), 'utf8'));
  assert.equal(run('--version').stdout, `svc-conformance ${version}\n`);
  const unreachable = run('http://127.0.0.1:9', '--no-receiver');
  assert.deepEqual([unreachable.status, unreachable.stdout], [2, ''], unreachable.stderr);
  assert.match(unreachable.stderr, /does not respond/);
});

function copy(path, into) {
  const to = join(into, path);
  mkdirSync(join(to, '..'), { recursive: true });
  cpSync(join(CHECKOUT, path), to);
}
