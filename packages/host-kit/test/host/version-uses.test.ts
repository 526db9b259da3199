import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type HostOptions, type LogRecord, type Store } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { expect, onTestFinished, test } from 'vitest';
import { forgetOldUses } from '../../src/versions/forget-uses.ts';
import {
  END_MS,
  FLUSH_MS,
  MOST_OF_TENANT,
  MOST_WAITING,
  OVERFLOW,
  useCounter,
} from '../../src/versions/use-counter.ts';
import { type ManualClock, manualClock } from '../streams/manual-clock.ts';

const NOW = Date.UTC(2026, 5, 15, 12);
const DAY_MS = 86_400_000;
const KEYS = {
  old: 'old-key-of-the-version-uses-0123456789',
  auditor: 'auditor-key-of-the-version-uses-01234',
  narrow: 'narrow-key-of-the-version-uses-012345',
  test: 'test-key-of-the-version-uses-01234567',
  foreign: 'foreign-key-of-the-version-uses-01234',
};

function keyStore() {
  const of = { tenant: 'acme', scopes: ['runs:read'], mode: 'live', workspaces: 'all' } as const;
  return memoryKeyStore([
    { ...of, id: 'key_old', hash: hashApiKey(KEYS.old), principal: 'p_1' },
    { ...of, id: 'key_auditor', hash: hashApiKey(KEYS.auditor), principal: 'p_2', scopes: ['audit:read'] },
    {
      ...of,
      id: 'key_narrow',
      hash: hashApiKey(KEYS.narrow),
      principal: 'p_3',
      scopes: ['audit:read'],
      workspaces: ['w'],
    },
    { ...of, id: 'key_test', hash: hashApiKey(KEYS.test), principal: 'p_4', scopes: ['audit:read'], mode: 'test' },
    {
      ...of,
      id: 'key_foreign',
      hash: hashApiKey(KEYS.foreign),
      principal: 'p_5',
      scopes: ['audit:read'],
      tenant: 'rival',
    },
  ]);
}

async function startHost(options: Partial<HostOptions> = {}) {
  const clock = manualClock(NOW);
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: keyStore(), now: clock.now })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    ...options,
    authorization: { hasWorkspace: () => true, ...options.authorization },
    ports: { clock, ...options.ports },
  });
  await host.start();
  onTestFinished(() => host.stop(0));
  async function get(path: string, key: string, headers: Readonly<Record<string, string>> = {}) {
    const request = new Request(`http://host.test${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
    const response = await host.fetch(request);
    return { status: response.status, body: await response.json() };
  }
  return { host, clock, get };
}

/** Lets the counts be written: the store in memory needs turns of the event loop and no time. */
async function written(clock: ManualClock): Promise<void> {
  clock.advance(FLUSH_MS);
  await new Promise((resolve) => setImmediate(resolve));
}

const CALLERS = '/host/example/versions/callers';

test('the requests of each credential are counted by major, and shown to an auditor of the tenant', async () => {
  const { clock, get } = await startHost();
  await get('/v1/runs/none', KEYS.old);
  await get('/runs/none', KEYS.old);
  await get('/v1/host/example/versions/days', KEYS.auditor);
  await get('/runs', KEYS.auditor, { 'svc-version': '2' });
  await get('/runs', 'not-a-key-of-this-host', { 'svc-version': '2' });
  await written(clock);
  const lastAt = new Date(NOW).toISOString();
  expect(await get(CALLERS, KEYS.auditor)).toEqual({
    status: 200,
    body: {
      isComplete: true,
      callers: [
        {
          ...{ lane: 'api-key', credential: 'key_auditor' },
          majors: [
            { major: 1, requests: 1, lastAt },
            { major: 2, requests: 1, lastAt },
          ],
        },
        { lane: 'api-key', credential: 'key_old', majors: [{ major: 1, requests: 2, lastAt }] },
      ],
    },
  });
  expect((await get('/host/example/versions/days', KEYS.auditor)).body).toEqual({
    isComplete: true,
    days: [
      { day: '2026-06-15', major: 1, requests: 3 },
      { day: '2026-06-15', major: 2, requests: 1 },
    ],
  });
  await written(clock);
  expect(
    (await get(`${CALLERS}?major=2`, KEYS.auditor)).body.callers,
    'reads of callers count for no major',
  ).toHaveLength(1);
});

test('callers are shown in pages, each of which continues the one before', async () => {
  const { clock, get } = await startHost();
  for (const key of [KEYS.old, KEYS.auditor, KEYS.narrow]) await get('/v1/runs/none', key);
  await written(clock);
  const found: string[] = [];
  for (let after = ''; ; ) {
    const { body } = await get(`${CALLERS}?limit=1&after=${after}`, KEYS.auditor);
    found.push(...body.callers.map(({ credential }: { credential: string }) => credential));
    if (body.nextAfter === undefined) break;
    after = body.nextAfter;
  }
  expect(found).toEqual(['key_auditor', 'key_narrow', 'key_old']);
});

test.each([
  ['a tenant', KEYS.foreign],
  ['a mode', KEYS.test],
])('%s sees the callers of no other one', async (_what, key) => {
  const { clock, get } = await startHost();
  await get('/v1/runs/none', KEYS.old);
  await written(clock);
  expect((await get(CALLERS, key)).body.callers).toEqual([]);
  expect((await get('/host/example/versions/days', key)).body.days).toEqual([]);
});

test.each([
  ['a credential without audit:read', KEYS.old],
  ['a credential that is limited to workspaces', KEYS.narrow],
])('%s is refused', async (_what, key) => {
  const { get } = await startHost();
  for (const path of [CALLERS, '/host/example/versions/days']) {
    const { status, body } = await get(path, key);
    expect([status, body.error]).toEqual([403, 'forbidden']);
  }
});

test.each([
  ['major=3', 'query.major'],
  ['major=1&major=2', 'query.major'],
  ['since=yesterday', 'query.since'],
  ['since=2026-02-30', 'query.since'],
  ['after=%00', 'query.after'],
  [`after=${Buffer.from('["a","b\\u0000"]').toString('base64url')}`, 'query.after'],
  ['limit=many', 'query.limit'],
  ['tenant=rival', 'query.tenant'],
])('the query %s is refused', async (query, field) => {
  const { get } = await startHost();
  const { status, body } = await get(`${CALLERS}?${query}`, KEYS.auditor);
  expect([status, body.details.fields[0].field]).toEqual([400, field]);
});

test('counts are written at an orderly stop', async () => {
  const store = memoryStore();
  const { host, get } = await startHost({ store });
  await get('/v1/runs/none', KEYS.old);
  await host.stop(0);
  const days = await store.versionUses.days({ tenant: 'acme', mode: 'live' }, 0);
  expect(days).toEqual([{ day: NOW - DAY_MS / 2, major: 1, requests: 1 }]);
});

/** A counter on a store whose transactions fail while `fails` says so. */
function counting() {
  const clock = manualClock(NOW);
  const logged: LogRecord[] = [];
  const counted: string[] = [];
  const store = memoryStore();
  const state = { fails: false, hangs: false, transactions: 0 };
  const transaction: Store['transaction'] = (work) => {
    state.transactions += 1;
    if (state.hangs) return new Promise(() => {});
    return state.fails ? Promise.reject(new Error('no space left')) : store.transaction(work);
  };
  const counter = useCounter({
    store: { transaction, versionUses: store.versionUses },
    clock,
    storeClock: clock,
    log: (record) => logged.push(record),
    counted: (major, lane) => counted.push(`${major} ${lane}`),
  });
  const caller = (credentialId: string, lane = 'api-key', tenant = 'acme') =>
    ({ lane, credentialId, tenancy: { tenant, workspaces: 'all', mode: 'live' } }) as const;
  const read = (tenant = 'acme') =>
    store.versionUses.callers(
      { tenant, mode: 'live' },
      { major: 1, since: 0, after: undefined, limit: 2 * MOST_OF_TENANT },
    );
  return { clock, logged, counted, counter, state, store, caller, read };
}

test('a failed write is logged and repeated, and delays or fails no request', async () => {
  const { clock, logged, counter, state, caller, read } = counting();
  state.fails = true;
  counter.note(caller('key_1'), 1);
  await written(clock);
  counter.note(caller('key_1'), 1);
  expect(logged).toMatchObject([{ level: 'error', event: 'version-uses.failed' }]);
  state.fails = false;
  await written(clock);
  expect(await read()).toMatchObject([{ credential: 'key_1', majors: [{ requests: 2 }] }]);
  expect(counter.lost()).toBe(0);
});

test('nothing is written while no request arrives, and one transaction writes many counts', async () => {
  const { clock, counter, state, caller } = counting();
  await written(clock);
  expect(state.transactions).toBe(0);
  for (let number = 0; number < 500; number++) counter.note(caller(`key_${number}`), 1);
  await written(clock);
  await written(clock);
  expect(state.transactions).toBe(1);
});

test('credentials beyond the bound of a tenant are counted together, and other tenants and majors are not touched', async () => {
  const { clock, counter, caller, read } = counting();
  for (let number = 0; number < MOST_OF_TENANT + 3; number++) counter.note(caller(`key_${number}`), 1);
  counter.note(caller('key_0'), 1);
  counter.note(caller('key_late'), 2);
  counter.note(caller('key_other', 'api-key', 'rival'), 1);
  await counter.flush();
  const callers = await read();
  expect(callers).toHaveLength(MOST_OF_TENANT + 1);
  expect(callers.at(-1)).toMatchObject({ lane: OVERFLOW, credential: OVERFLOW, majors: [{ major: 1, requests: 3 }] });
  expect(await read('rival')).toMatchObject([{ credential: 'key_other' }]);
  clock.advance(DAY_MS);
  counter.note(caller('key_late'), 1);
  await counter.flush();
  expect((await read()).at(-2), 'a new day has room again').toMatchObject({ credential: 'key_late' });
});

test('a clock that was ahead and is set back leaves room for the credentials of the next days', async () => {
  const { clock, counter, caller, read } = counting();
  clock.set(1000 * DAY_MS);
  for (let number = 0; number < MOST_OF_TENANT; number++) counter.note(caller(`key_${number}`), 1);
  clock.set(-1000 * DAY_MS);
  counter.note(caller('key_late'), 1);
  await counter.flush();
  expect((await read()).at(-1)).toMatchObject({ credential: 'key_late' });
});

test('counts beyond the bound of memory are reported as lost', () => {
  const { counter, state, caller } = counting();
  state.fails = true;
  for (let number = 0; number <= MOST_WAITING; number++)
    counter.note(caller('key_1', 'api-key', `tenant-${number}`), 1);
  expect(counter.lost()).toBe(1);
});

test('callers of one session or one question are counted together', async () => {
  const { counter, caller, read } = counting();
  for (const id of ['anon_1', 'anon_2']) counter.note(caller(id, 'anonymous'), 1);
  for (const id of ['int_1', 'int_2']) counter.note(caller(id, 'interrupt-token'), 1);
  await counter.flush();
  expect((await read()).map(({ credential, majors }) => [credential, majors[0]?.requests])).toEqual([
    ['anonymous', 2],
    ['interrupt-token', 2],
  ]);
});

test.each([['a\u0000b'], ['\u001b[2J'], ['x'.repeat(513)], ['字'.repeat(300)], ['']])(
  'the id %j of a lane of the host is replaced by its digest',
  async (id) => {
    const { counter, caller, read } = counting();
    counter.note(caller(id), 1);
    await counter.flush();
    expect((await read())[0]?.credential).toMatch(/^sha256:[0-9a-f]{64}$/);
  },
);

test('the end does not wait for ever on a store that does not answer', async () => {
  const { clock, counter, state, caller } = counting();
  state.hangs = true;
  counter.note(caller('key_1'), 1);
  const end = counter.end();
  clock.advance(END_MS);
  await end;
  expect(state.transactions).toBeLessThanOrEqual(1);
});

test('a request after the end is not counted, and begins no write', async () => {
  const { clock, counter, state, caller, read } = counting();
  await counter.end();
  counter.note(caller('key_1'), 1);
  await written(clock);
  expect([state.transactions, await read()]).toEqual([0, []]);
});

test('uses whose time has passed are deleted, by the earlier of two clocks', async () => {
  const { store, counter, caller, read } = counting();
  for (let number = 0; number < 1200; number++) counter.note(caller(`key_${number}`), 1);
  await counter.flush();
  const forget = (hostNow: number, storeNow: number) =>
    forgetOldUses({
      ...{ store, keptMs: 90 * DAY_MS },
      clock: { now: () => hostNow },
      storeClock: { read: async () => storeNow },
    })(new AbortController().signal);
  await forget(NOW + 91 * DAY_MS, NOW);
  await forget(NOW, NOW + 91 * DAY_MS);
  expect(await read()).toHaveLength(1200);
  await forget(NOW + 91 * DAY_MS, NOW + 91 * DAY_MS);
  expect(await read()).toEqual([]);
});
