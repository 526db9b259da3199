import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bootHost, KEY } from './booted-host.mjs';

const SUITE = fileURLToPath(new URL('..', import.meta.url));
const PAGE = 'docs/guides/generate-a-client.md';

/** A project as `npm create @svc/host` makes it, without its programs. Its packages are found above it. */
const PROJECT = join(SUITE, '.cache/project-of-the-guide');

/** npm and npx that download nothing: the packages of the suite are those that the page names. */
const COMMANDS = {
  npm: '[ "$1" = install ] && [ -d "$SUITE/node_modules/$2" ]',
  npx: 'while [ "$1" = -p ]; do shift 2; done; exec "$SUITE/node_modules/.bin/$@"',
};

let host;
let output;

before(async () => {
  host = await bootHost();
  rmSync(PROJECT, { recursive: true, force: true });
  mkdirSync(join(PROJECT, 'src'), { recursive: true });
  for (const file of ['package.json', 'tsconfig.json'])
    cpSync(join(env.SVC_CHECKOUT, 'examples/hosts/express', file), join(PROJECT, file));
  mkdirSync(join(PROJECT, 'bin'));
  for (const [name, script] of Object.entries(COMMANDS)) {
    writeFileSync(join(PROJECT, 'bin', name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(PROJECT, 'bin', name), 0o755);
  }
  output = await follow();
});

after(async () => {
  await host?.stop();
});

const page = readFileSync(join(env.SVC_CHECKOUT, PAGE), 'utf8');

test(`${PAGE}: the programs create a run, and follow one to its end`, () => {
  assert.match(output, /^acme\/run_\w+$/m);
  assert.match(output, /type: 'run.started'/);
  assert.match(output, /type: 'run.completed'/);
});

test(`${PAGE}: the commands name the versions that this suite has`, () => {
  const named = [...page.matchAll(/ -p (\S+)@([\d.]+)/g)];
  assert.equal(named.length, 4);
  for (const [, name, version] of named) {
    const manifest = JSON.parse(readFileSync(join(SUITE, 'node_modules', name, 'package.json'), 'utf8'));
    assert.ok(manifest.version.startsWith(`${version}.`), `${name} is ${manifest.version}`);
  }
});

test(`${PAGE}: the project compiles with its own compiler, and with the options of the page`, async () => {
  const [, options] = /^```json\n(.*?)^```$/ms.exec(page);
  const { compilerOptions } = JSON.parse(options);
  const path = join(PROJECT, 'tsconfig.json');
  const config = JSON.parse(readFileSync(path, 'utf8'));
  Object.assign(config.compilerOptions, compilerOptions);
  writeFileSync(path, JSON.stringify(config));
  const { devDependencies } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
  const compiler = join(env.SVC_CHECKOUT, 'node_modules/typescript');
  const { version } = JSON.parse(readFileSync(join(compiler, 'package.json'), 'utf8'));
  assert.equal(version, devDependencies.typescript);
  const compiled = await promisify(execFile)(execPath, [join(compiler, 'bin/tsc'), '-p', PROJECT]).catch(
    (error) => error,
  );
  assert.equal(compiled.stdout, '');
  assert.equal(compiled.code, undefined);
});

/** Saves the programs of the page, and types its commands into one terminal. Each must succeed. Returns the output. */
async function follow() {
  const script = ['set -e'];
  for (const [, language, text] of page.matchAll(/^```(sh|typescript)\n(.*?)^```$/gms)) {
    if (language === 'sh') script.push(text.replaceAll('http://127.0.0.1:8787', host.url));
    else {
      const [, name] = /^\/\/ (\S+)$/m.exec(text);
      writeFileSync(join(PROJECT, name), text);
    }
  }
  const path = [join(PROJECT, 'bin'), dirname(execPath), env.PATH].join(delimiter);
  const direct = { no_proxy: '127.0.0.1', NO_PROXY: '127.0.0.1' };
  // Not synchronously: connections that the host closes meanwhile would be used again.
  const { stdout } = await promisify(execFile)('bash', ['-c', script.join('\n')], {
    cwd: PROJECT,
    env: { ...env, ...direct, PATH: path, SUITE, SVC_KEY: KEY },
  });
  return stdout;
}
