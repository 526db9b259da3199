import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { egressPolicy } from '@svc/egress-guard';
import {
  type Execution,
  HostError,
  type HostOptions,
  type JsonObject,
  systemClock,
  type WorkflowEngine,
} from '@svc/host-kit';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { type ManualClock, manualClock } from '../streams/manual-clock.ts';
import { type RecordedHost, recordedHost } from './recorded-host.ts';

const SECRET = 'sk-Live/9f"Q+x-of-the-tenant';
const base64 = (text: string) => Buffer.from(text).toString('base64');
/** A secret that an engine may still have in its memory after a restart. */
let remembered = '';
/** The time of the day of the workflows, in ms since the epoch. */
let today = Date.now;
/** Tells `asleep` when a run of the workflow `sleep` knows when it will wake. */
const sleepers = new EventEmitter();

type Work = (execution: Execution, inputs: JsonObject) => Promise<JsonObject>;

const WORKFLOWS: Readonly<Record<string, Work>> = {
  async leak({ secret, append, artifact, interrupt, files }) {
    if (remembered === '') {
      remembered = (await secret('openai')) ?? '';
      await append(
        { type: 'log.appended', payload: { level: 'info', message: `key ${remembered}`, fields: { [remembered]: 1 } } },
        { type: 'acme.sent', payload: { basic: base64(`user:${remembered}`), url: encodeURIComponent(remembered) } },
      );
      await artifact({
        artifactType: 'text',
        content: { curl: [remembered, Buffer.from(remembered).toString('hex')] },
      });
      await files.put({ path: 'leak.md', content: remembered });
    }
    const data = { customKind: 'ask', prompt: remembered };
    await interrupt({ nodeId: 'ask', key: 'k', kind: 'custom', data });
    return { basic: base64(remembered), [remembered]: [remembered.slice(0, 9), remembered.slice(9)] };
  },
  async throws({ secret }) {
    throw new Error(`The provider refused ${await secret('openai')}.`, { cause: await secret('openai') });
  },
  async names({ secret }, { names }) {
    const found: Record<string, string> = {};
    // A digest tells the test which secret it was, and is not redacted.
    for (const name of names as string[]) found[name] = String((await secret(name))?.length ?? 'none');
    return found;
  },
  async bigint({ append, artifact, interrupt }) {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const data = { customKind: 'ask', self: cycle } as unknown as JsonObject & { customKind: string };
    const outputs = { big: 1n } as unknown as JsonObject;
    const calls = [
      append({ type: 'acme.sent', payload: data }),
      artifact({ artifactType: 'text', content: outputs }),
      interrupt({ nodeId: 'ask', key: 'k', kind: 'custom', data }),
    ];
    const results = await Promise.all(calls.map((call) => call.then(() => 'taken', String)));
    await append({ type: 'acme.results', payload: { results } });
    return outputs;
  },
  async malformed({ secret, files }) {
    const texts = ['', 'a\0b', '../a', 'x'.repeat(300)];
    const found = [];
    for (const text of texts) found.push((await secret(text)) ?? null, (await files.read(text))?.content ?? null);
    const contentTypes = ['text/plain\r\nx: y', 'text', 'text/a\0'];
    for (const contentType of contentTypes) {
      found.push(await files.put({ path: 'a.md', content: '', contentType }).then(() => 'put', String));
    }
    return { found };
  },
  async files({ files, interrupt }, { rounds }) {
    for (let round = 0; round < Number(rounds); round++) {
      await interrupt({ nodeId: 'ask', key: `k-${round}`, kind: 'custom', data: { customKind: 'ask' } });
    }
    const read = (await files.read('a.md'))?.content ?? null;
    return { read, paths: (await files.list()).map(({ path, version }) => `${path} ${version}`) };
  },
  async write({ files }, { path, etag }) {
    const condition = etag === undefined ? {} : { etag: etag === null ? null : String(etag) };
    const refused = await files.put({ path: String(path), content: 'by a run' }, condition).catch((error: unknown) => {
      if (HostError.is(error) || error instanceof TypeError) return { refused: error.message };
      throw error;
    });
    return { ...refused };
  },
  async replace({ files }) {
    const { etag } = await files.put({ path: 'r.md', content: 'first' }, { etag: null });
    await files.put({ path: 'r.md', content: 'second' }, { etag });
    await files.remove('r.md', { nodeId: 'n' });
    return {};
  },
  async fetch({ fetch }, { url }) {
    const response = await fetch(String(url));
    return { status: response.status, text: await response.text() };
  },
  async loop({ append }, { times, nodeIds }) {
    for (let turn = 0; turn < Number(times); turn++) {
      const nodeId = nodeIds === 'distinct' ? `n-${turn}` : 'n';
      await append(
        { type: 'node.started', nodeId, payload: { nodeId, typeId: 'acme.n' } },
        { type: 'node.completed', nodeId, payload: { nodeId, outputs: {} } },
      );
    }
    return {};
  },
  async sleep({ until }, { ms }) {
    const end = today() + Number(ms);
    sleepers.emit('asleep');
    await until(end);
    return {};
  },
  async clarify({ interrupt }, { rounds }) {
    const data = { questions: [{ id: 'colour', question: 'Which colour?' }] };
    for (let round = 0; round < Number(rounds); round++) {
      await interrupt({ nodeId: 'ask', key: `k-${round}`, kind: 'clarification', data });
    }
    return {};
  },
};

const engine: WorkflowEngine = {
  version: 1,
  forks: ['replay', 'branch'],
  accepts: (workflowId) => workflowId in WORKFLOWS,
  async execute(run, execution) {
    const work = WORKFLOWS[run.workflowId];
    return { status: 'completed', outputs: (await work?.(execution, run.inputs)) ?? {} };
  },
};

const folder = mkdtempSync(join(tmpdir(), 'run-reach-'));
const postgres = await startPostgres();
const hosts: RecordedHost[] = [];
afterEach(async () => {
  remembered = '';
  today = Date.now;
  for (const host of hosts.splice(0)) await host.stop();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await postgres.stop();
});

let places = 0;
const STORES = [
  ['SQLite', () => sqliteStore(join(folder, `${places}.db`))],
  ['PostgreSQL', () => postgresStore({ url: postgres.url, schema: `reach_${places}`, connections: 4 })],
] as const;

describe.each(STORES)('on %s', (_, openStore) => {
  async function start(options: Partial<HostOptions> = {}, isFirst = true): Promise<RecordedHost> {
    if (isFirst) places += 1;
    const host = await recordedHost({
      store: await openStore(),
      engine,
      ...options,
      features: { workspaceFiles: { maxVersions: 2 }, ...options.features },
    });
    hosts.push(host);
    return host;
  }

  async function restart(host: RecordedHost, options: Partial<HostOptions> = {}): Promise<RecordedHost> {
    hosts.splice(hosts.indexOf(host), 1);
    await host.stop();
    return await start(options, false);
  }

  const put = (host: RecordedHost, name: string, value: string, workspace?: string) =>
    host.call(`/host/example/byok/secrets/${name}`, { value, ...(workspace && { workspace }) }, { method: 'PUT' });

  async function ended(host: RecordedHost, workflowId: string, inputs: JsonObject = {}, fields: JsonObject = {}) {
    const created = await host.call('/v1/runs', { workflowId, inputs, ...fields });
    expect(created).toMatchObject({ status: 201 });
    const run = await host.comesTo(created.body.runId, 'completed', 'failed');
    const log = await host.log(1, run.runId);
    return { run, log, types: log.map(({ type }: { type: string }) => type), last: log.at(-1).payload };
  }

  /** A clock that stands still, for the host and its workflows: a machine that stalls uses up no limit. */
  function standing(): ManualClock {
    const clock = manualClock();
    today = clock.now;
    return clock;
  }

  test('a value that JSON does not have is refused to the engine, and fails no store', async () => {
    const host = await start();
    const { log, last } = await ended(host, 'bigint');
    const refused = (what: string) => `TypeError: ${what} is no JSON. Pass a value without cycles and without BigInt.`;
    const results = ['acme.sent: payload', 'artifact: value', 'interrupt: request'].map(refused);
    expect(log.at(-2)).toMatchObject({ type: 'acme.results', payload: { results } });
    expect(last.error.message).toBe('The workflow engine failed.');
  });

  test('names and paths that no secret and no file can have are absent, and fail no store', async () => {
    const host = await start();
    const { last } = await ended(host, 'malformed');
    const refused = expect.stringMatching(/^TypeError: files.put: content must be text/);
    expect(last.outputs).toEqual({ found: [...Array(8).fill(null), refused, refused, refused] });
  });

  test('the value of a secret is in no record of its run, before and after a restart', async () => {
    let host = await start();
    expect(await put(host, 'openai', SECRET)).toMatchObject({ status: 201 });
    await host.subscribe(1, ['run.completed', 'log.appended', 'artifact.created']);
    const runId = await host.start('leak');
    await host.comesTo(runId, 'waiting-input');
    expect(remembered).toBe(SECRET);
    const [first] = [host];
    host = await restart(host);
    await host.call(`/v1/runs/${runId}/interrupts/ask`, { resumeValue: {} });
    await host.comesTo(runId, 'completed');
    await host.deliveriesOf(runId, 1);
    const shown = JSON.stringify([
      ...[await host.log(1, runId), await host.log(2, runId), first.received, host.received, first.logged, host.logged],
      ...[await host.call(`/v1/runs/${runId}`), await host.call(`/v1/runs/${runId}/artifacts`)],
      await host.call('/v1/host/workspace/files/leak.md'),
    ]);
    expect(shown).toContain('[REDACTED:openai]');
    const forms = [SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET), base64(SECRET)];
    forms.push(
      base64(`user:${SECRET}`).slice(8),
      Buffer.from(SECRET).toString('hex'),
      SECRET.slice(0, 9),
      SECRET.slice(9),
    );
    for (const form of forms) expect(shown).not.toContain(form);
    expect((await host.log(2, runId)).at(-1).payload.outputs).toEqual({
      basic: '[REDACTED:openai]==',
      '[REDACTED:openai]': ['[REDACTED:openai]', '[REDACTED:openai]'],
    });
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    for (const form of forms) for (const file of files) expect(file.includes(form)).toBe(false);
  });

  test.each([
    ['replaced', (host: RecordedHost) => put(host, 'openai', 'the-value-after-a-rotation')],
    [
      'removed',
      (host: RecordedHost) => host.call('/host/example/byok/secrets/openai', undefined, { method: 'DELETE' }),
    ],
  ])('a secret that is %s while its run waits stays redacted, until the run ends', async (_, change) => {
    remembered = '';
    let host = await start();
    expect(await put(host, 'openai', SECRET)).toMatchObject({ status: 201 });
    const runId = await host.start('leak');
    await host.comesTo(runId, 'waiting-input');
    expect((await change(host)).status).toBeLessThan(300);
    host = await restart(host);
    await host.call(`/v1/runs/${runId}/interrupts/ask`, { resumeValue: {} });
    await host.comesTo(runId, 'completed');
    const shown = JSON.stringify(await host.log(2, runId));
    expect(shown).toContain('[REDACTED:openai]');
    for (const form of [SECRET, base64(SECRET), SECRET.slice(0, 9), SECRET.slice(9)]) expect(shown).not.toContain(form);
    hosts.splice(hosts.indexOf(host), 1);
    await host.stop();
    const store = await openStore();
    expect(await store.openedSecrets.page({ after: undefined, limit: 10 })).toEqual([]);
    await store.close();
  });

  test('the value of a secret is not in the log record of an error', async () => {
    const host = await start();
    await put(host, 'openai', SECRET);
    expect((await ended(host, 'throws')).last.error.code).toBe('internal_error');
    const shown = JSON.stringify(host.logged);
    expect(shown).toContain('The provider refused [REDACTED:openai].');
    expect(shown).not.toContain(SECRET.slice(0, 8));
  });

  test('a secret is that of the workspace, else that of the tenant, and undefined when there is none', async () => {
    const host = await start();
    const wide = { method: 'PUT', wide: true };
    await host.call('/host/example/byok/secrets/both', { value: 'of-the-tenant' }, wide);
    await host.call('/host/example/byok/secrets/tenant', { value: 'of-the-whole-tenant' }, wide);
    await put(host, 'both', 'of-the-workspace');
    await host.call('/host/example/byok/secrets/other', { value: 'of-another-one', workspace: 'w2' }, wide);
    const { last } = await ended(host, 'names', { names: ['both', 'tenant', 'other', 'none'] });
    expect(last.outputs).toEqual({ both: '16', tenant: '19', other: 'none', none: 'none' });
  });

  test('a run reads the files as they were when it started, however often they change', async () => {
    let host = await start();
    const write = (path: string, content: string) =>
      host.call(`/v1/host/workspace/files/${path}`, { content }, { method: 'PUT' });
    await write('a.md', 'at the start');
    const runId = await host.start('files', { rounds: 1 });
    await host.comesTo(runId, 'waiting-input');
    for (const version of [2, 3, 4, 5]) await write('a.md', `version ${version}`);
    await write('b.md', 'new');
    host = await restart(host);
    await host.call(`/v1/runs/${runId}/interrupts/ask`, { resumeValue: {} });
    await host.comesTo(runId, 'completed');
    const outputs = { read: 'at the start', paths: ['a.md 1'] };
    expect((await host.log(1, runId)).at(-1).payload.outputs).toEqual(outputs);
    const { last } = await ended(host, 'files', { rounds: 0 });
    expect(last.outputs).toEqual({ read: 'version 5', paths: ['a.md 5', 'b.md 1'] });
    await write('a.md', 'version 6');
    expect(await host.call('/v1/host/workspace/files/a.md?version=1')).toMatchObject({ status: 404 });
  });

  test('a run reads the U+FEFF at the start of a file', async () => {
    const host = await start();
    await host.call('/v1/host/workspace/files/a.md', { content: '\ufeffname;value' }, { method: 'PUT' });
    const { last } = await ended(host, 'files', { rounds: 0 });
    expect(last.outputs.read).toBe('\ufeffname;value');
  });

  test('a change of a file by a run is recorded in its log, with the path and the version alone', async () => {
    const host = await start();
    const { log } = await ended(host, 'replace');
    const updates = log.filter(({ type }: { type: string }) => type === 'workspace.updated');
    expect(updates.map(({ payload }: { payload: JsonObject }) => payload)).toEqual([
      { path: 'r.md', version: 1 },
      { path: 'r.md', version: 2 },
      { path: 'r.md', version: 3 },
    ]);
    expect(updates.at(-1).nodeId).toBe('n');
    expect(await host.call('/v1/host/workspace/files/r.md')).toMatchObject({ status: 404 });
  });

  test.each([
    ['the condition does not hold', { path: 'a.md', etag: 'other' }, /The precondition does not hold/],
    ['the file exists and must not', { path: 'a.md', etag: null }, /The precondition does not hold/],
    ['the path is not allowed', { path: '../a.md' }, /^files: path must be/],
  ])('a file is not written by a run when %s', async (_, inputs, message) => {
    const host = await start();
    await host.call('/v1/host/workspace/files/a.md', { content: 'first' }, { method: 'PUT' });
    const { last, types } = await ended(host, 'write', inputs);
    expect(last.outputs.refused).toMatch(message);
    expect(types).toEqual(['run.started', 'run.completed']);
    expect((await host.call('/v1/host/workspace/files/a.md')).body).toMatchObject({ version: 1, content: 'first' });
  });

  test.each([
    ['maxNodeExecutions', { maxNodeExecutions: 5 }, {}, 'distinct', 'node-executions', 'recursion_limit_exceeded'],
    [
      'recursionLimit of a caller',
      {},
      { recursionLimit: 5 },
      'distinct',
      'node-executions',
      'recursion_limit_exceeded',
    ],
    ['recursionLimit of major 1', {}, { v1: 5 }, 'distinct', 'node-executions', 'recursion_limit_exceeded'],
    ['maxLoopIterations', { maxLoopIterations: 5 }, {}, 'same', 'loop-iterations', 'loop_limit_exceeded'],
    ['maxLoopIterations of a caller', {}, { maxLoopIterations: 5 }, 'same', 'loop-iterations', 'loop_limit_exceeded'],
  ])('a run that exceeds %s fails', async (_, limits, { v1, ...run }: JsonObject, nodeIds, kind, code) => {
    const host = await start({ discovery: { limits } });
    const configurable = v1 === undefined ? { version: 1, run } : { recursionLimit: v1 };
    const within = await ended(host, 'loop', { times: 5, nodeIds }, { configurable });
    expect(within.run.status).toBe('completed');
    const beyond = await ended(host, 'loop', { times: 6, nodeIds }, { configurable });
    expect(beyond.types.slice(-3)).toEqual(['node.completed', 'cap.breached', 'run.failed']);
    expect(beyond.log.at(-2).payload).toEqual({ kind, limit: 5, observed: 6 });
    expect(beyond.last.error).toMatchObject({ code, retryable: false });
    expect(beyond.log).toHaveLength(13);
  });

  test('the duration of a run leaves out the time in which it waits, also after a restart', async () => {
    const options = { discovery: { limits: { maxRunDurationMs: 1000 } }, ports: { clock: standing() } };
    let host = await start(options);
    const runId = await host.start('files', { rounds: 1 });
    await host.comesTo(runId, 'waiting-input');
    options.ports.clock.advance(1100);
    host = await restart(host, options);
    await host.call(`/v1/runs/${runId}/interrupts/ask`, { resumeValue: {} });
    expect(await host.comesTo(runId, 'completed', 'failed')).toMatchObject({ status: 'completed' });

    const asleep = once(sleepers, 'asleep');
    const long = await host.start('sleep', { ms: 60_000 });
    await asleep;
    options.ports.clock.advance(1000);
    expect(await host.comesTo(long, 'completed', 'failed')).toMatchObject({ status: 'failed' });
    const log = await host.log(1, long);
    expect(log.at(-1).payload.error.code).toBe('run_timeout');
    expect(log.at(-2).payload).toMatchObject({ kind: 'run-duration', limit: 1000 });
    expect(log.at(-2).payload.observed).toBeGreaterThanOrEqual(1000);
  });

  test('a clock that is set by a day between two turns of a run does not end the run', async () => {
    const capabilities = { limits: { maxRunDurationMs: 60_000 } };
    let host = await start({ discovery: capabilities });
    const runId = await host.start('sleep', { ms: 300_000 });
    await host.comesTo(runId, 'running');
    const clock = { ...systemClock, now: () => Date.now() + 86_400_000 };
    host = await restart(host, { discovery: capabilities, ports: { clock } });
    expect(await host.comesTo(runId, 'completed', 'failed')).toMatchObject({ status: 'completed' });
  });

  test('the duration of a fork begins with the fork, however old its source is', async () => {
    const clock = standing();
    const host = await start({ discovery: { limits: { maxRunDurationMs: 1000 } }, ports: { clock } });
    const asleep = once(sleepers, 'asleep');
    const runId = await host.start('sleep', { ms: 200 });
    await asleep;
    clock.advance(200);
    await host.comesTo(runId, 'completed');
    clock.advance(1100);
    const asleepAgain = once(sleepers, 'asleep');
    const fork = await host.call(`/v1/runs/${runId}:fork`, { mode: 'branch', fromSeq: 1 });
    await asleepAgain;
    clock.advance(200);
    expect(await host.comesTo(fork.body.runId, 'completed', 'failed')).toMatchObject({ status: 'completed' });
  });

  test('a node that asks for too many clarifications fails its run', async () => {
    const host = await start({ discovery: { limits: { clarificationRounds: 2 } } });
    const runId = await host.start('clarify', { rounds: 3 });
    for (let round = 0; round < 2; round++) {
      await host.comesTo(runId, 'waiting-input');
      await host.call(`/v1/runs/${runId}/interrupts/ask`, { resumeValue: { colour: 'green' } });
    }
    await host.comesTo(runId, 'failed');
    const log = await host.log(2, runId);
    expect(log.at(-2)).toMatchObject({
      type: 'cap.breached',
      payload: { kind: 'clarification', limit: 2, observed: 3 },
    });
    expect(log.at(-1).payload.error.code).toBe('loop_limit_exceeded');
  });
});

test('a run calls through the guard, within its bounds, and the call ends with the run', async () => {
  const calls = new EventEmitter();
  const slowClosed = once(calls, 'closed');
  const server = createServer((request, response) => {
    if (request.url === '/slow') response.on('close', () => calls.emit('closed'));
    else response.end(request.url === '/large' ? 'x'.repeat(1001) : 'hello');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const httpClient = {
    ssrfGuard: true,
    safeFetch: true,
    methods: ['GET' as const],
    maxResponseBodyBytes: 1000,
  } as const;
  const capabilities = { families: { httpClient: { ...httpClient, methods: [...httpClient.methods] } } };
  const egress = egressPolicy({ allowLoopback: [port] });
  const host = await recordedHost({
    store: sqliteStore(join(folder, 'fetch.db')),
    engine,
    discovery: capabilities,
    egress,
  });
  hosts.push(host);
  const run = async (url: string) => {
    const runId = await host.start('fetch', { url });
    await host.comesTo(runId, 'completed', 'failed');
    return { runId, payload: (await host.log(1, runId)).at(-1).payload };
  };
  const called = await run(`http://127.0.0.1:${port}/`);
  expect(called.payload.outputs).toEqual({ status: 200, text: 'hello' });
  expect((await run(`http://127.0.0.1:${port}/large`)).payload.error.code).toBe('internal_error');
  expect((await run(`http://127.0.0.1:${port + 1}/`)).payload.error.code).toBe('internal_error');
  expect(JSON.stringify(host.logged)).toContain('run.engine-failed');

  const runId = await host.start('fetch', { url: `http://127.0.0.1:${port}/slow` });
  await host.comesTo(runId, 'running');
  await host.call(`/v1/runs/${runId}/cancel`, {});
  await host.comesTo(runId, 'cancelled');
  await slowClosed;
  server.closeAllConnections();
  server.close();
});
