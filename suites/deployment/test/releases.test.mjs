import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { after, before, describe, test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { freePort } from '../../../tools/free-port.ts';
import { startPostgres } from '../../../tools/postgres.ts';
import { CHECKOUT } from './deploy-files.mjs';
import { KEY, startClients, startHost, startReceiver } from './release-host.mjs';

/** The release before this one, and the version of the schema for PostgreSQL that it knows. */
const BEFORE = { file: 'schema-1.mjs.br', postgres: 1 };
const { Client } = createRequire(join(CHECKOUT, 'examples/reference-host/package.json'))('pg');

/** Each release: the path of the program of its host. */
const releases = { present: join(CHECKOUT, 'examples/reference-host/dist/main.js') };
let folder;
let postgres;
let receiver;
const hosts = [];

before(async () => {
  // Inside of the checkout, where the program finds its dependencies.
  folder = mkdtempSync(join(CHECKOUT, 'node_modules/.cache/svc-releases-'));
  const packed = readFileSync(new URL(`../releases/${BEFORE.file}`, import.meta.url));
  releases.before = join(folder, 'before.mjs');
  writeFileSync(releases.before, brotliDecompressSync(packed));
  postgres = await startPostgres();
  receiver = await startReceiver();
});

after(async () => {
  for (const host of hosts) await host.kill();
  await receiver?.close();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const data = mkdtempSync(join(tmpdir(), 'svc-releases-'));
after(() => rmSync(data, { recursive: true, force: true }));

async function start(release, port, store) {
  const host = await startHost([execPath, releases[release]], join(data, `${port}.json`), {
    listen: { port },
    store,
    secretKey: Buffer.alloc(32, 7).toString('base64'),
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [
      {
        ...{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1' },
        scopes: ['runs:create', 'runs:read', 'webhooks:manage', 'audit:read'],
      },
    ],
    webhooks: { durable: true, retryPolicy: { maxAttempts: 8, backoff: 'fixed', delayMs: 200 } },
    egress: { allowLoopback: [receiver.port] },
  });
  hosts.push(host);
  return host;
}

async function asked(sql) {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}

/** Every created run has ended, its event has arrived, and the audit log verifies. */
async function requireWhole(host, created) {
  const missing = () => created.filter((runId) => !receiver.completed.has(runId));
  for (const end = Date.now() + 60_000; missing().length > 0 && Date.now() < end; ) await wait(100);
  assert.deepEqual(missing(), []);
  for (const runId of created.filter((_, index) => index % 25 === 0))
    assert.equal((await host.get(`/v1/runs/${runId}`)).status, 'completed');
  const verified = await host.get('/v1/audit/verify?fromSeq=1&toSeq=999999');
  assert.deepEqual([verified.chainValid, verified.checkpointsValid, verified.anomalies], [true, true, []]);
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

describe('the release before and the present one', () => {
  test('are rolled forwards and back under load on one PostgreSQL: no request is cut off, no run and no event is lost', async () => {
    const ports = [await freePort(), await freePort()];
    const running = [];
    for (const port of ports) running.push(await start('before', port, postgres.url));
    await running[0].subscribe(receiver.url);
    assert.deepEqual(await asked('SELECT version FROM svc.schema_version'), [{ version: BEFORE.postgres }]);
    const clients = startClients(ports);
    const versions = [];
    for (const release of ['present', 'before', 'present']) {
      for (const [index, port] of ports.entries()) {
        await clients.busy();
        assert.equal(await running[index].stop(), 0);
        await clients.busy();
        running[index] = await start(release, port, postgres.url);
        // Both releases serve requests now, or the same one twice.
        await clients.busy();
        const [{ version }] = await asked('SELECT version FROM svc.schema_version');
        versions.push(version);
      }
    }
    await clients.end();
    assert.deepEqual(clients.seen.cut, []);
    assert.deepEqual(clients.seen.others, []);
    assert.ok(versions[0] >= BEFORE.postgres);
    // The release before leaves the schema as it is.
    assert.deepEqual(versions, new Array(6).fill(versions[0]));
    await requireWhole(running[1], clients.seen.created);
    const runs = await asked('SELECT status, count(*)::integer FROM svc.runs GROUP BY status');
    assert.deepEqual(runs, [{ status: 'completed', count: clients.seen.created.length }]);
    for (const host of running) assert.equal(await host.stop(), 0);
  });

  test('follow each other on one SQLite database, with runs that the other has started', async () => {
    const store = `sqlite:${join(data, 'svc.db')}`;
    const created = [];
    for (const [turn, release] of ['before', 'present', 'before', 'present'].entries()) {
      const host = await start(release, await freePort(), store);
      if (turn === 0) await host.subscribe(receiver.url);
      for (let run = 0; run < 20; run++) {
        const started = { workflowId: 'delay', inputs: { ms: 500 } };
        created.push((await host.post('/v1/runs', run % 2 === 0 ? { workflowId: 'echo' } : started)).runId);
      }
      if (turn < 3) assert.equal(await host.stop(), 0);
      else await requireWhole(host, created);
    }
    assert.equal(await hosts.at(-1).stop(), 0);
  });
});
