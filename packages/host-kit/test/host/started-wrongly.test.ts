import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type HostOptions, type LogRecord, type Store, type WorkflowEngine } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { storedAccess, storedKeys } from '../../src/index.ts';
import { sampleRun } from '../../src/testing/store-contract/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-started-wrongly-'));
const postgres = await startPostgres();
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const KEY = 'development-key-of-this-machine-only';
const keys = memoryKeyStore([
  {
    ...{ id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all', principal: 'p_1', mode: 'live' },
    scopes: ['runs:*'],
  },
]);
const engine: WorkflowEngine = {
  execute: async () => ({ status: 'completed', outputs: {} }),
};

function optionsWith(store: Store, further: Partial<HostOptions> = {}): HostOptions {
  return {
    ...{ store, engine, secretKey: crypto.getRandomValues(new Uint8Array(32)) },
    authenticate: [apiKeyLane({ keys })],
    ...further,
  };
}

/** Calls a function with an argument that its type forbids, as a program in JavaScript may. */
function called(maker: (options: never) => unknown, argument: unknown): unknown {
  return Reflect.apply(maker, undefined, [argument]);
}

describe('createHost names the option and the fix', () => {
  const { execute } = engine;
  test.each<[option: string, given: unknown, message: string]>([
    ['store', undefined, 'createHost: store is required. Pass one such as sqliteStore'],
    ['store', {}, 'createHost: store must be a store. Pass one'],
    ...[
      [
        { retryPolicy: { maxAttempts: 0 } },
        'retryPolicy.maxAttempts must be a whole number of at least 1. Leave it out',
      ],
      [{ retryPolicy: { maxAttempts: 2.5 } }, 'retryPolicy.maxAttempts must be a whole number of at least 1.'],
      [
        { retryPolicy: { maxDelayMs: Number.POSITIVE_INFINITY } },
        'retryPolicy.maxDelayMs must be a whole number of milliseconds from 0 to 1000000000000.',
      ],
      [{ retryPolicy: { delayMs: '1000' } }, 'retryPolicy.delayMs must be a whole number of milliseconds from 0 to'],
      [{ retryPolicy: { backoff: 'linear' } }, 'retryPolicy.backoff must be none, fixed or exponential.'],
      [
        { attemptTimeoutMs: Number.NaN },
        'attemptTimeoutMs must be a whole number of milliseconds from 1 to 2147483647.',
      ],
      [{ concurrency: { total: -1 } }, 'concurrency.total must be a whole number of at least 1.'],
      [{ deadLetterRetentionDays: -1 }, 'deadLetterRetentionDays must be a number of days from 0 to 36500.'],
    ].map(([webhooks, message]): [string, unknown, string] => [
      'webhooks',
      webhooks,
      `createHost: webhooks.${message}`,
    ]),
    ['store', Promise.resolve(memoryStore()), 'createHost: store is a promise. Await it before you pass it.'],
    ['authenticate', undefined, 'createHost: authenticate is required. Pass one such as [apiKeys('],
    ['authenticate', apiKeyLane({ keys }), 'createHost: authenticate must be a list of lanes. Pass one'],
    ['authenticate', [], 'createHost: authenticate must not be empty. Pass at least one lane.'],
    ['authenticate', [{ name: 'mine' }], 'createHost: authenticate must be a list of lanes. Pass one'],
    ['engine', undefined, 'createHost: engine is required. Pass stepsEngine({ workflows }), or { greet: async ('],
    ['engine', Promise.resolve(engine), 'createHost: engine is a promise. Await it before you pass it.'],
    ['engine', 'greet', 'createHost: engine must be a function or an object. Pass stepsEngine('],
    ['engine', { ...engine, version: '1' }, 'createHost: engine.version must be a whole number. Leave it out for 1'],
    ['engine', { execute, accepts: ['greet'] }, 'createHost: engine.accepts must be a function. Pass one that'],
    ['engine', { execute, refuse: () => undefined }, 'createHost: engine.refuse must be renamed. Name it accepts'],
    ['engine', { version: 1 }, 'createHost: engine.execute is required. Pass one that'],
    [
      'engine',
      { greet: async () => ({}), executed: async () => ({}) },
      'in place of an engine. The name executed is read as a member of an engine, and not as a workflow id.',
    ],
    [
      'secretKey',
      undefined,
      'createHost: secretKey is required. Pass 32 random bytes that stay the same: secretKeyFile(',
    ],
    ['secretKey', 4, 'createHost: secretKey must be 32 bytes, their text, or { current, former }. Pass'],
    ['secretKey', 'ab'.repeat(31), 'secretKey: must be 64 hexadecimal digits, or 44 characters of base64, not another'],
    [
      'secretKey',
      { current: new Uint8Array(32), former: ['secret'] },
      'secretKey.former[0]: must be 64 hexadecimal digits, or 44 characters of base64',
    ],
    [
      'secretKey',
      { current: new Uint8Array(32), former: [new Uint8Array(31)] },
      'secretKey.former[0]: must be 32 bytes, not 31.',
    ],
    [
      'secretKey',
      { current: new Uint8Array(32) },
      'createHost: secretKey must be 32 bytes, their text, or { current, f',
    ],
    ['secretKey', { former: [] }, 'createHost: secretKey must be 32 bytes, their text, or { current, former }. Pass'],
    ['authorization', { hasWorkspace: true }, 'createHost: authorization.hasWorkspace must be a function. Pass'],
    ['egress', {}, 'createHost: egress must be a policy. Pass egressPolicy({ … }) of @svc/egress-guard, not its'],
    ['egress', { allowLoopback: true }, 'createHost: egress must be a policy. Pass'],
    ['http', { rateLimit: {} }, 'createHost: http.rateLimit must be a rate limiter. Pass memoryRateLimiter('],
    [
      'http',
      { refusals: { limiter: {}, clientOf: () => '' } },
      'authenticator: refusals.limiter must be a rate limiter. Pass',
    ],
    ['protocol', { versions: '1.1' }, 'createHost: protocol.versions must be a list of versions. Pass texts such as'],
    ['protocol', { versions: [1.1] }, 'createHost: protocol.versions must be a list of versions.'],
    ['protocol', { versions: null }, 'createHost: protocol.versions must be a list of versions.'],
    ['http', { contentEncodings: 'gzip' }, 'createHost: http.contentEncodings must be a list of codings. Pass'],
    ['authorization', { roles: {} }, 'createHost: authorization.roles must be an authorizer. Pass roleAuthorizer({'],
    ['authorization', { stepUp: {} }, 'createHost: authorization.stepUp must be a list of rules. Pass'],
    ['authorization', { approvers: {} }, 'createHost: authorization.approvers must be a directory. Pass'],
    ['features', { apiKeys: {} }, 'createHost: features.apiKeys must be stored keys. Pass storedKeys({ store }).'],
    ['features', { access: {} }, 'createHost: features.access must be stored access. Pass storedAccess({ store }).'],
    ['ports', { transport: 'https' }, 'createHost: ports.transport must be a function. Leave it out for the guarded'],
    ['ports', { fetch }, 'createHost: ports.fetch must be a guarded fetch. Pass guardedFetch({ policy })'],
    ['webhooks', [], 'createHost: webhooks must be an object, not a list. The options there are'],
    ['mounts', {}, 'createHost: mounts must be a list. Pass'],
    ['ports', { log: 'console' }, 'createHost: ports.log must be a function. Pass'],
    ['ports', { random: 4 }, 'createHost: ports.random must be a function. Leave it out'],
  ])('%s, for %o', (option, given, message) => {
    const make = () => called(createHost, { ...optionsWith(memoryStore()), [option]: given });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  const signed = { kind: 'signed-token', issuer: 'https://idp.example', profile: 'user', senderConstrained: false };
  test.each<[title: string, advertises: unknown, message: string]>([
    ['nothing', undefined, 'createHost: no lane of authenticate has advertises, so discovery has none to name. Add it'],
    ['no credential', [], 'createHost: no lane of authenticate has advertises'],
    [
      'an object',
      { kind: 'api-key', issuer: 'urn:acme:keys' },
      "createHost: advertises of lane own must be a list. Pass [{ kind: 'api-key', issuer: 'urn:acme:keys' }].",
    ],
    [
      'an unknown kind',
      [{ kind: 'api_key', issuer: 'urn:acme:keys' }],
      'createHost: advertises of lane own has an entry of an unknown kind. Its kind is one of api-key, signed-token',
    ],
    [
      'a token without its audiences',
      [{ ...signed, algorithms: ['ES256'], maxLifetimeSeconds: 60 }],
      'createHost: advertises of lane own: an entry of the kind signed-token needs audiences. Add it.',
    ],
    ['a key without its issuer', [{ kind: 'api-key' }], 'an entry of the kind api-key needs issuer.'],
  ])('a lane that advertises %s', (_title, advertises, message) => {
    const lane = { name: 'own', authenticate: () => undefined, ...(advertises !== undefined && { advertises }) };
    const make = () =>
      called(createHost, { ...optionsWith(memoryStore()), authenticate: [lane], baseUrl: 'https://svc.example' });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  test('and repeats no value, which may be a secret', () => {
    const make = () => called(createHost, { ...optionsWith(memoryStore()), secretKey: 'the-secret-of-an-operator' });
    expect(make).toThrow(/^((?!the-secret-of).)*$/);
  });

  test('storedKeys and storedAccess ask for a store that was awaited', () => {
    const store = Promise.resolve(memoryStore());
    expect(() => called(storedKeys, { store })).toThrow('storedKeys: store is a promise. Await it');
    expect(() => called(storedAccess, { store })).toThrow('storedAccess: store is a promise. Await it');
  });
});

describe('the stores name the mistake', () => {
  test.each([
    [
      'postgres://svc:pass-word@127.0.0.1/svc',
      'postgresStore: its options must be an object. Pass the address as { url }.',
    ],
    [undefined, 'postgresStore: its options must be an object.'],
    [{}, 'postgresStore: url is required. Pass postgres://user:password@host:port/database.'],
    [{ url: '' }, 'postgresStore: url must be an address. Pass'],
    [{ url: 'svc' }, 'postgresStore: url must be an address. Pass'],
    [{ uri: 'postgres://svc:pass-word@127.0.0.1/svc' }, 'postgresStore: unknown option uri. Did you mean url?'],
    [
      { url: 'postgres://127.0.0.1/svc', connections: 0 },
      'postgresStore: connections must be a whole number, at least 1.',
    ],
  ])('postgresStore(%o)', async (given, message) => {
    const opened = Promise.resolve(called(postgresStore, given));
    await expect(opened).rejects.toThrow(TypeError);
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.not.toThrow('pass-word');
  });

  test.each([
    [
      '://127.0.0.1:1/svc',
      'database at 127.0.0.1:1 cannot be reached: nothing listens there. Start it, or change url.',
    ],
    ['://PLACE/none', 'database at PLACE refused the connection: database "none" does not exist. Change url.'],
    ['://PLACE/postgres', 'database at PLACE refused the connection: role "nobody" does not exist. Change url.'],
  ])('a database that cannot be opened is one sentence, without a place in the code: %s', async (address, message) => {
    const { host } = new URL(postgres.url);
    const url = `postgres${address.replace('://', '://nobody:pass-word@').replace('PLACE', host)}`;
    const refused = address.endsWith('none') ? postgres.url.replace(/\/[^/]*$/, '/none') : url;
    const error = await postgresStore({ url: refused }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ message: expect.stringContaining(message.replace('PLACE', host)) });
    expect(error).toMatchObject({ code: expect.stringMatching(/^[A-Z0-9_]+$/), stack: `${error}` });
    expect(String(error)).not.toContain('pass-word');
  });

  test('a certificate that is missing is not taken for a database that is away', async () => {
    const refused = postgresStore({ url: `${postgres.url}?sslrootcert=${join(folder, 'none.pem')}` });
    await expect(refused).rejects.toMatchObject({ code: 'ENOENT', message: expect.stringContaining('none.pem') });
  });

  test('a database that another host uses is one sentence, without a place in the code', async () => {
    const path = join(folder, 'used.db');
    const store = sqliteStore(path);
    const message = `${path}: another host uses this database. Stop that host, or use postgresStore for several hosts.`;
    expect(() => sqliteStore(path)).toThrow(expect.objectContaining({ message, stack: `Error: ${message}` }));
    await store.close();
  });

  test('sqliteStore without a path, and below a folder that is missing', () => {
    expect(() => called(sqliteStore, undefined)).toThrow('sqliteStore: path is required. Pass the path of a file');
    const missing = join(folder, 'missing');
    expect(() => sqliteStore(join(missing, 'svc.db'))).toThrow(
      `path: ${join(missing, 'svc.db')} cannot be opened. The folder ${missing} does not exist. Create it first.`,
    );
  });

  test.each([
    ['postgresStore', 'stores/postgres', `{ url: 'postgres://127.0.0.1/svc' }`],
    ['postgresQueues', 'queues/postgres', `{ url: 'postgres://127.0.0.1/svc' }`],
    [
      'postgresChanges',
      'changes/postgres',
      `{ url: 'postgres://127.0.0.1/svc', table: 'orders', cursor: 'seq', columns: ['id'] }`,
    ],
  ])('%s without the package pg', (name, entry, options) => {
    const module = new URL(`../../src/${entry}/index.ts`, import.meta.url).href;
    // Looks for the package where none is installed, so the error is that of Node.
    const program = `import { createRequire, registerHooks } from 'node:module';
      const parentURL = ${JSON.stringify(new URL(`file://${folder}/program.js`).href)};
      let isElsewhere = false;
      registerHooks({ resolve(name, context, next) {
        if (name !== 'pg' || isElsewhere) return next(name, context);
        if (context.conditions.includes('import')) return next(name, { ...context, parentURL });
        isElsewhere = true;
        return next(createRequire(parentURL).resolve(name), context);
      } });
      const { ${name} } = await import(${JSON.stringify(module)});
      try { await ${name}(${options}); } catch ({ message }) { console.log(message); }`;
    const args = ['--conditions', '@svc/source', '--input-type=module', '--eval', program];
    const { stdout, stderr } = spawnSync(execPath, args, {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('.', import.meta.url)),
    });
    expect(stdout.trim(), stderr).toBe(`${name}: the package pg is not installed. Run npm i pg.`);
  });
});

test('a second start with another random key is refused, and names the keys', async () => {
  const path = join(folder, 'second.db');
  const first = createHost(optionsWith(sqliteStore(path)));
  await first.start();
  // The stored reply is sealed.
  const created = await first.fetch(
    new Request('http://127.0.0.1/v1/runs', {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', 'idempotency-key': 'first-run' },
      body: JSON.stringify({ workflowId: 'greet' }),
    }),
  );
  expect(created.status).toBe(201);
  await first.stop();
  const second = createHost(optionsWith(sqliteStore(path)));
  const started = second.start();
  await expect(started).rejects.toThrow(TypeError);
  await expect(started).rejects.toThrow(
    /^secretKey: the database holds records sealed with the key [0-9a-f]{16}; the keys of this host are [0-9a-f]{16}\. Restore the missing key as secretKey, or add it to the former keys\.$/,
  );
  await second.stop();
});

/** Each store with one damaged run between two sound ones, opened anew. */
const DAMAGED: Readonly<Record<string, () => Promise<Store>>> = {
  async memory() {
    const store = memoryStore();
    await insertRuns(store, 'damaged');
    return store;
  },
  async sqlite() {
    const path = join(folder, 'damaged.db');
    await insertRuns(sqliteStore(path)).then((store) => store.close());
    const database = new DatabaseSync(path);
    database.exec(`UPDATE runs SET document = '{"inputs":"a-secret-input' WHERE run_id = 'run_2'`);
    database.close();
    return sqliteStore(path);
  },
  async postgres() {
    const options = { url: postgres.url, schema: 'damaged' };
    await insertRuns(await postgresStore(options)).then((store) => store.close());
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    await client.query(`UPDATE damaged.runs SET document = '{"inputs":"a-secret-input' WHERE run_id = 'run_2'`);
    await client.end();
    return postgresStore(options);
  },
};

/** @param engineVersion that of `run_2` */
async function insertRuns(store: Store, engineVersion: unknown = 1): Promise<Store> {
  await store.transaction(async (transaction) => {
    for (const runId of ['run_1', 'run_2', 'run_3']) {
      const run = sampleRun({ runId, status: 'pending', lastSequence: 0 });
      await store.runs.insert(runId === 'run_2' ? Object.assign({ ...run }, { engineVersion }) : run, transaction);
    }
  });
  return store;
}

describe.each(Object.entries(DAMAGED))('a run that cannot be read in the %s store', (_name, open) => {
  test('is logged and passed over at the start, and the others go on', async () => {
    const records: LogRecord[] = [];
    const executed: string[] = [];
    const store = await open();
    const host = createHost(
      optionsWith(store, {
        ports: { log: (record) => void records.push(record) },
        engine: {
          ...engine,
          async execute({ runId }) {
            executed.push(runId);
            return { status: 'completed', outputs: {} };
          },
        },
      }),
    );
    await host.start();
    await expect.poll(() => [...executed].sort(), { timeout: 20_000 }).toEqual(['run_1', 'run_3']);
    const found = records.filter(({ event }) => event === 'run.unreadable');
    expect(found).toMatchObject([{ level: 'error', runId: 'run_2' }]);
    expect(found[0]?.error).toMatch(/^Stored run run_2: .+\. Restore the record from a backup\.$/);
    expect(JSON.stringify(records)).not.toContain('a-secret-input');
    await host.stop();
  });
});

test('many unreadable runs do not hide a later one', async () => {
  const store = memoryStore();
  await store.transaction(async (transaction) => {
    for (let index = 0; index < 501; index++) {
      const run = sampleRun({ runId: `run_${String(index).padStart(4, '0')}`, status: 'pending', lastSequence: 0 });
      const isLast = index === 500;
      await store.runs.insert(isLast ? run : Object.assign({ ...run }, { engineVersion: 'damaged' }), transaction);
    }
  });
  const executed: string[] = [];
  const host = createHost(
    optionsWith(store, {
      engine: {
        ...engine,
        async execute({ runId }) {
          executed.push(runId);
          return { status: 'completed', outputs: {} };
        },
      },
    }),
  );
  await host.start();
  await expect.poll(() => executed, { timeout: 20_000 }).toEqual(['run_0500']);
  await host.stop();
});

describe('a host that was not started', () => {
  async function logOf(start: boolean) {
    const logged: LogRecord[] = [];
    const host = createHost(optionsWith(memoryStore(), { ports: { log: (record) => logged.push(record) } }));
    if (start) await host.start();
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    for (let count = 0; count < 2; count++) {
      const request = { method: 'POST', headers, body: JSON.stringify({ workflowId: 'any' }) };
      expect((await host.fetch(new Request('http://host.test/v1/runs', request))).status).toBe(201);
    }
    await host.stop(0);
    return logged.filter(({ event }) => event === 'host.not-started');
  }

  test('says once that it sends no webhook', async () => {
    expect(await logOf(false)).toEqual([
      {
        ...{ level: 'warn', event: 'host.not-started' },
        message: expect.stringMatching(/sends no webhook.* Await host\.start\(\) before you listen\.$/),
      },
    ]);
  });

  test('and one that was started says nothing', async () => {
    expect(await logOf(true)).toEqual([]);
  });
});
