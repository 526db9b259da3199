import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import openapiTypes, { astToString } from 'openapi-typescript';
import { bootHost, descriptionsOf, KEY } from './booted-host.mjs';

const SUITE = fileURLToPath(new URL('..', import.meta.url));
const PROJECT = join(SUITE, '.cache/project');

/** The programs of `client/`, by the client that they use. */
const PROGRAMS = ['openapi-fetch', 'openapi-fetch-0.14', 'hey-api'];

let host;
let compiled;

before(async () => {
  host = await bootHost();
  rmSync(PROJECT, { recursive: true, force: true });
  mkdirSync(join(PROJECT, 'types'), { recursive: true });
  writeFileSync(join(PROJECT, 'package.json'), '{ "type": "module" }');
  cpSync(join(SUITE, 'client'), join(PROJECT, 'client'), { recursive: true });
  cpSync(join(SUITE, 'tsconfig.json'), join(PROJECT, 'tsconfig.json'));
  const newest = readFileSync(join(SUITE, 'client/openapi-fetch.ts'), 'utf8');
  const older = newest.replace("from 'openapi-fetch'", "from 'openapi-fetch-0.14'");
  writeFileSync(join(PROJECT, 'client/openapi-fetch-0.14.ts'), older);
  for (const [name, description] of Object.entries(await descriptionsOf(host.url))) {
    writeFileSync(join(PROJECT, `types/${name}.d.ts`), astToString(await openapiTypes(structuredClone(description))));
    await createClient({
      input: structuredClone(description),
      output: join(PROJECT, 'hey', name),
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      logs: { file: false, level: 'silent' },
    });
  }
  // Not synchronously: connections that the host closes meanwhile would be used again.
  const tsc = join(SUITE, 'node_modules/typescript/bin/tsc');
  compiled = await promisify(execFile)(execPath, [tsc, '-p', PROJECT]).catch((error) => error);
});

after(async () => {
  await host?.stop();
});

test('the clients compile under strict', () => {
  assert.equal(compiled.stdout, '');
  assert.equal(compiled.code, undefined);
});

for (const name of PROGRAMS) {
  for (const call of ['callMajor1', 'callMajor2', 'callHost']) {
    test(`${name}: ${call} succeeds in every family`, async () => {
      const program = await import(pathToFileURL(join(PROJECT, 'out/client', `${name}.js`)).href);
      const called = await program[call]({ url: host.url, key: KEY });
      const statuses = Object.entries(called.statuses ?? called);
      assert.ok(statuses.length >= 2);
      assert.deepEqual(
        statuses.filter(([, status]) => !(status >= 200 && status < 300)),
        [],
      );
    });
  }
}

for (const call of ['callMajor1', 'callMajor2']) {
  test(`hey-api: the stream of ${call} is one of server-sent events, up to the end of the run`, async () => {
    const program = await import(pathToFileURL(join(PROJECT, 'out/client/hey-api.js')).href);
    const { types } = await program[call]({ url: host.url, key: KEY });
    assert.equal(types.at(0), 'run.started');
    assert.equal(types.at(-1), 'run.completed');
  });
}
