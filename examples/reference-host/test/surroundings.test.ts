import { existsSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { startPostgres } from '@svc/tools/postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BootedHost, bootHost, eventually, launch, scratch } from './booted-host.ts';
import { smallDisk } from './small-disk.ts';

const KEY = 'operator_brought_key_of_enough_characters';

let folder: ReturnType<typeof scratch>;
let host: BootedHost;
const config = (store: string) => ({
  listen: { port: 0 },
  store,
  secretKey: Buffer.alloc(32, 7).toString('base64'),
  tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
  apiKeys: [
    {
      ...{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_1' },
      scopes: ['runs:create', 'runs:read', 'webhooks:manage'],
    },
  ],
});

beforeEach(() => {
  folder = scratch();
});
afterEach(async () => {
  host.process.kill('SIGKILL');
  await host.ended;
  folder.remove();
});

const authorization = `Bearer ${KEY}`;
const probe = async (name: string) => (await fetch(`${host.url}/host/example/${name}`)).status;

async function create() {
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
  const body = JSON.stringify({ workflowId: 'echo', tenantId: 'acme-prod', inputs: { text: 'x'.repeat(2000) } });
  const response = await fetch(`${host.url}/v1/runs`, { method: 'POST', headers, body });
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() };
}

const read = async (runId: string) =>
  (await fetch(`${host.url}/v1/runs/${runId}`, { headers: { authorization } })).status;

/** The lines of the log since a point, without the lines of requests. */
const errorsSince = (from: number) =>
  host.stderr.slice(from).flatMap((line) => {
    const record = JSON.parse(line);
    return record.level === 'error' ? [record] : [];
  });

test('a host on a full disk refuses writes with 503, is not ready, reads, and goes on when there is room', async () => {
  const disk = smallDisk(folder.path('disk'));
  try {
    host = await bootHost(folder.path('config.json'), config(`sqlite:${disk.path('svc.db')}`));
    const pid = host.process.pid ?? 0;
    const { status, body } = await create();
    expect([status, await probe('readyz')]).toEqual([201, 200]);
    disk.fill(pid);
    const from = host.stderr.length;
    const begun = performance.now();
    let refused = 0;
    for (let batch = 0; batch < 20; batch++) {
      const answers = await Promise.all(Array.from({ length: 20 }, create));
      for (const answer of answers) {
        // The rest of the log file takes a few.
        if (answer.status === 201) continue;
        expect(answer).toMatchObject({ status: 503, retryAfter: '5', body: { error: 'service_unavailable' } });
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(200);
    await eventually(async () => (await probe('readyz')) === 503);
    expect([await probe('livez'), await read(body.runId)]).toEqual([200, 200]);
    // One line a second for each of a few causes.
    const seconds = Math.ceil((performance.now() - begun) / 1000);
    const errors = errorsSince(from);
    expect(errors.length).toBeLessThan(8 * (seconds + 1));
    expect(errors.map(({ event }) => event)).toContain('store.unavailable');
    disk.free(pid);
    await eventually(async () => (await probe('readyz')) === 200);
    expect((await create()).status).toBe(201);
    expect(await read(body.runId)).toBe(200);
  } finally {
    host.process.kill('SIGKILL');
    await host.ended;
    disk.remove();
  }
});

test('a host whose PostgreSQL is away answers 503 with Retry-After, in a few lines of log', async () => {
  const postgres = await startPostgres();
  host = await bootHost(folder.path('config.json'), config(postgres.url));
  const { status, body } = await create();
  expect([status, await probe('readyz')]).toEqual([201, 200]);
  await postgres.stop();
  await eventually(async () => (await probe('readyz')) === 503);
  const from = host.stderr.length;
  const begun = performance.now();
  for (let batch = 0; batch < 5; batch++) {
    for (const answer of await Promise.all(Array.from({ length: 20 }, create)))
      expect(answer).toMatchObject({ status: 503, retryAfter: '5', body: { error: 'service_unavailable' } });
  }
  expect([await read(body.runId), await probe('livez')]).toEqual([503, 200]);
  const seconds = Math.ceil((performance.now() - begun) / 1000);
  const errors = errorsSince(from).filter(({ event }) => event === 'store.unavailable');
  expect(errors.length).toBeLessThan(4 * (seconds + 1));
});

test('a host whose database file is deleted acknowledges nothing more, says so, and ends with 1', async () => {
  const path = folder.path('svc.db');
  host = await bootHost(folder.path('config.json'), config(`sqlite:${path}`));
  expect((await create()).status).toBe(201);
  renameSync(path, folder.path('moved.db'));
  expect(await create()).toMatchObject({ status: 503, retryAfter: '5' });
  await eventually(async () => (await probe('livez')) === 503);
  expect(await probe('readyz')).toBe(503);
  const status = await fetch(`${host.url}/host/example/status`, { headers: { authorization } });
  expect((await status.json()).checks).toContainEqual({ name: 'store', ok: false, reason: 'lost' });
  expect(await host.ended).toBe(1);
  const lost = errorsSince(0).find(({ event }) => event === 'store.lost');
  expect(lost.error).toBe(
    `${path}: was deleted while the host used it, so the store writes nothing more. Put the file back, and start the host again.`,
  );
  // Nothing is lost: the file with its log is where it was moved to.
  renameSync(folder.path('moved.db'), path);
  host = await bootHost(folder.path('config.json'), config(`sqlite:${path}`));
  expect((await create()).status).toBe(201);
});

test('a host whose idle database is replaced ends with 1', async () => {
  const path = folder.path('svc.db');
  host = await bootHost(folder.path('config.json'), config(`sqlite:${path}`));
  new DatabaseSync(folder.path('other.db'), { timeout: 10_000 }).exec('CREATE TABLE t (x)');
  renameSync(folder.path('other.db'), path);
  expect(await host.ended).toBe(1);
  expect(errorsSince(0).find(({ event }) => event === 'store.lost').error).toContain('was replaced by another file');
});

test('a second host does not start on a database whose lock file was removed', async () => {
  const path = folder.path('svc.db');
  host = await bootHost(folder.path('config.json'), config(`sqlite:${path}`));
  rmSync(`${path}-owner`);
  const second = launch(folder.path('second.json'), config(`sqlite:${path}`));
  expect(await second.ended).toBe(1);
  expect(second.stderr.at(-1)).toContain('another host uses this database. Stop that host');
  expect(existsSync(`${path}-owner`)).toBe(true);
  expect((await create()).status).toBe(201);
});

test('a shell that holds the write lock for a second fails no request', async () => {
  const path = folder.path('svc.db');
  host = await bootHost(folder.path('config.json'), config(`sqlite:${path}`));
  // The host itself writes now and then.
  const shell = new DatabaseSync(path, { timeout: 10_000 });
  shell.exec('BEGIN IMMEDIATE');
  const creations = Promise.all(Array.from({ length: 20 }, create));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  shell.exec('COMMIT');
  shell.close();
  expect((await creations).map(({ status }) => status)).toEqual(Array(20).fill(201));
});
