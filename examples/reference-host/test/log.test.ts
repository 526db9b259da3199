import { spawn } from 'node:child_process';
import { constants, openSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually, scratch } from './booted-host.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const KEY = 'operator_brought_key_of_enough_characters';

let folder: ReturnType<typeof scratch>;
const ends: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  folder = scratch();
});
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  folder.remove();
});

/** Boots a host whose stderr is a pipe of this process, or a file that is open. */
async function boot(stderr: 'pipe' | number) {
  const file = folder.path('config.json');
  const key = { id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_1', scopes: ['runs:create'] };
  const config = { listen: { port: 0 }, store: 'memory:', tenants: [{ id: 'acme', workspaces: ['acme-prod'] }] };
  writeFileSync(file, JSON.stringify({ ...config, apiKeys: [key] }));
  const child = spawn(process.execPath, [MAIN, '--config', file], { stdio: ['ignore', 'pipe', stderr] });
  const ended = new Promise<number | string>((resolve) =>
    child.on('exit', (code, signal) => resolve(code ?? signal ?? '')),
  );
  ends.push(() => {
    child.kill('SIGKILL');
    return ended;
  });
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
    const { url } = JSON.parse(line);
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ workflowId: 'echo' });
    const create = async () => (await fetch(`${url}/v1/runs`, { method: 'POST', headers, body })).status;
    return { child, ended, create };
  }
  throw new Error('The host did not become ready.');
}

test('a host goes on when the reader of its log is gone', async () => {
  const { child, ended, create } = await boot('pipe');
  child.stderr?.destroy();
  for (let index = 0; index < 20; index++) expect(await create()).toBe(201);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

test.runIf(process.platform === 'linux')('a host starts and works although the disk of its log is full', async () => {
  const { child, ended, create } = await boot(openSync('/dev/full', 'w'));
  for (let index = 0; index < 20; index++) expect(await create()).toBe(201);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

test.runIf(process.platform === 'linux')(
  'a host tells how many records it dropped as soon as its log is read again',
  async () => {
    const fifo = folder.path('log');
    const { spawnSync } = await import('node:child_process');
    spawnSync('mkfifo', [fifo]);
    // Both ends at once, or opening would wait for the other one.
    const both = openSync(fifo, constants.O_RDWR);
    const { createReadStream, closeSync } = await import('node:fs');
    const writer = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    const { create } = await boot(writer);
    closeSync(writer);
    closeSync(both);
    // The pipe has no reader now.
    for (let index = 0; index < 5; index++) expect(await create()).toBe(201);
    let text = '';
    const reader = createReadStream(fifo, { encoding: 'utf8' }).on('data', (chunk) => {
      text += chunk;
    });
    await eventually(async () => {
      await create();
      return text.includes('log.records-dropped');
    });
    reader.destroy();
    expect(text).toMatch(/"event":"log\.records-dropped","dropped":[1-9]/);
  },
);
