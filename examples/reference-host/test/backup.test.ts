import { spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeProcess, KEY, startAcmeProcess } from './acme-host.ts';
import { type BootedHost, bootHost, eventually, scratch } from './booted-host.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const KEY_FILES = ['-secret-key', '-audit-key.pem', '-bundle-key.pem'];

let host: AcmeProcess;
/** Hosts on restored databases. */
const restored: BootedHost[] = [];
let places = 0;

/** Outside of the folder of the database, as a host demands it. */
const witness = scratch();
afterAll(() => witness.remove());

beforeAll(async () => {
  host = await startAcmeProcess(
    { durable: true, retryPolicy: { maxAttempts: 100, backoff: 'fixed', delayMs: 300 } },
    { audit: { checkpointIntervalEntries: 10 } },
  );
});
afterAll(async () => {
  for (const { process: child } of restored) child.kill('SIGKILL');
  await host.stop();
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

/** Makes a configuration as that of the host for a database in a new folder. */
function elsewhere(changes: object = {}) {
  const folder = host.path(`place-${places++}`);
  mkdirSync(folder);
  const config = { ...JSON.parse(readFileSync(host.path('config.json'), 'utf8')), ...changes };
  const file = `${folder}/config.json`;
  const database = `${folder}/svc.db`;
  writeFileSync(file, JSON.stringify({ ...config, store: `sqlite:${database}` }));
  return { file, database };
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

/** Makes a backup of the running host with its keys. */
async function backedUp(...flags: readonly string[]) {
  const out = host.path(`backup-${places++}`);
  const done = await run('backup', '--config', host.path('config.json'), '--out', out, ...flags);
  expect(done).toMatchObject({ status: 0, stderr: '' });
  return { out, stdout: done.stdout };
}

async function subscribe() {
  const hook = { url: host.receiver.url, events: ['run.completed'], tenantId: 'acme-prod' };
  const registered = await host.call('/v1/webhooks', { body: hook });
  expect(registered.status).toBe(201);
  host.receiver.trust(registered.body.secret);
}

test('a restored backup of a host under load has every run that was acknowledged before', async () => {
  await subscribe();
  const acknowledged: string[] = [];
  let isLoading = true;
  const load = Array.from({ length: 4 }, async () => {
    while (isLoading) {
      const { status, body } = await host.call('/v1/runs', { body: { workflowId: 'echo', inputs: {} } });
      expect(status).toBe(201);
      acknowledged.push(body.runId);
    }
  });
  await eventually(() => acknowledged.length >= 50);
  const before = [...acknowledged];
  const { out, stdout } = await backedUp('--with-key');
  expect(stdout).toMatch(/needs? key [0-9a-f]{16}\. The backup contains the current keys/);
  const during = acknowledged.length;
  isLoading = false;
  await Promise.all(load);
  expect(during, 'the load went on while the backup was made').toBeGreaterThan(before.length);

  const { file, database } = elsewhere();
  const done = await run('restore', '--from', out, '--config', file);
  expect(done).toMatchObject({ status: 0, stderr: '' });
  expect(done.stdout).toMatch(/is restored as it was at .*Z\. Everything after that time is lost\.\n/);
  expect(done.stdout).toMatch(
    /\n\d+ deliveries of \d+ subscriptions wait; .* are sent again at the start of the host\./,
  );
  expect(done.stdout).toMatch(/\n\d+ runs have not ended; they continue/);
  expect(readdirSync(database.replace(/\/svc\.db$/, '')).toSorted()).toEqual(
    ['config.json', 'svc.db', ...KEY_FILES.map((suffix) => `svc.db${suffix}`)].toSorted(),
  );
  const checked = await run('check-db', '--config', file);
  expect(checked).toMatchObject({ status: 0, stderr: '' });
  const booted = await bootOn(file);
  const headers = { authorization: `Bearer ${KEY}` };
  for (const runId of before) {
    await eventually(async () => {
      const response = await fetch(`${booted.url}/v1/runs/${runId}`, { headers });
      expect(response.status, runId).toBe(200);
      return (await response.json()).status === 'completed';
    });
  }
  await end(booted);
});

test('a backup without the key names the key, and is restored only where the key is', async () => {
  const { out, stdout } = await backedUp();
  expect(stdout).toMatch(/The keys are not in it: keep them apart from it\.\n$/);
  expect(readdirSync(out).toSorted()).toEqual(['manifest.json', 'svc.db']);
  for (const name of readdirSync(out)) expect(statSync(`${out}/${name}`).mode & 0o777, name).toBe(0o600);
  expect(statSync(out).mode & 0o777).toBe(0o700);
  const manifest = JSON.parse(readFileSync(`${out}/manifest.json`, 'utf8'));
  expect(manifest).toMatchObject({
    secretKeyIds: [expect.stringMatching(/^[0-9a-f]{16}$/)],
    auditPublicKey: expect.any(String),
  });
  const [keyId] = manifest.secretKeyIds;
  expect(readFileSync(`${out}/manifest.json`, 'utf8')).not.toContain(host.kept('-secret-key'));

  const { file, database } = elsewhere();
  const refused = await run('restore', '--from', out, '--config', file);
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain(`The missing key has the id ${keyId}.`);
  expect(existsSync(database)).toBe(false);

  for (const suffix of KEY_FILES) copyFileSync(`${host.path('svc.db')}${suffix}`, database + suffix);
  expect(await run('restore', '--from', out, '--config', file)).toMatchObject({ status: 0, stderr: '' });
  expect(readFileSync(`${database}-secret-key`, 'utf8')).toBe(host.kept('-secret-key'));
});

test('a restore that holds deliveries sends none until they are released', async () => {
  host.receiver.answer = 500;
  const created = await host.call('/v1/runs', { body: { workflowId: 'echo', inputs: {} } });
  await eventually(async () => (await host.call(`/v1/runs/${created.body.runId}`)).body.status === 'completed');
  const { out } = await backedUp('--with-key');
  await host.end('SIGKILL');
  host.receiver.answer = undefined;
  const delivered = () => host.receiver.deliveries.filter(({ runId }) => runId === created.body.runId).length;

  const { file, database } = elsewhere();
  const done = await run('restore', '--from', out, '--config', file, '--hold-deliveries');
  expect(done).toMatchObject({ status: 0, stderr: '' });
  expect(done.stdout).toMatch(
    / when you release them: 1 subscriptions are paused\. Run svc-host release-deliveries\.\n/,
  );
  const holding = await bootOn(file);
  expect(holding.stderr.join('\n')).toMatch(/"event":"deliveries\.held","subscriptions":1/);
  const refused = await run('release-deliveries', '--config', file);
  expect(refused.status, 'the host runs').toBe(1);
  expect(refused.stderr).toMatch(/another host uses this database/);
  const headers = { authorization: `Bearer ${KEY}`, 'svc-version': '2' };
  const listed = await (await fetch(`${holding.url}/host/example/webhooks`, { headers })).json();
  expect(listed.webhooks).toMatchObject([{ state: 'paused' }]);
  // An event of the restored host is held, too, after the dispatcher has looked for due deliveries.
  const later = await fetch(`${holding.url}/v1/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ workflowId: 'echo', inputs: {} }),
  });
  expect(later.status).toBe(201);
  await end(holding);
  expect(delivered()).toBe(0);

  expect(await run('check-db', '--config', file)).toMatchObject({ status: 0 });
  expect(await run('release-deliveries', '--config', file)).toEqual({
    status: 0,
    stdout: `${database}: 1 subscriptions are resumed.\n`,
    stderr: '',
  });
  expect((await run('release-deliveries', '--config', file)).stdout).toBe(`${database}: holds no deliveries.\n`);
  const releasing = await bootOn(file);
  await eventually(() => delivered() === 1);
  expect(releasing.stderr.join('\n')).not.toMatch(/deliveries\.held/);
  await end(releasing);
  await host.reboot({});
});

test.each([
  ['after it was resumed', ['resume', 'pause'], '0 subscriptions are resumed. 1 stay paused, because'],
  ['while it was held', ['pause'], '0 subscriptions are resumed. 1 stay paused, because'],
  ['and resumed', ['pause', 'resume'], '0 subscriptions are resumed.\n'],
])('release-deliveries leaves a subscription as its owner wants it: paused anew %s', async (_, acts, told) => {
  const { out } = await backedUp('--with-key');
  const { file } = elsewhere();
  expect(await run('restore', '--from', out, '--config', file, '--hold-deliveries')).toMatchObject({ status: 0 });
  const holding = await bootOn(file);
  const headers = { authorization: `Bearer ${KEY}`, 'svc-version': '2' };
  const webhooks = `${holding.url}/host/example/webhooks`;
  const [{ webhookId }] = (await (await fetch(webhooks, { headers })).json()).webhooks;
  for (const act of acts) {
    expect((await fetch(`${webhooks}/${webhookId}/${act}`, { method: 'POST', headers })).status).toBe(200);
  }
  await end(holding);
  expect((await run('release-deliveries', '--config', file)).stdout).toContain(told);
  const released = await bootOn(file);
  const { webhooks: listed } = await (await fetch(`${released.url}/host/example/webhooks`, { headers })).json();
  expect(listed).toMatchObject([{ state: acts.at(-1) === 'pause' ? 'paused' : 'active' }]);
  await end(released);
});

test('restore refuses a damaged or incomplete backup and a place that is taken, and changes nothing', async () => {
  const { out } = await backedUp('--with-key');
  const { file, database } = elsewhere();
  const refusal = async () => {
    const { status, stdout, stderr } = await run('restore', '--from', out, '--config', file);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    return stderr;
  };
  for (const suffix of ['', '-wal']) {
    writeFileSync(database + suffix, '');
    expect(await refusal()).toBe(`${database}${suffix}: exists. Move it away: a restore replaces nothing.\n`);
    rmSync(database + suffix);
  }
  appendFileSync(`${out}/svc.db`, 'x');
  expect(await refusal()).toMatch(/svc\.db: differs from the manifest\. The backup is damaged\./);
  rmSync(`${out}/secret-key`);
  rmSync(`${out}/svc.db`);
  expect(await refusal()).toMatch(/: cannot be read\. The backup is incomplete\./);
  writeFileSync(`${out}/manifest.json`, '{}');
  expect(await refusal()).toMatch(/manifest\.json: is not a manifest that this version knows\./);
  rmSync(`${out}/manifest.json`);
  expect(await refusal()).toMatch(/manifest\.json: cannot be read\. The backup is incomplete, or the path is wrong\./);
  expect(readdirSync(database.replace(/\/svc\.db$/, ''))).toEqual(['config.json']);
});

test('a restore that fails holds no deliveries of the next one', async () => {
  const { out } = await backedUp('--with-key');
  const { file, database } = elsewhere();
  const again = () => run('restore', '--from', out, '--config', file, '--hold-deliveries');
  // A name that is taken when the complete database is put in its place.
  symlinkSync('missing', database);
  expect((await again()).status).toBe(1);
  rmSync(database);
  expect(await again()).toMatchObject({ status: 0, stderr: '' });
});

test('backup replaces no folder, and needs an SQLite database', async () => {
  const taken = host.path('taken');
  mkdirSync(taken);
  const config = host.path('config.json');
  const exists = await run('backup', '--config', config, '--out', taken);
  expect(exists).toEqual({
    status: 1,
    stdout: '',
    stderr: `${taken}: exists. Name a new folder: a backup replaces nothing.\n`,
  });
  expect(readdirSync(taken)).toEqual([]);
  const { file } = elsewhere();
  const none = await run('backup', '--config', file, '--out', host.path('none'));
  expect(none.stderr).toMatch(/svc\.db: does not exist\./);
  expect([none.status, existsSync(host.path('none'))]).toEqual([1, false]);
});

test.each([
  ['backup without --out', ['backup', '--config', 'x.json'], /^backup: --out is missing\./],
  ['restore without --from', ['restore', '--config', 'x.json'], /^restore: --from is missing\./],
  ['check-db with an unknown option', ['check-db', '--fix'], /^check-db: Unknown option '--fix'/],
  ['release-deliveries without a configuration', ['release-deliveries'], /^release-deliveries: --config is missing\./],
  ['check-db with a configuration that is not there', ['check-db', '--config', '/x.json'], /cannot be read/],
])('%s ends with 2', async (_usage, args, line) => {
  const { status, stdout, stderr } = await run(...args);
  expect(stderr).toMatch(line);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
});

test('check-db verifies the database of a running host with one line a check', async () => {
  const { status, stdout, stderr } = await run('check-db', '--config', host.path('config.json'));
  expect(stdout).toMatch(
    /^quick_check: ok\. .+\nschema: ok\. Version (\d+) of \1\.\nkeys: ok\. [1-9]\d* stored secrets open; they need key [0-9a-f]{16}\.\naudit: ok\. [1-9]\d* entries, [1-9]\d* checkpoints are verified\.\n$/,
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test.each<[string, RegExp, (database: string) => void]>([
  [
    'a lost key',
    /^keys: FAILED\. \d+ of \d+ stored secrets do not open\. The missing key has the id [0-9a-f]{16}\. /m,
    (database) => rmSync(`${database}-secret-key`),
  ],
  [
    'a changed entry of the audit log',
    /^audit: FAILED\. hash-mismatch at 2, /m,
    (database) =>
      changed(
        database,
        "DROP TRIGGER audit_entries_stay; UPDATE audit_entries SET action = 'run.read' WHERE at_sequence = 2",
      ),
  ],
  [
    'an audit log without its key',
    /^audit: FAILED\. signature-invalid at \d+, /m,
    (database) => rmSync(`${database}-audit-key.pem`),
  ],
  [
    'a damaged page',
    /^quick_check: FAILED\. .+ Restore a backup\.\nschema: ok\./m,
    (database) => overwritten(database, 'runs_of'),
  ],
  [
    'a schema of a newer version',
    /schema version 999; this version of the kit knows \d+/,
    (database) => changed(database, 'PRAGMA user_version = 999; UPDATE schema_readable_by SET version = 999'),
  ],
])('check-db reports %s with 1, and creates nothing', async (_fault, line, harm) => {
  const { out } = await backedUp('--with-key');
  const { file, database } = elsewhere();
  expect(await run('restore', '--from', out, '--config', file)).toMatchObject({ status: 0 });
  harm(database);
  const before = readdirSync(database.replace(/\/svc\.db$/, ''));
  const { status, stdout, stderr } = await run('check-db', '--config', file);
  expect(stdout + stderr).toMatch(line);
  expect(status).toBe(1);
  expect(readdirSync(database.replace(/\/svc\.db$/, ''))).toEqual(before);
});

test('a checkpoint file that is newer than the backup is told by restore and check-db, and ends the start with 2', async () => {
  const copies = witness.path('checkpoints.jsonl');
  const former = Buffer.alloc(32, 9).toString('base64');
  const audit = { checkpointIntervalEntries: 10, checkpointFile: copies };
  await host.reboot({}, { audit, formerSecretKeys: [former] });
  const { out } = await backedUp('--with-key');
  expect(readFileSync(`${out}/former-secret-keys`, 'utf8')).toBe(`${former}\n`);
  const { audit: kept } = JSON.parse(readFileSync(`${out}/manifest.json`, 'utf8'));
  expect(kept.checkpointFile).toBe(copies);
  for (let turn = 0; turn < 30; turn++) await host.call('/v1/runs', { body: { workflowId: 'echo', inputs: {} } });
  const last = () => JSON.parse(readFileSync(copies, 'utf8').trim().split('\n').at(-1) ?? '{}');
  await eventually(() => existsSync(copies) && last().atSequence > kept.head.atSequence);
  const beside = await run('check-db', '--config', host.path('config.json'));
  expect(beside.stdout).toMatch(
    /\ncheckpoint-file: ok\. The log has entry \d+, the last one that .*checkpoints\.jsonl has/,
  );

  const { file } = elsewhere();
  const done = await run('restore', '--from', out, '--config', file);
  expect(done).toMatchObject({ status: 0, stderr: '' });
  expect(done.stdout).toMatch(
    /\nThe host will not start \(exit code 2\): The audit log ends at entry \d+, .* missing\. Move .*checkpoints\.jsonl away, /,
  );
  const checked = await run('check-db', '--config', file);
  expect(checked.stdout).toMatch(/\ncheckpoint-file: FAILED\. The audit log ends at entry /);
  expect(checked.status).toBe(1);
  expect((await run('--config', file)).status).toBe(2);
  await host.reboot({}, { audit: { checkpointIntervalEntries: 10 }, formerSecretKeys: [] });
});

test('a key that is put back opens the database again', async () => {
  const { out } = await backedUp('--with-key');
  const { file, database } = elsewhere();
  expect(await run('restore', '--from', out, '--config', file)).toMatchObject({ status: 0 });
  rmSync(`${database}-secret-key`);
  expect(await run('check-db', '--config', file)).toMatchObject({ status: 1 });
  copyFileSync(`${out}/secret-key`, `${database}-secret-key`);
  expect(await run('check-db', '--config', file)).toMatchObject({ status: 0 });
});

function changed(path: string, sql: string): void {
  const database = new DatabaseSync(path, { timeout: 10_000, defensive: false });
  database.exec(sql);
  database.close();
}

/** Overwrites the first page of an index. */
function overwritten(path: string, index: string): void {
  const database = new DatabaseSync(path, { timeout: 10_000 });
  const { page_size: size } = database.prepare('PRAGMA page_size').get() ?? {};
  const { rootpage } = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(index) ?? {};
  database.close();
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(64, 0xff), 0, 64, (Number(rootpage) - 1) * Number(size));
  closeSync(file);
}
