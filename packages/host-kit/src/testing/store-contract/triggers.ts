import type { Store } from '../../ports/store.ts';
import type { Trigger, TriggerMessage, TriggerRecord, TriggerRules } from '../../ports/triggers.ts';
import type { StoreContract } from './contract.ts';
import { TENANCY } from './samples.ts';

/** Tests of `TriggerStore`. */
export function triggersContract(contract: StoreContract): void {
  triggerContract(contract);
  scheduleContract(contract);
  queueContract(contract);
  messageContract(contract);
  letterContract(contract);
}

function triggerContract({ onStore, assert }: StoreContract): void {
  onStore('a trigger is found in its own tenant, mode and workspace alone', async (store) => {
    const trigger = sampleTrigger({});
    await withTriggers(store, trigger);
    assert.deepEqual(await store.triggers.find(TENANCY, 'trg_1'), { kind: 'found', value: trigger });
    const elsewhere = { ...TENANCY, workspaces: ['w2'] };
    assert.deepEqual(await store.triggers.find(elsewhere, 'trg_1'), { kind: 'other-workspace' });
    for (const tenancy of [
      { ...TENANCY, tenant: 'other' },
      { ...TENANCY, mode: 'test' as const },
    ]) {
      assert.deepEqual(await store.triggers.find(tenancy, 'trg_1'), { kind: 'absent' });
      const remove = store.transaction((transaction) => store.triggers.remove(tenancy, 'trg_1', transaction));
      assert.deepEqual(await remove, { kind: 'absent' });
    }
    assert.deepEqual(await store.triggers.read('trg_1'), trigger);
  });

  onStore('triggers are listed in pages of the reached workspaces, and counted', async (store) => {
    const { workspace: _, ...ofTenant } = sampleTrigger({ triggerId: 'trg_4' });
    const own = ['trg_3', 'trg_1', 'trg_2'].map((triggerId) => sampleTrigger({ triggerId }));
    await withTriggers(store, ...own, ofTenant, sampleTrigger({ triggerId: 'trg_5', tenant: 'other' }));
    const ids = async (after: string, workspaces: 'all' | string[]) =>
      (await store.triggers.list({ ...TENANCY, workspaces }, { after, limit: 2 })).map(({ triggerId }) => triggerId);
    assert.deepEqual(await ids('', 'all'), ['trg_1', 'trg_2']);
    assert.deepEqual(await ids('trg_2', 'all'), ['trg_3', 'trg_4']);
    assert.deepEqual(await ids('trg_2', ['w1']), ['trg_3']);
    assert.deepEqual(await ids('', ['w2']), []);
    const count = store.transaction((transaction) => store.triggers.count(TENANCY, transaction));
    assert.deepEqual(await count, 4);
    const every = await store.triggers.page({ after: 'trg_3', limit: 9 });
    assert.deepEqual(
      every.map(({ triggerId }) => triggerId),
      ['trg_4', 'trg_5'],
    );
  });

  onStore('concurrent changes of a trigger see each other', async (store) => {
    await withTriggers(store, sampleTrigger({}));
    const count = () =>
      store.transaction((transaction) =>
        store.triggers.change(
          'trg_1',
          (trigger) => ({ ...trigger, failures: trigger.failures + 1, sealedSecrets: Uint8Array.of(9) }),
          transaction,
        ),
      );
    await Promise.all([count(), count(), count()]);
    const changed = sampleTrigger({ failures: 3, sealedSecrets: Uint8Array.of(9) });
    assert.deepEqual(await store.triggers.read('trg_1'), changed);
    const unchanged = store.transaction((transaction) => store.triggers.change('trg_1', () => undefined, transaction));
    assert.deepEqual(await unchanged, undefined);
    assert.deepEqual(await store.triggers.read('trg_1'), changed);
  });

  onStore('a removed trigger and its messages are gone, and are deleted in steps', async (store) => {
    await withTriggers(store, sampleTrigger({}));
    await store.transaction(async (transaction) => {
      for (const n of [1, 2, 3]) {
        const message = waiting({ dedupKey: `k${n}`, deliveryId: `dlv_${n}` });
        await store.triggers.take(message, transaction);
      }
    });
    const remove = () => store.transaction((transaction) => store.triggers.remove(TENANCY, 'trg_1', transaction));
    assert.deepEqual((await remove()).kind, 'found');
    assert.deepEqual(await remove(), { kind: 'absent' });
    assert.deepEqual(await store.triggers.read('trg_1'), undefined);
    assert.deepEqual(await store.triggers.page({ after: '', limit: 9 }), []);
    const held = store.transaction((transaction) => store.triggers.hold('trg_1', transaction));
    assert.deepEqual(await held, undefined);
    assert.deepEqual(await store.triggers.due(1000, 10), []);
    assert.deepEqual(await store.triggers.sweep(0, 2), 2);
    assert.deepEqual(await store.triggers.sweep(0, 2), 1);
    assert.deepEqual(await store.triggers.sweep(0, 2), 0);
  });
}

function queueContract({ onStore, assert }: StoreContract): void {
  onStore('active triggers of queues are listed in pages, and follow the changes of their states', async (store) => {
    const stored = [
      sampleTrigger({ triggerId: 'trg_3' }, ofQueue),
      sampleTrigger({ triggerId: 'trg_1' }, ofQueue),
      sampleTrigger({ triggerId: 'trg_2', tenant: 'other' }, ofQueue),
      sampleTrigger({ triggerId: 'trg_4', state: 'paused' }, ofQueue),
      sampleTrigger({ triggerId: 'trg_5', state: 'failed' }, ofQueue),
      sampleTrigger({ triggerId: 'trg_6' }, nightly(2000)),
      sampleTrigger({ triggerId: 'trg_7' }),
    ];
    await withTriggers(store, ...stored);
    const ids = async (after: string, limit: number) =>
      (await store.triggers.activeQueues({ after, limit })).map(({ triggerId }) => triggerId);
    assert.deepEqual(await ids('', 9), ['trg_1', 'trg_2', 'trg_3']);
    assert.deepEqual(await ids('trg_1', 1), ['trg_2']);
    assert.deepEqual(await store.triggers.activeQueues({ after: 'trg_2', limit: 9 }), [stored[0]]);
    await store.transaction(async (transaction) => {
      await store.triggers.change('trg_1', (trigger) => ({ ...trigger, state: 'paused' }), transaction);
      await store.triggers.change('trg_4', (trigger) => ({ ...trigger, state: 'active' }), transaction);
      await store.triggers.remove({ ...TENANCY, workspaces: 'all' }, 'trg_3', transaction);
    });
    assert.deepEqual(await ids('', 9), ['trg_2', 'trg_4']);
  });
}

function scheduleContract({ onStore, assert }: StoreContract): void {
  onStore('active schedules are due at the time of their next occurrence, the earliest first', async (store) => {
    const stored = [
      sampleTrigger({ triggerId: 'trg_1' }, nightly(2000)),
      sampleTrigger({ triggerId: 'trg_2', tenant: 'other' }, nightly(1500)),
      sampleTrigger({ triggerId: 'trg_3', state: 'paused' }, nightly(1000)),
      sampleTrigger({ triggerId: 'trg_4', state: 'failed' }, nightly(1000)),
      sampleTrigger({ triggerId: 'trg_5' }, nightly(undefined)),
      sampleTrigger({ triggerId: 'trg_6' }),
    ];
    await withTriggers(store, ...stored);
    const due = async (now: number, limit: number) =>
      (await store.triggers.dueSchedules(now, limit)).map(({ triggerId }) => triggerId);
    assert.deepEqual(await due(1499, 9), []);
    assert.deepEqual(await due(1500, 9), ['trg_2']);
    assert.deepEqual(await due(9000, 9), ['trg_2', 'trg_1']);
    assert.deepEqual(await due(9000, 1), ['trg_2']);
    assert.deepEqual(await store.triggers.dueSchedules(2000, 9), [stored[1], stored[0]]);
  });

  onStore('of concurrent moves of a schedule from one occurrence, one succeeds', async (store) => {
    await withTriggers(store, sampleTrigger({}, nightly(1500)));
    const move = (fireAt: number) =>
      store.transaction((transaction) =>
        store.triggers.change(
          'trg_1',
          (found) => {
            if (found.source !== 'schedule' || found.next?.fireAt !== 1500) return undefined;
            return { ...found, next: { scheduledAt: fireAt, fireAt } };
          },
          transaction,
        ),
      );
    const moved = await Promise.all([move(3000), move(3000), move(3000)]);
    assert.deepEqual(moved.filter((trigger) => trigger !== undefined).length, 1);
    assert.deepEqual(await store.triggers.dueSchedules(2999, 9), []);
    assert.deepEqual((await store.triggers.dueSchedules(3000, 9)).length, 1);
    const stop = ({ triggerId }: Trigger) => sampleTrigger({ triggerId }, nightly(undefined));
    await store.transaction((transaction) => store.triggers.change('trg_1', stop, transaction));
    assert.deepEqual(await store.triggers.dueSchedules(9000, 9), []);
    await store.transaction((transaction) => store.triggers.remove(TENANCY, 'trg_1', transaction));
  });

  onStore('a removed schedule is not due', async (store) => {
    await withTriggers(store, sampleTrigger({}, nightly(1500)));
    await store.transaction((transaction) => store.triggers.remove(TENANCY, 'trg_1', transaction));
    assert.deepEqual(await store.triggers.dueSchedules(9000, 9), []);
  });
}

function letterContract({ onStore, assert }: StoreContract): void {
  onStore('a message is known by its key until it expires, without its document', async (store) => {
    await withTriggers(store, sampleTrigger({}));
    const { document: _, ...listed } = waiting({});
    await store.transaction((transaction) => store.triggers.take(waiting({}), transaction));
    assert.deepEqual(await store.triggers.known('trg_1', 'k', 8999), listed);
    assert.deepEqual(await store.triggers.known('trg_1', 'k', 9000), undefined);
    assert.deepEqual(await store.triggers.known('trg_1', 'other', 0), undefined);
    assert.deepEqual(await store.triggers.known('trg_2', 'k', 0), undefined);
  });

  onStore('the oldest dead letters beyond a number are trimmed, and other messages stay', async (store) => {
    await withTriggers(store, sampleTrigger({}), sampleTrigger({ triggerId: 'trg_2' }));
    await store.transaction(async (transaction) => {
      for (const n of [1, 3, 2, 4]) {
        await store.triggers.take(dead({ dedupKey: `k${n}`, deliveryId: `dlv_${n}` }), transaction);
      }
      await store.triggers.take(waiting({ dedupKey: 'k0', deliveryId: 'dlv_0' }), transaction);
      await store.triggers.take(delivered({ dedupKey: 'k5', deliveryId: 'dlv_00' }), transaction);
      await store.triggers.take(dead({ triggerId: 'trg_2' }), transaction);
    });
    const trim = (most: number) =>
      store.transaction((transaction) => store.triggers.trimDeadLetters('trg_1', most, transaction));
    assert.deepEqual(await store.triggers.backlog(9), { waiting: 1, deadLetters: 5 });
    assert.deepEqual(await store.triggers.backlog(1), { waiting: 1, deadLetters: 1 });
    assert.deepEqual(await trim(4), 0);
    assert.deepEqual(await trim(2), 2);
    assert.deepEqual(await trim(2), 0);
    const left = (await store.triggers.messages('trg_1', ALL)).map(({ deliveryId }) => deliveryId);
    assert.deepEqual(left, ['dlv_4', 'dlv_3', 'dlv_00', 'dlv_0']);
    assert.deepEqual((await store.triggers.messages('trg_2', ALL)).length, 1);
    assert.deepEqual(await trim(0), 2);
  });
}

function messageContract({ onStore, assert }: StoreContract): void {
  onStore('of concurrent messages with one key, one is stored', async (store) => {
    await withTriggers(store, sampleTrigger({}));
    const take = (deliveryId: string) =>
      store.transaction((transaction) => store.triggers.take(delivered({ deliveryId }), transaction));
    const before = await Promise.all(['dlv_1', 'dlv_2', 'dlv_3'].map(take));
    const [stored, ...others] = await store.triggers.messages('trg_1', ALL);
    assert.deepEqual(others, []);
    assert.deepEqual(before.filter((found) => found === undefined).length, 1);
    assert.deepEqual(
      before.filter((found) => found !== undefined),
      [stored, stored],
    );
  });

  onStore('a message whose transaction is undone is unknown', async (store) => {
    await withTriggers(store, sampleTrigger({}));
    await assert.rejects(
      store.transaction(async (transaction) => {
        await store.triggers.take(delivered({}), transaction);
        throw new Error('undone');
      }),
    );
    const taken = store.transaction((transaction) => store.triggers.take(delivered({}), transaction));
    assert.deepEqual(await taken, undefined);
  });

  onStore('a key is unknown again when its message has expired', async (store) => {
    await withTriggers(store, sampleTrigger({}));
    const take = (receivedAt: number, deliveryId: string) => {
      const message = delivered({ deliveryId, receivedAt, expiresAt: receivedAt + 100 });
      return store.transaction((transaction) => store.triggers.take(message, transaction));
    };
    assert.deepEqual(await take(0, 'dlv_1'), undefined);
    assert.deepEqual((await take(99, 'dlv_2'))?.deliveryId, 'dlv_1');
    assert.deepEqual(await take(100, 'dlv_3'), undefined);
    assert.deepEqual((await take(150, 'dlv_4'))?.deliveryId, 'dlv_3');
    assert.deepEqual(await store.triggers.messages('trg_1', { ...ALL, now: 200 }), []);
    assert.deepEqual(await store.triggers.sweep(200, 10), 1);
    assert.deepEqual(await store.triggers.sweep(200, 10), 0);
  });

  onStore('a message is settled from the state that its host has read', async (store) => {
    await withTriggers(store, sampleTrigger({}));
    const before = waiting({});
    await store.transaction((transaction) => store.triggers.take(before, transaction));
    const settle = (after: TriggerMessage) =>
      store.transaction((transaction) => store.triggers.settle(before, after, transaction));
    const again = waiting({ attempts: 2, problem: 'p', nextAttemptAt: 50 });
    const { document: _, ...listed } = again;
    assert.deepEqual(await settle(listed), true);
    assert.deepEqual(await settle(delivered({})), false);
    assert.deepEqual(await store.triggers.messages('trg_1', ALL), [listed]);
    assert.deepEqual(await store.triggers.due(50, 2), [again]);
    const end = delivered({ attempts: 3 });
    const ended = store.transaction((transaction) => store.triggers.settle(again, end, transaction));
    assert.deepEqual(await ended, true);
    const repeated = store.transaction((transaction) => store.triggers.take(delivered({}), transaction));
    assert.deepEqual(await repeated, end);
  });

  onStore('messages are listed newest first, by outcome, and waiting ones are counted', async (store) => {
    await withTriggers(store, sampleTrigger({}), sampleTrigger({ triggerId: 'trg_2' }));
    const letter = (n: number) => dead({ dedupKey: `k${n}`, deliveryId: `dlv_${n}` });
    const stored = [letter(1), waiting({ dedupKey: 'k2', deliveryId: 'dlv_2' }), letter(3), letter(4)];
    await store.transaction(async (transaction) => {
      for (const message of stored) await store.triggers.take(message, transaction);
      await store.triggers.take(waiting({ triggerId: 'trg_2', deliveryId: 'dlv_9' }), transaction);
    });
    const ids = async (page: Partial<Parameters<typeof store.triggers.messages>[1]>) =>
      (await store.triggers.messages('trg_1', { ...ALL, ...page })).map(({ deliveryId }) => deliveryId);
    assert.deepEqual(await ids({ limit: 2 }), ['dlv_4', 'dlv_3']);
    assert.deepEqual(await ids({ before: 'dlv_3' }), ['dlv_2', 'dlv_1']);
    assert.deepEqual(await ids({ outcome: 'dead-lettered', before: 'dlv_4' }), ['dlv_3', 'dlv_1']);
    assert.deepEqual(await ids({ outcome: 'retrying' }), ['dlv_2']);
    assert.deepEqual(await store.triggers.countWaiting('trg_1', 10), 1);
    assert.deepEqual(await store.triggers.countWaiting('trg_1', 0), 0);
  });

  onStore('messages are due at their next attempt, unless their trigger is paused', async (store) => {
    const paused = sampleTrigger({ triggerId: 'trg_2', state: 'paused' });
    await withTriggers(store, sampleTrigger({}), paused);
    await store.transaction(async (transaction) => {
      await store.triggers.take(waiting({ deliveryId: 'dlv_1', dedupKey: 'a', nextAttemptAt: 20 }), transaction);
      await store.triggers.take(waiting({ deliveryId: 'dlv_2', dedupKey: 'b', nextAttemptAt: 10 }), transaction);
      await store.triggers.take(delivered({ deliveryId: 'dlv_3', dedupKey: 'c' }), transaction);
      const ahead = { deliveryId: 'dlv_4', dedupKey: 'd', nextAttemptAt: 3_600_000 };
      await store.triggers.take(waiting(ahead), transaction);
      await store.triggers.take(waiting({ triggerId: 'trg_2', deliveryId: 'dlv_5', nextAttemptAt: 5 }), transaction);
    });
    const due = async (now: number, limit: number) =>
      (await store.triggers.due(now, limit)).map(({ deliveryId }) => deliveryId);
    assert.deepEqual(await due(19, 10), ['dlv_2', 'dlv_4']);
    assert.deepEqual(await due(20, 2), ['dlv_2', 'dlv_1']);
    await store.transaction((transaction) =>
      store.triggers.change('trg_2', (trigger) => ({ ...trigger, state: 'active' }), transaction),
    );
    assert.deepEqual(await due(9, 1), ['dlv_5']);
  });
}

const ALL = { before: undefined, limit: 100, now: 0 } as const;

export async function withTriggers(store: Store, ...triggers: readonly Trigger[]): Promise<void> {
  await store.transaction(async (transaction) => {
    for (const trigger of triggers) await store.triggers.insert(trigger, transaction);
  });
}

export function sampleTrigger(fields: Partial<TriggerRecord>, rules: TriggerRules = GITHUB): Trigger {
  return {
    ...rules,
    triggerId: 'trg_1',
    tenant: 'acme',
    workspace: 'w1',
    mode: 'live',
    major: 2,
    state: 'active',
    failures: 0,
    mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body' } } },
    retryPolicy: { maxAttempts: 3, backoff: 'fixed' },
    registrar: {
      id: 'p_1',
      kind: 'user',
      credentialId: 'key_1',
      lane: 'api-key',
      binding: 'bearer',
      tenancy: { tenant: 'acme', workspaces: ['w1'], mode: 'live' },
      scopes: ['runs:create'],
      subject: { issuer: 'urn:x', subjectId: 'p_1', tenant: 'acme', lane: 'api-key', kind: 'user' },
      principals: ['p_1'],
      tokens: [],
    },
    sealedSecrets: Uint8Array.of(1, 2),
    secretFingerprint: '0123456789abcdef',
    createdAt: 1,
    updatedAt: 2,
    ...fields,
  };
}

const GITHUB: TriggerRules = { source: 'webhook', webhook: { preset: 'github', types: ['push'] } };

const NIGHTLY = { cron: '0 3 * * *', timeZone: 'Europe/Berlin', missed: 'once', jitterSeconds: 60 } as const;

function nightly(fireAt: number | undefined): TriggerRules {
  const next = fireAt === undefined ? {} : { next: { scheduledAt: 1000, fireAt } };
  return { source: 'schedule', schedule: NIGHTLY, ...next };
}

const ofQueue: TriggerRules = { source: 'queue', queue: { connection: 'shop', name: 'orders' } };

const MESSAGE = { triggerId: 'trg_1', deliveryId: 'dlv_1', dedupKey: 'k', attempts: 1, receivedAt: 1, updatedAt: 2 };

function delivered(fields: Partial<TriggerMessage>): TriggerMessage {
  return { ...MESSAGE, outcome: 'delivered', runId: 'run_1', expiresAt: 1000, ...fields };
}

function waiting(fields: Partial<TriggerMessage>): TriggerMessage {
  const document = { id: 'dlv_1', body: { text: 'é"' } };
  return { ...MESSAGE, outcome: 'retrying', expiresAt: 9000, nextAttemptAt: 7, document, ...fields };
}

function dead(fields: Partial<TriggerMessage>): TriggerMessage {
  return {
    ...MESSAGE,
    outcome: 'dead-lettered',
    expiresAt: 9000,
    problem: 'registrar',
    document: { body: 1 },
    ...fields,
  };
}
