import type { SubscriptionDetails } from '../../ports/subscriptions.ts';
import type { StoreContract } from './contract.ts';
import { CLAIM, sampleDelivery, sampleSubscription, TENANCY, withSubscriptions } from './samples.ts';

/** Tests of `SubscriptionStore`. */
export function subscriptionsContract(contract: StoreContract): void {
  registration(contract);
  changes(contract);
}

function registration({ onStore, assert }: StoreContract): void {
  onStore('subscriptions are found by tenant, mode and event type', async (store) => {
    await store.transaction(async (transaction) => {
      await store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_1' }), transaction);
      await store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_2', tenant: 'other' }), transaction);
      await store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_3', mode: 'test' }), transaction);
      await store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_4', events: ['run.failed'] }), transaction);
    });
    const found = await store.transaction((transaction) => store.subscriptions.listening([TOPIC], transaction));
    assert.deepEqual(found, [[sampleSubscription({ webhookId: 'whk_1' })]]);
    const topics = [TOPIC, { ...TOPIC, eventType: 'run.cancelled' }, { ...TOPIC, mode: 'test' as const }];
    const each = await store.transaction((transaction) => store.subscriptions.listening(topics, transaction));
    assert.deepEqual(
      each.map((listeners) => listeners.map(({ webhookId }) => webhookId)),
      [['whk_1'], [], ['whk_3']],
    );
  });

  onStore('a caller removes a subscription only if it reaches all of its workspaces', async (store) => {
    const subscription = sampleSubscription({ workspaces: ['w1', 'w2'] });
    await store.transaction((transaction) => store.subscriptions.insert(subscription, transaction));
    const removeAs = (tenancy: typeof TENANCY) =>
      store.transaction((transaction) => store.subscriptions.remove(tenancy, subscription.webhookId, transaction));
    assert.deepEqual(await removeAs({ ...TENANCY, tenant: 'other' }), { kind: 'absent' });
    assert.deepEqual(await removeAs({ ...TENANCY, mode: 'test' }), { kind: 'absent' });
    assert.deepEqual(await removeAs({ ...TENANCY, workspaces: ['w1'] }), { kind: 'other-workspace' });
    assert.deepEqual(await removeAs({ ...TENANCY, workspaces: ['w2', 'w1'] }), { kind: 'found', value: subscription });
    assert.deepEqual(await removeAs(TENANCY), { kind: 'absent' });
  });

  onStore('the removal of a subscription removes its deliveries', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction));
    assert.deepEqual(await store.deliveries.claim(CLAIM), []);
  });

  onStore('a caller finds and lists the subscriptions of which it reaches all workspaces', async (store) => {
    const samples = [
      sampleSubscription({ webhookId: 'whk_1', workspaces: ['w1'] }),
      sampleSubscription({ webhookId: 'whk_2', workspaces: ['w1', 'w2'] }),
      sampleSubscription({ webhookId: 'whk_3', tenant: 'other' }),
      sampleSubscription({ webhookId: 'whk_4', mode: 'test' }),
      sampleSubscription({ webhookId: 'whk_5', workspaces: ['w1'], status: 'dead-lettered' }),
    ];
    await store.transaction(async (transaction) => {
      for (const sample of samples) await store.subscriptions.insert(sample, transaction);
    });
    const narrow = { ...TENANCY, workspaces: ['w1'] };
    assert.deepEqual((await store.subscriptions.find(narrow, 'whk_1')).kind, 'found');
    assert.deepEqual((await store.subscriptions.find(narrow, 'whk_2')).kind, 'other-workspace');
    assert.deepEqual((await store.subscriptions.find(narrow, 'whk_3')).kind, 'absent');
    assert.deepEqual((await store.subscriptions.find(narrow, 'whk_4')).kind, 'absent');
    const ids = async (tenancy: typeof TENANCY, after: string, limit: number) =>
      (await store.subscriptions.list(tenancy, { after, limit })).map(({ webhookId }) => webhookId);
    assert.deepEqual(await ids(TENANCY, '', 10), ['whk_1', 'whk_2', 'whk_5']);
    assert.deepEqual(await ids(narrow, '', 10), ['whk_1', 'whk_5']);
    assert.deepEqual(await ids(TENANCY, 'whk_1', 1), ['whk_2']);
  });

  onStore('page lists the subscriptions of all tenants', async (store) => {
    const samples = [
      sampleSubscription({ webhookId: 'whk_1' }),
      sampleSubscription({ webhookId: 'whk_2', tenant: 'other', mode: 'test', workspaces: ['w1'] }),
      sampleSubscription({ webhookId: 'whk_3', status: 'failed' }),
    ];
    await store.transaction(async (transaction) => {
      for (const sample of samples.toReversed()) await store.subscriptions.insert(sample, transaction);
    });
    assert.deepEqual(await store.subscriptions.page({ after: '', limit: 2 }), samples.slice(0, 2));
    assert.deepEqual(await store.subscriptions.page({ after: 'whk_2', limit: 2 }), samples.slice(2));
  });
}

function changes({ onStore, assert }: StoreContract): void {
  onStore('updateState passes the current subscription to the change', async (store) => {
    await withSubscriptions(store, 'whk_1');
    for (const time of [1, 2]) {
      await store.transaction((transaction) =>
        store.subscriptions.updateState(
          'whk_1',
          ({ status, circuit, failures }) => ({ status, circuit, failures: [...failures, time] }),
          transaction,
        ),
      );
    }
    assert.deepEqual((await store.subscriptions.read('whk_1'))?.failures, [1, 2]);
  });

  onStore('updateState stores an outage, and its end', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const outage = { since: 5, failures: 4, announced: ['failing' as const] };
    const move = (next: typeof outage | undefined) =>
      store.transaction((transaction) =>
        store.subscriptions.updateState(
          'whk_1',
          ({ status, circuit, failures }) => ({ status, circuit, failures, ...(next && { outage: next }) }),
          transaction,
        ),
      );
    await move(outage);
    assert.deepEqual((await store.subscriptions.read('whk_1'))?.outage, outage);
    await move(undefined);
    assert.deepEqual((await store.subscriptions.read('whk_1'))?.outage, undefined);
  });

  onStore('updateDetails changes filter and description, and whose events are found', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const edit = (details: SubscriptionDetails) =>
      store.transaction((transaction) => store.subscriptions.updateDetails('whk_1', () => details, transaction));
    const listeners = async (eventType: string) => {
      const topics = [{ ...TOPIC, eventType }];
      const found = await store.transaction((transaction) => store.subscriptions.listening(topics, transaction));
      return found.flat().map(({ webhookId }) => webhookId);
    };
    assert.deepEqual(await listeners('run.completed'), ['whk_1']);
    await edit({ events: ['run.started'], tags: ['nightly'], description: 'of the night' });
    assert.deepEqual([await listeners('run.completed'), await listeners('run.started')], [[], ['whk_1']]);
    const after = sampleSubscription({ events: ['run.started'], tags: ['nightly'], description: 'of the night' });
    assert.deepEqual(await store.subscriptions.read('whk_1'), after);
    await edit({ events: ['run.completed'], tags: [] });
    const last = sampleSubscription({ events: ['run.completed'], tags: [] });
    assert.deepEqual(await store.subscriptions.read('whk_1'), last);
    await store.transaction((transaction) =>
      store.subscriptions.updateDetails('whk_9', () => ({ events: [], tags: [] }), transaction),
    );
  });

  onStore('numberEvent keeps the first run id and counts from 0', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const number = (webhookId: string, runId: string) =>
      store.transaction((transaction) => store.subscriptions.numberEvent(webhookId, runId, transaction));
    assert.deepEqual(await number('whk_1', 'run_a'), { runId: 'run_a', sequence: 0 });
    assert.deepEqual(await number('whk_1', 'run_b'), { runId: 'run_a', sequence: 1 });
    assert.deepEqual(await number('whk_2', 'run_c'), { runId: 'run_c', sequence: 0 });
    assert.deepEqual(await number('whk_9', 'run_d'), undefined);
  });

  onStore('concurrent calls of numberEvent return different sequences', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const number = () =>
      store.transaction((transaction) => store.subscriptions.numberEvent('whk_1', 'run_a', transaction));
    const numbers = await Promise.all([number(), number(), number()]);
    assert.deepEqual(numbers.map((each) => each?.sequence).sort(), [0, 1, 2]);
  });

  onStore('concurrent calls of updateSecrets change the secrets one after the other', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const replace = (secret: number) =>
      store.transaction((transaction) =>
        store.subscriptions.updateSecrets(
          'whk_1',
          ({ sealedSecret }) => ({
            sealedSecret: Uint8Array.of(secret),
            secretFingerprint: `0000000${secret}`,
            previousSecret: { sealed: sealedSecret, replacedAt: secret, expiresAt: 10 * secret },
          }),
          transaction,
        ),
      );
    await Promise.all([replace(7), replace(8)]);
    const before = sampleSubscription({ webhookId: 'whk_1' });
    const after = [7, 8].map((secret) => ({
      ...before,
      sealedSecret: Uint8Array.of(secret),
      secretFingerprint: `0000000${secret}`,
      previousSecret: { sealed: Uint8Array.of(15 - secret), replacedAt: secret, expiresAt: 10 * secret },
    }));
    const found = await store.subscriptions.read('whk_1');
    // The second change replaced the secret of the first.
    assert.deepEqual(
      found,
      after.find(({ secretFingerprint }) => secretFingerprint === found?.secretFingerprint),
    );
    const listening = await store.transaction((transaction) => store.subscriptions.listening([TOPIC], transaction));
    assert.deepEqual(listening, [[found]]);
  });

  onStore('updateSecrets does nothing when the subscription does not exist', async (store) => {
    let asked = false;
    await store.transaction((transaction) =>
      store.subscriptions.updateSecrets(
        'whk_1',
        (subscription) => {
          asked = true;
          return subscription;
        },
        transaction,
      ),
    );
    assert.deepEqual([asked, await store.subscriptions.read('whk_1')], [false, undefined]);
  });

  onStore('forgetExpiredSecrets deletes expired previous secrets alone, up to its limit', async (store) => {
    const previous = (expiresAt: number) => ({ sealed: Uint8Array.of(9), replacedAt: 1, expiresAt });
    const samples = [
      sampleSubscription({ webhookId: 'whk_1', previousSecret: previous(10) }),
      sampleSubscription({ webhookId: 'whk_2', previousSecret: previous(20) }),
      sampleSubscription({ webhookId: 'whk_3' }),
      sampleSubscription({ webhookId: 'whk_4', previousSecret: previous(21) }),
    ];
    await store.transaction(async (transaction) => {
      for (const sample of samples) await store.subscriptions.insert(sample, transaction);
    });
    assert.deepEqual(await store.subscriptions.forgetExpiredSecrets(20, 1), 1);
    assert.deepEqual(await store.subscriptions.forgetExpiredSecrets(20, 5), 1);
    assert.deepEqual(await store.subscriptions.forgetExpiredSecrets(20, 5), 0);
    const [, , third, fourth] = samples;
    const forgotten = ['whk_1', 'whk_2'].map((webhookId) => sampleSubscription({ webhookId }));
    assert.deepEqual(await store.subscriptions.page({ after: '', limit: 10 }), [...forgotten, third, fourth]);
  });
}

const TOPIC = { runId: 'run_1', tenant: 'acme', mode: 'live', eventType: 'run.completed' } as const;
