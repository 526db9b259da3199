import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { apiKeyLane, hashApiKey } from '@svc/auth/api-key';
import {
  createHost,
  type HostOptions,
  type LogRecord,
  type PortOptions,
  type Store,
  type WorkflowEngine,
} from '@svc/host-kit';
import { postgresStore } from '@svc/host-kit/stores/postgres';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { storedKeys } from '../../src/index.ts';
import { type RecordedHost, recordedHost } from './recorded-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-unreadable-'));
const postgres = await startPostgres();
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const engine: WorkflowEngine = {
  execute: async () => ({ status: 'completed', outputs: {} }),
};

/** A database of a store, which a test opens again and again, and in which it damages records while no host has it open. */
interface Database {
  open(): Promise<Store>;
  /** Runs a statement with one parameter, `$1`. */
  change(sql: string, value: string): Promise<void>;
}

let databases = 0;

const DATABASES: Readonly<Record<string, () => Database>> = {
  SQLite() {
    const path = join(folder, `${++databases}.db`);
    return {
      open: async () => sqliteStore(path),
      async change(sql, value) {
        const database = new DatabaseSync(path);
        database.prepare(sql).run({ $1: value });
        database.close();
      },
    };
  },
  PostgreSQL() {
    const schema = `unreadable_${++databases}`;
    return {
      open: () => postgresStore({ url: postgres.url, schema, connections: 4 }),
      async change(sql, value) {
        const client = new pg.Client({ connectionString: postgres.url });
        await client.connect();
        await client.query(`SET search_path = ${schema}`);
        await client.query(sql, [value]);
        await client.end();
      },
    };
  },
};

/** A text that no log may have. */
const SECRET = 'https://hooks.example/a-secret-path';

const DAMAGES = [
  ['that is no JSON', `{"url":"${SECRET}`],
  ['without the fields by which events are matched', `{"url":"${SECRET}","workspaces":"all"}`],
  ['that is null', 'null'],
] as const;

const reported = (logged: readonly LogRecord[], event: string) => logged.filter((record) => record.event === event);

describe.each(Object.entries(DATABASES))('a subscription on %s', (_name, database) => {
  const idsOf = async (host: RecordedHost, query = '') => {
    const { status, body } = await host.call(`/host/example/webhooks${query}`, undefined, { wide: true });
    expect(status, JSON.stringify(body)).toBe(200);
    return body.webhooks.map(({ webhookId }: { webhookId: string }) => webhookId);
  };

  test.each(DAMAGES)('with a record %s gets nothing, and is logged and passed over', async (_damage, document) => {
    const { open, change } = database();
    const first = await recordedHost({ store: await open(), engine });
    for (let count = 0; count < 3; count++) expect((await first.subscribe(1, ['run.completed'])).status).toBe(201);
    const [one, damaged, other] = await idsOf(first);
    await first.stop();
    await change(`UPDATE subscriptions SET document = $1 WHERE webhook_id = '${damaged}'`, document);

    const host = await recordedHost({ store: await open(), engine });
    expect(await idsOf(host)).toEqual([one, other]);
    // A page that passes one over is full.
    expect(await idsOf(host, '?limit=2')).toEqual([one, other]);
    for (let run = 0; run < 3; run++) await host.deliveriesOf(await host.start('any'), 2);
    expect(new Set(host.received.map(({ webhookId }) => webhookId))).toEqual(new Set([one, other]));
    await host.stop();

    const message = expect.stringMatching(
      new RegExp(`^Stored subscription ${damaged}: it.+\\. Restore the record from a backup\\.$`),
    );
    expect(reported(host.logged, 'subscription.unreadable')).toEqual([
      { level: 'error', event: 'subscription.unreadable', webhookId: damaged, error: message },
    ]);
    expect(JSON.stringify(host.logged)).not.toContain(SECRET);
  });

  test('keeps the deliveries that wait for it until its record is restored', async () => {
    const { open, change } = database();
    const webhooks: HostOptions['webhooks'] = {
      retryPolicy: { maxAttempts: 5, backoff: 'fixed', delayMs: 1000, maxDelayMs: 1000 },
    };
    let attempts = 0;
    const refusing: PortOptions['transport'] = async () => {
      attempts += 1;
      return { kind: 'answered', status: 503, retryAfter: undefined, durationMs: 1 };
    };
    const first = await recordedHost({ store: await open(), engine, webhooks, ports: { transport: refusing } });
    for (let count = 0; count < 2; count++) expect((await first.subscribe(1, ['run.completed'])).status).toBe(201);
    const [damaged, sound] = await idsOf(first);
    const runId = await first.start('any');
    await expect.poll(() => attempts, { timeout: 60_000 }).toBeGreaterThan(1);
    await first.stop();
    await change(`UPDATE subscriptions SET document = '#' || document WHERE webhook_id = $1`, damaged);

    const second = await recordedHost({ store: await open(), engine, webhooks });
    await second.deliveriesOf(runId, 1);
    await second.deliveriesOf(await second.start('any'), 1);
    await second.stop();
    expect(new Set(second.received.map(({ webhookId }) => webhookId))).toEqual(new Set([sound]));
    expect(reported(second.logged, 'subscription.unreadable')).toMatchObject([{ webhookId: damaged }]);

    await change('UPDATE subscriptions SET document = substr(document, 2) WHERE webhook_id = $1', damaged);
    const third = await recordedHost({ store: await open(), engine, webhooks });
    await third.deliveriesOf(runId, 1);
    await third.stop();
    expect(third.received.map(({ webhookId }) => webhookId)).toEqual([damaged]);
  });
});

describe.each(Object.entries(DATABASES))('an API key on %s', (_name, database) => {
  const secretOf = (id: string) => `operator-key-${id}-of-unreadable-records-0123456789`;
  const configured = ['key_1', 'key_2', 'key_3'].map((id) => ({
    ...{ id, hash: hashApiKey(secretOf(id)), tenant: 'acme', workspaces: 'all' as const, principal: `p_${id}` },
    ...{ scopes: ['keys:manage', 'runs:read'], mode: 'live' as const },
  }));

  async function start(store: Store, options: Partial<Parameters<typeof storedKeys>[0]> = {}) {
    const logged: LogRecord[] = [];
    const keys = storedKeys({ store, ...options });
    const host = createHost({
      store,
      authenticate: [apiKeyLane({ keys, onUsed: keys.onUsed })],
      features: { apiKeys: keys },
      engine,
      secretKey: new Uint8Array(32),
      authorization: { hasWorkspace: () => true },
      ports: { log: (record) => void logged.push(record) },
    });
    await host.start();
    const list = async (id: string, query = '') => {
      const headers = { authorization: `Bearer ${secretOf(id)}` };
      const response = await host.fetch(new Request(`http://host.test/host/example/keys${query}`, { headers }));
      const { keys: found = [] } = await response.json();
      return { status: response.status, ids: found.map((key: { readonly id: string }) => key.id) };
    };
    return { host, logged, list };
  }

  const damages = [
    ['that is no JSON', () => `{"name":"${SECRET}`],
    ['of another key', () => JSON.stringify({ ...configured[0], name: SECRET })],
    ['that is null', () => 'null'],
  ] as const;

  test.each(damages)(
    'with a record %s is accepted by nobody, and is logged and passed over',
    async (_damage, record) => {
      const { open, change } = database();
      const { host: first } = await start(await open(), { configured });
      await first.stop();
      await change(`UPDATE api_keys SET record = $1 WHERE id = 'key_2'`, record());

      // The record may have said that the key was revoked, so a configuration that has the key does not replace it.
      const { host, logged, list } = await start(await open(), { configured });
      expect(await list('key_1')).toEqual({ status: 200, ids: ['key_1', 'key_3'] });
      // A page that passes one over is full.
      expect(await list('key_3', '?limit=2')).toEqual({ status: 200, ids: ['key_1', 'key_3'] });
      for (let attempt = 0; attempt < 3; attempt++) expect(await list('key_2')).toMatchObject({ status: 401 });
      await host.stop();

      const message = expect.stringMatching(/^Stored API key key_2: it.+\. Restore the record from a backup\.$/);
      expect(reported(logged, 'api-key.unreadable')).toEqual([
        { level: 'error', event: 'api-key.unreadable', keyId: 'key_2', error: message },
      ]);
      expect(JSON.stringify(logged)).not.toContain(SECRET);
    },
  );
});
