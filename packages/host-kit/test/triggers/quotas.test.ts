import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyQuota } from '@svc/auth/api-key';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../../src/ports/store.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { type ManualClock, manualClock } from '../streams/manual-clock.ts';
import { type TriggerHost, type TriggerHostOptions, triggerHost } from './trigger-host.ts';

/** A busy machine starts a host in seconds. */
vi.setConfig({ testTimeout: 120_000 });

const postgres = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), 'svc-trigger-quotas-'));
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true });
});

let made = 0;
/** A fresh store of each kind. The hosts of a test count periods by the clock of the test, not by that of the database. */
const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  memory: async () => memoryStore(),
  sqlite: async () => sqliteStore(join(folder, `${made++}.db`)),
  postgres: async () => withoutTime(await postgresStore({ url: postgres.url, schema: `quotas_${made++}` })),
};

function withoutTime({ time: _, ...store }: Store): Store {
  return store;
}

const hosts: TriggerHost[] = [];
async function start(options: TriggerHostOptions & { readonly quota: KeyQuota }): Promise<TriggerHost> {
  const rate = { limit: 100_000, windowSeconds: 60 };
  const clock = manualClock(Date.UTC(2026, 5, 10, 12));
  const host = await triggerHost({
    clock,
    ...options,
    triggers: { perClient: rate, perTrigger: rate, ...options.triggers },
  });
  hosts.push(host);
  return host;
}
afterEach(async () => {
  await Promise.all(hosts.splice(0).map(({ host }) => host.stop(0)));
});

const takenOf = async ({ store }: { readonly store: Store }, account = 'key_owner day') =>
  (await store.apiKeys.quotaCounts([account])).get(account);
const eventually = (clocks: readonly ManualClock[], check: () => Promise<void>) =>
  vi.waitFor(
    async () => {
      for (const clock of clocks) clock.advance(5000);
      await check();
    },
    { timeout: 60_000, interval: 50 },
  );

describe.each(Object.entries(STORES))(`${covers('triggers.message.quota')}, on %s`, (_, open) => {
  test('runs count with the requests of the key, and messages wait until the quota renews', async () => {
    const clock = manualClock(Date.UTC(2026, 5, 1, 23, 59, 30));
    const world = await start({ store: await open(), clock, quota: { limit: 5, period: 'day' } });
    // The registration is a request, too.
    const { triggerId } = await world.register({ retryPolicy: { maxAttempts: 20, backoff: 'none' } });
    const outcomes = [];
    for (let n = 0; n < 7; n++) outcomes.push((await world.send(triggerId, { order: n })).body.outcome);
    expect(outcomes).toEqual([...Array(4).fill('delivered'), ...Array(3).fill('retrying')]);
    expect(await takenOf(world)).toMatchObject({ taken: 5 });
    expect((await world.call('owner', 'GET', '/trigger-subscriptions')).status).toBe(429);
    const path = `/host/example/triggers/${triggerId}/messages`;
    const waiting = (await world.call('operator', 'GET', path)).body.messages;
    expect(JSON.stringify(waiting)).toContain('the quota of its API key is used up until');
    expect(await world.runs()).toHaveLength(4);
    await eventually([clock], async () => expect(await world.runs()).toHaveLength(7));
    expect(await takenOf(world)).toMatchObject({ taken: 3, used: 3 });
  });

  test('a message whose attempts end is a dead letter with the reason, and the trigger goes on', async () => {
    const quota = { limit: 2, period: 'month' } as const;
    const world = await start({ store: await open(), quota, triggers: { failAfter: 1 } });
    const { triggerId } = await world.register({ retryPolicy: { maxAttempts: 2, backoff: 'none' } });
    expect((await world.send(triggerId, { order: 1 })).body.outcome).toBe('delivered');
    for (const order of [2, 3]) expect((await world.send(triggerId, { order })).body.outcome).toBe('retrying');
    const path = `/host/example/triggers/${triggerId}`;
    const letters = async () => {
      const { messages } = (await world.call('operator', 'GET', `${path}/messages`)).body;
      return messages.filter(({ outcome }: { outcome: string }) => outcome === 'dead-lettered');
    };
    await eventually([world.clock], async () => expect(await letters()).toHaveLength(2));
    expect(JSON.stringify(await letters())).toMatch(/is used up until .*Every attempt failed/);
    expect((await world.store.triggers.read(triggerId))?.state).toBe('active');
    // Nothing is lost: with a higher quota, a redrive starts the runs.
    await world.store.transaction(async (transaction) => {
      const key = await world.store.apiKeys.readForChange('key_owner', transaction);
      if (key === undefined) throw new Error('The key of the owner is missing.');
      await world.store.apiKeys.replace({ ...key, quota: { limit: 9, period: 'month' } }, transaction);
    });
    const { body } = await world.call('operator', 'POST', `${path}/dead-letters/redrive`, {});
    expect(body).toMatchObject({ redriven: 2 });
    await eventually([world.clock], async () => expect(await world.runs()).toHaveLength(3));
    expect(await takenOf(world, 'key_owner month')).toMatchObject({ taken: 4 });
  });

  test('a run that is undone after it was counted, is repeated or is refused counts once or not at all', async () => {
    const inner = await open();
    let killed = 0;
    const draw: Store['apiKeys']['draw'] = async (draws, transaction) => {
      const grants = await inner.apiKeys.draw(draws, transaction);
      if (draws.length === 3 && killed-- > 0) throw new Error('The host died here.');
      return grants;
    };
    const store = { ...inner, apiKeys: { ...inner.apiKeys, draw } };
    const world = await start({ store, quota: { limit: 100, period: 'day' } });
    const { triggerId } = await world.register({ retryPolicy: { maxAttempts: 9, backoff: 'none' } });
    killed = 3;
    expect((await world.send(triggerId, { order: 1 })).body.outcome).toBe('retrying');
    await eventually([world.clock], async () => expect(await world.runs()).toHaveLength(1));
    expect(await takenOf(world)).toMatchObject({ taken: 2 });
    await Promise.all([1, 2, 3, 4].map(() => world.send(triggerId, { order: 2 })));
    expect(await world.runs()).toHaveLength(2);
    expect(await takenOf(world)).toMatchObject({ taken: 3 });
    world.engine.known.clear();
    expect((await world.send(triggerId, { order: 3 })).body.outcome).toBe('dead-lettered');
    expect(await takenOf(world)).toMatchObject({ taken: 3 });
  });

  test('messages above the most that wait become dead letters, and none is lost', async () => {
    const quota = { limit: 1, period: 'day' } as const;
    const world = await start({ store: await open(), quota, triggers: { maxWaiting: 2 } });
    const { triggerId } = await world.register({ retryPolicy: { maxAttempts: 9, backoff: 'none' } });
    const outcomes = [];
    for (let n = 0; n < 4; n++) outcomes.push((await world.send(triggerId, { order: n })).body.outcome);
    expect(outcomes).toEqual(['retrying', 'retrying', 'dead-lettered', 'dead-lettered']);
  });
});

describe(covers('triggers.message.quota'), () => {
  test('two hosts that get messages at once start no more runs than the quota', async () => {
    const schema = `quotas_${made++}`;
    const clock = manualClock(Date.UTC(2026, 5, 10, 12));
    const quota = { limit: 11, period: 'month' } as const;
    const open = async () => withoutTime(await postgresStore({ url: postgres.url, schema, connections: 6 }));
    const one = await start({ store: await open(), clock, quota });
    const other = await start({ store: await open(), clock, quota });
    const { triggerId } = await one.register({ retryPolicy: { maxAttempts: 3, backoff: 'none' } });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => [one, other][n % 2]?.send(triggerId, { order: n })),
    );
    const delivered = answers.filter((answer) => answer?.body.outcome === 'delivered');
    expect(delivered).toHaveLength(10);
    expect(await one.runs()).toHaveLength(10);
    expect(await takenOf(one, 'key_owner month')).toMatchObject({ taken: 11 });
  });
});
