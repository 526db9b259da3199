import { spawn } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type AuditEntry, entryHash } from '@svc/auth/audit';
import { entryLeaf, noteKey, openHead, verifyConsistency, verifyInclusion } from '@svc/auth/audit-tree';
import { asDescribed } from '@svc/tools/as-described';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bootHost, HANG_MS, launch, type RunningHost, scratch } from './booted-host.ts';
import { bootInProcess } from './host-in-process.ts';
import { startWitness, type TestWitness } from './test-witness.ts';

const PROD = 'operator_key_of_the_audit_log_test_of_prod_x';
const DEV = 'operator_key_of_the_audit_log_test_of_dev_xx';
const AUDITOR = 'operator_key_of_the_audit_log_test_of_tenant';
const TESTER = 'operator_key_of_the_audit_log_test_in_test_m';
const OTHER = 'operator_key_of_the_audit_log_test_of_others';
const ORIGIN = 'svc.example.com/audit';
const CLI = fileURLToPath(new URL('../../../packages/auth/dist/for-node/cli/main.js', import.meta.url));

let folder: ReturnType<typeof scratch>;
let witness: TestWitness;
let host: RunningHost;

const key = (id: string, secret: string, fields: object = {}) => ({
  ...{ id, key: secret, tenant: 'acme', workspaces: ['acme-prod'], principal: `p_${id}` },
  ...{ scopes: ['runs:create', 'runs:read', 'audit:read'], ...fields },
});

const config = () => ({
  listen: { port: 0 },
  store: `sqlite:${folder.path('data')}/svc.db`,
  tenants: [
    { id: 'acme', workspaces: ['acme-prod', 'acme-dev'] },
    { id: 'umbrella', workspaces: ['hive'] },
  ],
  apiKeys: [
    key('prod', PROD),
    key('dev', DEV, { workspaces: ['acme-dev'], scopes: ['runs:create', 'runs:read'] }),
    key('auditor', AUDITOR, { workspaces: ['*'] }),
    key('tester', TESTER, { mode: 'test' }),
    key('other', OTHER, { tenant: 'umbrella', workspaces: ['hive'] }),
  ],
  egress: { allowLoopback: [witness.port] },
  audit: { checkpointIntervalEntries: 4, origin: ORIGIN, witness: { url: witness.url, key: witness.key } },
});

beforeAll(async () => {
  folder = scratch();
  mkdirSync(folder.path('data'));
  witness = await startWitness();
  host = await bootInProcess(folder.path('config.json'), config());
  for (const secret of [PROD, DEV, TESTER, OTHER]) for (let turn = 0; turn < 3; turn++) await startRun(secret);
  await grownTo(20);
});
afterAll(async () => {
  await host.end();
  await witness.stop();
  folder.remove();
});

const send = asDescribed(fetch);
async function get(path: string, secret = AUDITOR) {
  const headers = { authorization: `Bearer ${secret}` };
  const response = await send(`${host.url}/host/example/audit${path}`, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const list = async (query = '', secret = AUDITOR) => JSON.parse((await get(query, secret)).text);

async function startRun(secret: string) {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ workflowId: 'echo', inputs: {} });
  expect((await fetch(`${host.url}/v1/runs`, { method: 'POST', headers, body })).status).toBe(201);
}

/** Waits until the last signed head has a number of entries. Each look adds an entry, too. */
async function grownTo(size: number): Promise<string> {
  return vi.waitFor(
    async () => {
      const { status, text } = await get('/checkpoint');
      expect(status === 200 && Number(text.split('\n')[1])).toBeGreaterThanOrEqual(size);
      return text;
    },
    { timeout: HANG_MS, interval: 20 },
  );
}

async function publicKey(): Promise<string> {
  const discovery = await (await fetch(`${host.url}/.well-known/svc`, { headers: { 'svc-version': '1' } })).json();
  return discovery.auth.auditLogIntegrity.checkpointPublicKey;
}

async function cli(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [CLI, ...args], { env: { ...process.env, ...env } });
  const read = async (stream: NodeJS.ReadableStream) => {
    let text = '';
    for await (const chunk of stream) text += chunk;
    return text;
  };
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const [out, err, code] = await Promise.all([read(child.stdout), read(child.stderr), ended]);
  return { code, out, err };
}

describe(covers('auth.audit.listing'), () => {
  test('pages go from the newest entry to the oldest, each entry once', async () => {
    const found: AuditEntry[] = [];
    let before: number | undefined = (await list('?limit=1')).entries[0].atSequence;
    while (before !== undefined) {
      const page = await list(`?limit=3&before=${before}`);
      found.push(...page.entries);
      before = page.nextBefore;
    }
    const sequences = found.map(({ atSequence }) => atSequence);
    expect(sequences).toEqual([...new Set(sequences)].toSorted((left, right) => right - left));
    for (const secret of ['prod', 'dev'])
      expect(found.filter(({ action, actor }) => action === 'run.create' && actor === `p_${secret}`)).toHaveLength(3);
  });

  test('filters by action, by principal, and by both', async () => {
    const created = (await list('?action=run.create')).entries;
    expect(created.map(({ action }: AuditEntry) => action)).toEqual(Array(6).fill('run.create'));
    const ofDev = (await list('?principal=p_dev')).entries;
    expect(ofDev).toHaveLength(6);
    expect(ofDev.every(({ actor }: AuditEntry) => actor === 'p_dev')).toBe(true);
    expect((await list('?principal=p_dev&action=run.create')).entries).toHaveLength(3);
    expect(await list('?principal=p_nobody')).toEqual({ entries: [] });
  });

  test.each([
    ['before=0', 'before'],
    ['before=x', 'before'],
    ['before=1&before=2', 'before'],
    ['before=9999999999999999', 'before'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=1.5', 'limit'],
    ['action=', 'action'],
    ['action=Run.Create', 'action'],
    [`action=${'a'.repeat(20_0)}.B`, 'action'],
    ['principal=ada@example.com', 'principal'],
    ['principal=', 'principal'],
    ['principal=p_1&principal=p_2', 'principal'],
    ['treeSize=999999999', 'treeSize'],
    ['acton=run.create', 'acton'],
  ])('%s is refused by its name', async (query, name) => {
    const { status, text } = await get(`?${query}`);
    expect([status, JSON.parse(text).error.code ?? JSON.parse(text).error]).toEqual([400, 'validation_error']);
    expect(text).toContain(`query.${name}`);
  });

  test('needs the scope audit:read', async () => {
    for (const path of ['', '/checkpoint', '/proof/inclusion?seq=1&treeSize=1', '/proof/consistency?first=1&second=1'])
      expect((await get(path, DEV)).status).toBe(403);
  });
});

describe(covers('auth.audit.listing-isolation'), () => {
  test.each([
    ['a tenant', OTHER, ['p_other']],
    ['a mode', TESTER, ['p_tester']],
    ['a workspace', PROD, ['p_prod']],
    ['a tenant with all its workspaces', AUDITOR, ['p_auditor', 'p_dev', 'p_prod']],
  ])('a caller gets the entries of %s alone', async (_name, secret, actors) => {
    const { entries } = await list('?limit=200', secret);
    // Entries without an actor are facts of the host itself, such as the import of a key.
    const found = entries.flatMap(({ actor }: AuditEntry) => (actor === null ? [] : [actor]));
    expect([...new Set(found)].toSorted()).toEqual(actors);
    for (const other of ['p_prod', 'p_dev', 'p_other', 'p_tester'])
      if (!actors.includes(other)) expect((await list(`?principal=${other}`, secret)).entries).toEqual([]);
  });
});

describe(covers('auth.audit.signed-note', 'auth.audit.merkle-tree', 'auth.audit.tree-proofs'), () => {
  test('the head is a note of this log, and entries and earlier heads are proven against it', async () => {
    const keys = [noteKey(ORIGIN, await publicKey())];
    const first = await openHead((await get('/checkpoint')).text, keys);
    if (first === undefined) throw new Error('The first note was not opened.');
    const later = await openHead(await grownTo(first.treeSize + 5), keys);
    if (later === undefined) throw new Error('The later note was not opened.');

    const { proof } = await list(`/proof/consistency?first=${first.treeSize}&second=${later.treeSize}`);
    expect(verifyConsistency({ first, second: later, proof })).toBe(true);
    const { entries } = await list(`?limit=200&treeSize=${later.treeSize}`);
    expect(entries.length).toBeGreaterThan(12);
    for (const { proof, ...entry } of entries) {
      const leaf = entryLeaf(entryHash(entry));
      expect(verifyInclusion({ leaf, index: entry.atSequence - 1, head: later, proof })).toBe(true);
    }
    const single = await list(`/proof/inclusion?seq=${entries[3].atSequence}&treeSize=${later.treeSize}`);
    expect(single.proof).toEqual(entries[3].proof);
    expect(single.leafHash).toBe(entryLeaf(entries[3].hash));
  });

  test.each([
    '/proof/inclusion?seq=0&treeSize=4',
    '/proof/inclusion?seq=5&treeSize=4',
    '/proof/inclusion?seq=1&treeSize=999999999',
    '/proof/inclusion?seq=1',
    '/proof/consistency?first=5&second=4',
    '/proof/consistency?first=1&second=999999999',
    '/proof/consistency?second=4',
    '/proof/consistency?first=1&second=4&third=5',
  ])('%s is refused', async (path) => {
    expect((await get(path)).status).toBe(400);
  });
});

describe(covers('auth.audit.export'), () => {
  test('an export is complete, continues after an interruption, and verifies with the public key alone', async () => {
    const [whole, torn] = [folder.path('export.jsonl'), folder.path('torn.jsonl')];
    const source = ['--url', `${host.url}/host/example`];
    const exported = await cli(['export', whole, ...source], { SVC_AUDIT_KEY: AUDITOR });
    expect([exported.code, exported.err]).toEqual([0, '']);
    const lines = readFileSync(whole, 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(14);
    expect(readFileSync(whole, 'utf8')).not.toContain(AUDITOR);

    writeFileSync(torn, `${lines.slice(0, 6).join('\n')}\n${lines[6]?.slice(0, 40)}`);
    writeFileSync(folder.path('key'), `${AUDITOR}\n`);
    expect((await cli(['export', torn, ...source, '--key-file', folder.path('key')])).code).toBe(0);
    expect(readFileSync(torn, 'utf8')).toBe(readFileSync(whole, 'utf8'));
    expect((await cli(['export', torn, ...source], { SVC_AUDIT_KEY: AUDITOR })).code).toBe(0);
    expect(readFileSync(torn, 'utf8')).toBe(readFileSync(whole, 'utf8'));

    const verify = async (change: (lines: string[]) => void) => {
      const changed = [...lines];
      change(changed);
      writeFileSync(torn, changed.map((line) => `${line}\n`).join(''));
      return cli(['verify', torn, '--public-key', await publicKey()]);
    };
    expect(await verify(() => {})).toMatchObject({ code: 0, out: expect.stringContaining('✓ The head is signed') });
    const swap = (from: string, to: string) => (all: string[]) => {
      all[4] = all[4]?.replace(from, to) ?? '';
    };
    const attacks: [(lines: string[]) => void, string][] = [
      [swap('"mode":"live"', '"mode":"test"'), 'was changed'],
      [(all) => void all.splice(4, 0, all[5] ?? ''), 'does not come before'],
      [(all) => void all.splice(0, 1, all[0]?.replace(ORIGIN, 'other.example/audit') ?? ''), 'no public key'],
      [(all) => void all.push('{"hello":1}'), 'is not a line of an export'],
      [swap('"proof":["', `"proof":["${'0'.repeat(64)}","`), 'is not proven'],
    ];
    for (const [attack, problem] of attacks)
      expect(await verify(attack)).toMatchObject({ code: 1, out: expect.stringContaining(problem) });
    expect((await verify((all) => void all.pop())).out).toContain('The export was interrupted');
  });

  test.each([
    [['--url', 'http://svc.example.com/host/example'], 'must be https://'],
    [['--url', 'https://svc.example.com/'], 'must be a URL with /host/<org>'],
    [['--url', 'https://user:pw@svc.example.com/host/example'], 'must be a URL with /host/<org>'],
    [['--url', 'https://svc.example.com/host/example', '--key-file', '/nowhere'], 'cannot be read'],
    [['--url', 'https://svc.example.com/host/example', '--tenant', 'acme'], 'belongs to --store'],
    [['--store', '/nowhere/svc.db'], 'is no file'],
    [['--store', '/nowhere/svc.db', '--url', 'https://svc.example.com/host/example'], 'Leave them out'],
    [['--store', CLI], 'cannot be read as the database of a host'],
  ])('%s is wrong usage', async (args, problem) => {
    const { code, err } = await cli(['export', folder.path('unused.jsonl'), ...args], { SVC_AUDIT_KEY: AUDITOR });
    expect([code, err.includes(problem)]).toEqual([2, true]);
  });

  test('the database of a killed host is exported with its journal, and stays as it is', async () => {
    const [served, read, ofTenant] = [
      folder.path('served.jsonl'),
      folder.path('read.jsonl'),
      folder.path('tenant.jsonl'),
    ];
    await host.end();
    host = await bootHost(folder.path('config.json'), config());
    await startRun(PROD);
    await cli(['export', served, '--url', `${host.url}/host/example`], { SVC_AUDIT_KEY: AUDITOR });
    const signer = await publicKey();
    await host.end();
    const database = folder.path('data/svc.db');
    const bytes = () => ['', '-wal'].map((suffix) => readFileSync(`${database}${suffix}`).toString('base64'));
    const before = bytes();
    expect(before[1], 'the last entries are in the journal').not.toBe('');

    expect(await cli(['export', read, '--store', database])).toMatchObject({ code: 0, err: '' });
    expect(await cli(['export', ofTenant, '--store', `sqlite:${database}`, '--tenant', 'acme'])).toMatchObject({
      code: 0,
    });
    expect(bytes()).toEqual(before);
    const entriesIn = (path: string): (AuditEntry & { hash: string })[] =>
      readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter((line) => 'hash' in line);
    const hashes = new Set(entriesIn(ofTenant).map(({ hash }) => hash));
    expect(entriesIn(served).filter(({ hash }) => !hashes.has(hash))).toEqual([]);
    expect(new Set(entriesIn(read).map(({ details }) => details.tenant))).toContain('umbrella');
    expect(new Set(entriesIn(ofTenant).map(({ details }) => details.tenant))).toEqual(new Set(['acme']));
    for (const path of [read, ofTenant])
      expect(await cli(['verify', path, '--public-key', signer])).toMatchObject({ code: 0 });

    // An interrupted export goes on from the file, with the head that it began with.
    const lines = readFileSync(read, 'utf8').trimEnd().split('\n');
    writeFileSync(ofTenant, `${lines.slice(0, 5).join('\n')}\n`);
    expect((await cli(['export', ofTenant, '--store', database])).code).toBe(0);
    expect(readFileSync(ofTenant, 'utf8')).toBe(readFileSync(read, 'utf8'));
    host = await bootInProcess(folder.path('config.json'), config());
  });

  test('a file of something else is not changed', async () => {
    const path = folder.path('notes.txt');
    appendFileSync(path, 'a line\nanother\n');
    const args = ['export', path, '--url', `${host.url}/host/example`];
    expect((await cli(args, { SVC_AUDIT_KEY: AUDITOR })).code).toBe(2);
    expect(readFileSync(path, 'utf8')).toBe('a line\nanother\n');
  });
});

describe(covers('auth.audit.witness'), () => {
  test('each head has the cosignature of the witness, and none is made while it is away', async () => {
    const note = (await get('/checkpoint')).text;
    expect(witness.hasCosigned(note)).toBe(true);
    witness.away(true);
    const asked = witness.requests.length;
    await vi.waitFor(
      async () => {
        await list();
        expect(witness.requests.length).toBeGreaterThan(asked);
      },
      { timeout: HANG_MS, interval: 20 },
    );
    await vi.waitFor(() => expect(host.stderr.some((line) => line.includes('audit.seal-failed'))).toBe(true), {
      timeout: HANG_MS,
    });
    const size = Number((await get('/checkpoint')).text.split('\n')[1]);
    expect(witness.last().treeSize).toBe(size);
    witness.away(false);
    expect(witness.hasCosigned(await grownTo(size + 1))).toBe(true);
    await vi.waitFor(() => expect(host.stderr.some((line) => line.includes('audit.seal-recovered'))).toBe(true), {
      timeout: HANG_MS,
    });
  });

  test('the host does not start on an earlier state of its log, nor on an empty one', async () => {
    await host.end();
    cpSync(folder.path('data'), folder.path('earlier'), { recursive: true });
    host = await bootInProcess(folder.path('config.json'), config());
    await startRun(PROD);
    await host.end();
    const { treeSize } = witness.last();

    rmSync(folder.path('data'), { recursive: true });
    cpSync(folder.path('earlier'), folder.path('data'), { recursive: true });
    const refused = launch(folder.path('config.json'), config());
    expect(await refused.ended).toBe(2);
    expect(refused.stderr.join('\n')).toMatch(
      new RegExp(`The audit log ends at entry \\d+, and its witness has cosigned entry ${treeSize}: .* missing\\.`),
    );
    rmSync(folder.path('data'), { recursive: true });
    mkdirSync(folder.path('data'));
    const emptied = launch(folder.path('config.json'), config());
    expect(await emptied.ended).toBe(2);
    expect(emptied.stderr.join('\n')).toContain('The audit log is empty, and its witness has cosigned entry');
    expect(witness.last().treeSize).toBe(treeSize);
  });
});
