import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BootedHost, bootHost, eventually, scratch } from './booted-host.ts';

const ADMIN = 'operator_brought_key_that_manages_the_keys_';
const folder = scratch();
const postgres = await startPostgres();
const hosts: BootedHost[] = [];
const config = {
  listen: { port: 0 },
  store: postgres.url,
  secretKey: Buffer.alloc(32, 7).toString('base64'),
  tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
  apiKeys: [
    {
      id: 'admin',
      key: ADMIN,
      tenant: 'acme',
      workspaces: ['*'],
      principal: 'p_admin',
      scopes: ['keys:manage', 'runs:read'],
    },
  ],
};

const boot = (name: string, changes: object = {}) => bootHost(folder.path(`${name}.json`), { ...config, ...changes });

beforeAll(async () => {
  // The first host makes the tables; the others import the same keys at the same time.
  hosts.push(await boot('0'));
  hosts.push(...(await Promise.all(['1', '2', '3'].map((name) => boot(name)))));
});
afterAll(async () => {
  for (const host of hosts) host.process.kill('SIGKILL');
  await postgres.stop();
  folder.remove();
});

async function call(host: BootedHost, path: string, { key = ADMIN, body }: { key?: string; body?: object } = {}) {
  const response = await fetch(`${host.url}/host/example/keys${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.json();
}

async function isAccepted(host: BootedHost, key: string): Promise<boolean> {
  const response = await fetch(`${host.url}/v1/runs/absent`, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  if (response.status !== 404 && response.status !== 401) throw new Error(`unexpected ${response.status}`);
  return response.status === 404;
}

const create = (host: BootedHost) => call(host, '', { body: { name: 'k', scopes: ['runs:read'] } });
const at = (index: number): BootedHost => {
  const host = hosts[index % hosts.length];
  if (host === undefined) throw new Error('no host');
  return host;
};

describe('hosts that share a database', () => {
  test('a new key is accepted by every host at once', async () => {
    const { key } = await create(at(0));
    expect(await Promise.all(hosts.map((host) => isAccepted(host, key)))).toEqual([true, true, true, true]);
  });

  test(`${covers('auth.rate-limit.quota')}: hosts admit the quota together, and no request above it`, async () => {
    const { key, apiKey } = await call(at(0), '', {
      body: { name: 'k', scopes: ['runs:read'], quota: { limit: 200, period: 'month' } },
    });
    const admittedBy = async (host: BootedHost) => {
      let admitted = 0;
      for (let request = 0; request < 80; request += 1) {
        const response = await fetch(`${host.url}/v1/runs/absent`, { headers: { authorization: `Bearer ${key}` } });
        await response.arrayBuffer();
        if (response.status === 404) admitted += 1;
        else if (response.status !== 429) throw new Error(`unexpected ${response.status}`);
      }
      return admitted;
    };
    const admitted = (await Promise.all(hosts.map(admittedBy))).reduce((sum, count) => sum + count, 0);
    expect(admitted).toBeLessThanOrEqual(200);
    // The others hold at most 4 % each in reserve.
    expect(admitted).toBeGreaterThanOrEqual(200 - 3 * 8);
    const read = await fetch(`${at(3).url}/host/example/keys/${apiKey.id}`, {
      headers: { authorization: `Bearer ${ADMIN}` },
    });
    expect((await read.json()).quota).toMatchObject({ limit: 200, period: 'month' });
  });

  test.each([2, 4])('after the answer to a revocation, none of %i hosts accepts the key', async (count) => {
    const some = hosts.slice(0, count);
    let late = 0;
    let warm = 0;
    let next = 0;
    const worker = async () => {
      for (let index = next++; index < ROUNDS; index = next++) {
        const { key, apiKey } = await create(at(index % count));
        for (const accepted of await Promise.all(some.map((host) => isAccepted(host, key)))) if (accepted) warm++;
        let isOver = false;
        const load = some.map(async (host) => {
          while (!isOver) await isAccepted(host, key);
        });
        const { state } = await call(at((index + 1) % count), `/${apiKey.id}/revoke`);
        expect(state).toBe('revoked');
        for (const accepted of await Promise.all(some.map((host) => isAccepted(host, key)))) if (accepted) late++;
        isOver = true;
        await Promise.all(load);
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    expect([warm, late]).toEqual([ROUNDS * count, 0]);
  });

  test('a host that hangs delays the answer to the end of its lease, and accepts nothing when it goes on', async () => {
    const { key, apiKey } = await create(at(0));
    expect(await isAccepted(at(3), key)).toBe(true);
    at(3).process.kill('SIGSTOP');
    try {
      const began = performance.now();
      expect((await call(at(0), `/${apiKey.id}/revoke`)).state).toBe('revoked');
      expect(performance.now() - began).toBeGreaterThan(1000);
    } finally {
      at(3).process.kill('SIGCONT');
    }
    expect(await isAccepted(at(3), key)).toBe(false);
  });

  test('a host that lost its feed asks the database', async () => {
    const { key, apiKey } = await create(at(0));
    const probe = await create(at(0));
    expect(await Promise.all(hosts.map((host) => isAccepted(host, key)))).toEqual([true, true, true, true]);
    await endFeeds();
    expect((await call(at(1), `/${apiKey.id}/revoke`)).state).toBe('revoked');
    expect(await Promise.all(hosts.map((host) => isAccepted(host, key)))).toEqual([false, false, false, false]);
    expect(await Promise.all(hosts.map((host) => isAccepted(host, probe.key)))).toEqual([true, true, true, true]);
  });

  test('a killed host delays a revocation by its lease at most', async () => {
    const lost = await boot('lost');
    const { key, apiKey } = await create(lost);
    lost.process.kill('SIGKILL');
    await lost.ended;
    expect((await call(at(0), `/${apiKey.id}/revoke`)).state).toBe('revoked');
    expect(await isAccepted(at(0), key)).toBe(false);
  });

  test('a key that leaves the configuration is refused by every host when the changed one is ready', async () => {
    const removed = 'operator_brought_key_that_leaves_the_config';
    const changed = { ...config.apiKeys[0], id: 'leaving', key: removed };
    const first = await boot('changing', { apiKeys: [...config.apiKeys, changed] });
    expect(await Promise.all(hosts.map((host) => isAccepted(host, removed)))).toEqual([true, true, true, true]);
    first.process.kill('SIGTERM');
    await first.ended;
    const second = await boot('changing');
    expect(await Promise.all(hosts.map((host) => isAccepted(host, removed)))).toEqual([false, false, false, false]);
    second.process.kill('SIGTERM');
    await second.ended;
    await eventually(async () => isAccepted(at(0), ADMIN));
  });
});

const ROUNDS = 60;

/** Ends the connections on which the hosts listen. */
async function endFeeds(): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  const { rowCount } = await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query ~ 'key_hosts|LISTEN'
      AND state = 'idle' AND query !~ 'min'`,
  );
  expect(rowCount).toBeGreaterThanOrEqual(1);
  await client.end();
}
