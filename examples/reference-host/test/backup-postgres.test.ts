import { spawn } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type PostgresServer, startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeProcess, KEY, startAcmeProcess } from './acme-host.ts';
import { type BootedHost, bootHost, eventually, launch } from './booted-host.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');

let postgres: PostgresServer;
let host: AcmeProcess;
const restored: BootedHost[] = [];
let places = 0;

beforeAll(async () => {
  postgres = await startPostgres();
  host = await startAcmeProcess(
    { durable: true, retryPolicy: { maxAttempts: 100, backoff: 'fixed', delayMs: 300 } },
    { store: postgres.url, secretKey: key(1), formerSecretKeys: [key(2)], audit: { checkpointIntervalEntries: 10 } },
  );
});
afterAll(async () => {
  for (const { process: child } of restored) child.kill('SIGKILL');
  await host.stop();
  await postgres.stop();
});

/** Runs svc-host, and resolves with its exit code and its output. */
async function run(...args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { status, ...output };
}

async function asked(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Makes a configuration as that of the host for a new, empty database. */
async function elsewhere(changes: object = {}) {
  const name = `place_${places++}`;
  await asked(postgres.url, `CREATE DATABASE ${name}`);
  const store = postgres.url.replace(/postgres$/, name);
  const config = { ...JSON.parse(readFileSync(host.path('config.json'), 'utf8')), store, ...changes };
  const file = host.path(`${name}.json`);
  writeFileSync(file, JSON.stringify(config));
  return { file, store };
}

async function bootOn(file: string): Promise<BootedHost> {
  const booted = await bootHost(file, JSON.parse(readFileSync(file, 'utf8')));
  restored.push(booted);
  return booted;
}

async function end(booted: BootedHost): Promise<void> {
  booted.process.kill('SIGTERM');
  expect(await booted.ended).toBe(0);
}

async function backedUp(...flags: readonly string[]) {
  const out = host.path(`backup-${places++}`);
  const done = await run('backup', '--config', host.path('config.json'), '--out', out, ...flags);
  expect(done).toMatchObject({ status: 0, stderr: '' });
  return { out, stdout: done.stdout, manifest: JSON.parse(readFileSync(`${out}/manifest.json`, 'utf8')) };
}

async function subscribe() {
  const hook = { url: host.receiver.url, events: ['run.completed'], tenantId: 'acme-prod' };
  const registered = await host.call('/v1/webhooks', { body: hook });
  expect(registered.status).toBe(201);
  host.receiver.trust(registered.body.secret);
}

test('a restored backup of a PostgreSQL host under load has every run that was acknowledged before', async () => {
  await subscribe();
  const acknowledged: string[] = [];
  let isLoading = true;
  const odd = { text: 'tab\t, line\n, \\N, \\., "é", 😀', path: 'C:\\new' };
  const load = Array.from({ length: 4 }, async () => {
    while (isLoading) {
      const { status, body } = await host.call('/v1/runs', { body: { workflowId: 'echo', inputs: odd } });
      expect(status).toBe(201);
      acknowledged.push(body.runId);
    }
  });
  await eventually(() => acknowledged.length >= 50);
  const before = [...acknowledged];
  const { out, stdout, manifest } = await backedUp();
  expect(stdout).toMatch(/need key [0-9a-f]{16}\. The keys are not in it: keep them apart from it\.\n$/);
  const during = acknowledged.length;
  isLoading = false;
  await Promise.all(load);
  expect(during, 'the load went on while the backup was made').toBeGreaterThan(before.length);
  for (const name of readdirSync(out)) expect(statSync(`${out}/${name}`).mode & 0o777, name).toBe(0o600);
  expect(manifest).toMatchObject({
    store: 'postgres',
    secretKeyIds: [expect.stringMatching(/^[0-9a-f]{16}$/)],
    auditPublicKey: expect.any(String),
    audit: { head: { atSequence: expect.any(Number) }, checkpointFile: null },
  });

  const { file, store } = await elsewhere();
  const done = await run('restore', '--from', out, '--config', file);
  expect(done).toMatchObject({ status: 0, stderr: '' });
  expect(done.stdout).toMatch(
    /^postgres:\/\/127\.0\.0\.1:\d+\/place_\d+: is restored as it was at .*Z\. Everything after that time is lost\.\n/,
  );
  expect(done.stdout).toMatch(/\n\d+ runs have not ended; they continue/);
  const checked = await run('check-db', '--config', file);
  expect(checked).toMatchObject({ status: 0, stderr: '' });
  expect(checked.stdout).toMatch(
    /^tables: ok\. Every row can be read\.\nschema: ok\. Version (\d+) of \1\.\nkeys: ok\. [1-9]\d* stored secrets open; they need key [0-9a-f]{16}\.\naudit: ok\. [1-9]\d* entries, [1-9]\d* checkpoints are verified\.\n$/,
  );
  const booted = await bootOn(file);
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  for (const runId of before) {
    await eventually(async () => {
      const response = await fetch(`${booted.url}/v1/runs/${runId}`, { headers });
      expect(response.status, runId).toBe(200);
      return (await response.json()).status === 'completed';
    });
  }
  const polled = await fetch(`${booted.url}/v1/runs/${before[0]}/events/poll?timeout=1`, { headers });
  expect(await polled.text()).toContain(JSON.stringify(odd.text));
  // The order of events goes on after those of the backup.
  const body = JSON.stringify({ workflowId: 'echo', inputs: {} });
  const created = await fetch(`${booted.url}/v1/runs`, { method: 'POST', headers, body });
  expect(created.status).toBe(201);
  const { runId } = await created.json();
  await eventually(async () => {
    const [row] = await asked(
      store,
      `SELECT min(commit_order) FILTER (WHERE run_id = '${runId}') > max(commit_order) FILTER (WHERE run_id = '${before[0]}') AS later FROM svc.events`,
    );
    return row?.later === true;
  });
  await end(booted);
});

test('a backup with keys has the former keys too, and a restore names those that the configuration lacks', async () => {
  const { out, stdout, manifest } = await backedUp('--with-key');
  expect(stdout).toContain('The backup contains the current and former keys: keep it secret.');
  expect(readFileSync(`${out}/secret-key`, 'utf8')).toBe(key(1));
  expect(readFileSync(`${out}/former-secret-keys`, 'utf8')).toBe(`${key(2)}\n`);
  expect(readFileSync(`${out}/manifest.json`, 'utf8')).not.toContain(key(1));
  const { file, store } = await elsewhere({ secretKey: key(3), formerSecretKeys: [] });
  const refused = await run('restore', '--from', out, '--config', file);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain(`The missing key has the id ${manifest.secretKeyIds[0]}.`);
  expect(refused.stderr).toContain(`in ${out}/secret-key and ${out}/former-secret-keys: add them to formerSecretKeys.`);
  expect(await asked(store, `SELECT 1 FROM pg_namespace WHERE nspname = 'svc'`)).toEqual([]);
  const given = await elsewhere({ secretKey: key(3), formerSecretKeys: [key(1), key(2)] });
  expect(await run('restore', '--from', out, '--config', given.file)).toMatchObject({ status: 0, stderr: '' });
  expect(await run('check-db', '--config', given.file)).toMatchObject({ status: 0 });
});

test('a restore on PostgreSQL that holds deliveries sends none until they are released, while hosts run', async () => {
  host.receiver.answer = 500;
  const created = await host.call('/v1/runs', { body: { workflowId: 'echo', inputs: {} } });
  await eventually(async () => (await host.call(`/v1/runs/${created.body.runId}`)).body.status === 'completed');
  const { out } = await backedUp();
  await host.end('SIGKILL');
  host.receiver.answer = undefined;
  const delivered = () => host.receiver.deliveries.filter(({ runId }) => runId === created.body.runId).length;
  const { file } = await elsewhere();
  const done = await run('restore', '--from', out, '--config', file, '--hold-deliveries');
  expect(done).toMatchObject({ status: 0, stderr: '' });
  expect(done.stdout).toMatch(
    / when you release them: 1 subscriptions are paused\. Run svc-host release-deliveries\.\n/,
  );
  const holding = await bootOn(file);
  expect(holding.stderr.join('\n')).toMatch(/"event":"deliveries\.held","subscriptions":1/);
  const later = await fetch(`${holding.url}/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ workflowId: 'echo', inputs: {} }),
  });
  expect(later.status).toBe(201);
  const { runId } = await later.json();
  const headers = { authorization: `Bearer ${KEY}` };
  await eventually(
    async () => (await (await fetch(`${holding.url}/v1/runs/${runId}`, { headers })).json()).status === 'completed',
  );
  expect(delivered()).toBe(0);
  expect((await run('release-deliveries', '--config', file)).stdout).toMatch(/: 1 subscriptions are resumed\.\n$/);
  expect((await run('release-deliveries', '--config', file)).stdout).toMatch(/: holds no deliveries\.\n$/);
  await eventually(() => delivered() === 1);
  await end(holding);
  expect(await run('check-db', '--config', file)).toMatchObject({ status: 0 });
  await host.reboot({});
});

test('a restore on PostgreSQL refuses a damaged or foreign backup and a database in use, and changes nothing', async () => {
  const { out, manifest } = await backedUp();
  const { file, store } = await elsewhere();
  const refusal = async (config = file) => {
    const { status, stdout, stderr } = await run('restore', '--from', out, '--config', config);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    return stderr;
  };
  const write = (changes: object) => writeFileSync(`${out}/manifest.json`, JSON.stringify({ ...manifest, ...changes }));
  expect(await refusal(host.path('config.json'))).toMatch(/^The schema svc of the database has tables\. /);
  const folder = host.path(`sqlite-${places++}.db`);
  const other = host.path(`sqlite-${places++}.json`);
  writeFileSync(other, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), store: `sqlite:${folder}` }));
  expect(await refusal(other)).toBe(
    `${out}: is a backup of a PostgreSQL database, and store names an SQLite database. Correct store.\n`,
  );
  expect(existsSync(folder)).toBe(false);

  write({ schemaVersion: 999 });
  expect(await refusal()).toMatch(/^The exported tables have schema version 999; /);
  write({ tables: manifest.tables.map((table: object) => ({ ...table, rows: 7_777_777 })) });
  expect(await refusal()).toMatch(/: has \d+ rows, and 7777777 were exported\. Use another backup\./);
  write({ tables: manifest.tables.slice(1) });
  expect(await refusal()).toMatch(/: is not part of both the backup and its schema version\. /);
  write({ tables: [{ name: 'runs; DROP TABLE x', columns: ['a'], rows: 0 }] });
  expect(await refusal()).toMatch(/manifest\.json: is not a manifest that this version knows\./);
  write({});
  copyFileSync(`${out}/runs.copy`, `${out}/kept`);
  appendFileSync(`${out}/runs.copy`, 'x');
  expect(await refusal()).toMatch(/runs\.copy: differs from the manifest\. The backup is damaged\./);
  rmSync(`${out}/runs.copy`);
  expect(await refusal()).toMatch(/runs\.copy: cannot be read\. The backup is incomplete\./);
  expect(await asked(store, `SELECT 1 FROM pg_namespace WHERE nspname = 'svc'`)).toEqual([]);
  copyFileSync(`${out}/kept`, `${out}/runs.copy`);
  expect(await run('restore', '--from', out, '--config', file)).toMatchObject({ status: 0, stderr: '' });
});

test('two restores into one database at the same time: one succeeds, and the other changes nothing', async () => {
  const { out } = await backedUp();
  const { file } = await elsewhere();
  const done = await Promise.all([1, 2].map(() => run('restore', '--from', out, '--config', file)));
  expect(done.map(({ status }) => status).sort()).toEqual([0, 1]);
  expect(done.map(({ stderr }) => stderr).join('')).toMatch(/^The schema svc of the database has tables\./);
  expect(await run('check-db', '--config', file)).toMatchObject({ status: 0 });
});

test('a checkpoint file that is newer than the backup is told at the restore, and ends the start with 2', async () => {
  const copies = host.path('checkpoints.jsonl');
  await host.reboot({}, { audit: { checkpointIntervalEntries: 10, checkpointFile: copies } });
  const { out, manifest } = await backedUp();
  expect(manifest.audit.checkpointFile).toBe(copies);
  for (let turn = 0; turn < 30; turn++) await host.call('/v1/runs', { body: { workflowId: 'echo', inputs: {} } });
  const last = () => JSON.parse(readFileSync(copies, 'utf8').trim().split('\n').at(-1) ?? '{}');
  await eventually(() => existsSync(copies) && last().atSequence > manifest.audit.head.atSequence);
  const beside = await run('check-db', '--config', host.path('config.json'));
  expect(beside.stdout).toMatch(
    /\ncheckpoint-file: ok\. The log has entry \d+, the last one that .*checkpoints\.jsonl has/,
  );

  const { file } = await elsewhere();
  const done = await run('restore', '--from', out, '--config', file);
  expect(done).toMatchObject({ status: 0, stderr: '' });
  expect(done.stdout).toMatch(
    /\nThe host will not start \(exit code 2\): The audit log ends at entry \d+, and its checkpoint sink has recorded entry \d+: entries \d+ to \d+ are missing\. Move .*checkpoints\.jsonl away, keep it as evidence of the gap, and start the host: it begins a new file\.\n$/,
  );
  const checked = await run('check-db', '--config', file);
  expect(checked.stdout).toMatch(/\ncheckpoint-file: FAILED\. The audit log ends at entry /);
  expect(checked.status).toBe(1);
  const refused = launch(file, JSON.parse(readFileSync(file, 'utf8')));
  expect(await refused.ended).toBe(2);
  const moved = await elsewhere({ audit: { checkpointIntervalEntries: 10, checkpointFile: host.path('new.jsonl') } });
  expect((await run('restore', '--from', out, '--config', moved.file)).stdout).not.toContain('will not start');
  await end(await bootOn(moved.file));
});

test.each<[string, string, RegExp]>([
  [
    'a changed entry',
    "ALTER TABLE svc.audit_entries DISABLE TRIGGER ALL; UPDATE svc.audit_entries SET action = 'run.read' WHERE at_sequence = 2",
    /^audit: FAILED\. hash-mismatch at 2, /m,
  ],
  [
    'a schema of a newer version',
    'UPDATE svc.schema_version SET version = 999, readable_by = 999',
    /schema version 999; this version of the kit knows \d+/,
  ],
  [
    'a database of no host',
    'DROP SCHEMA svc CASCADE',
    /^The schema svc of the database has no tables of a host\. Correct the URL\.$/m,
  ],
])('check-db on PostgreSQL reports %s with 1', async (_fault, harm, line) => {
  const { out } = await backedUp();
  const { file, store } = await elsewhere();
  expect(await run('restore', '--from', out, '--config', file)).toMatchObject({ status: 0 });
  await asked(store, harm);
  const { status, stdout, stderr } = await run('check-db', '--config', file);
  expect(stdout + stderr).toMatch(line);
  expect(status).toBe(1);
});

test('a backup of a database that is away ends with 1, names no password and leaves no folder', async () => {
  const { file } = await elsewhere({ store: 'postgres://svc:word-that-is-secret@127.0.0.1:1/none' });
  const out = host.path(`backup-${places++}`);
  const { status, stdout, stderr } = await run('backup', '--config', file, '--out', out);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).not.toContain('word-that-is-secret');
  expect(existsSync(out)).toBe(false);
});
