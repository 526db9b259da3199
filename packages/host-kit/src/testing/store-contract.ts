import type { Run } from '../runs/run.ts';
import type { Store } from '../stores/store.ts';
import type { Delivery } from '../webhooks/delivery.ts';
import type { Subscription } from '../webhooks/subscription.ts';

/** The parts of a test runner that the contract is written against; `node:test` and vitest both fit. */
export interface StoreContractOptions {
  readonly test: (title: string, body: () => Promise<void>) => void;
  readonly assert: {
    deepEqual(actual: unknown, expected: unknown): void;
    rejects(promise: Promise<unknown>): Promise<void>;
  };
  /** Opens a store with nothing in it. */
  readonly open: () => Promise<Store> | Store;
}

/** What every store must do. A store that passes can stand behind a host. */
export function storeContract({ test, assert, open }: StoreContractOptions): void {
  const onStore = (title: string, body: (store: Store) => Promise<void>) =>
    test(title, async () => {
      const store = await open();
      try {
        await body(store);
      } finally {
        await store.close();
      }
    });

  onStore('a run is read back as it was inserted', async (store) => {
    const run = sampleRun({ workspace: 'w1', tags: ['a'], metadata: { key: [1, null] } });
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    assert.deepEqual(await store.runs.read(TENANCY, run.runId), { kind: 'found', value: run });
  });

  onStore('a run of another tenant, or of the other mode, is absent', async (store) => {
    const run = sampleRun({ workspace: 'w1' });
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    assert.deepEqual(await store.runs.read({ ...TENANCY, tenant: 'other' }, run.runId), { kind: 'absent' });
    assert.deepEqual(await store.runs.read({ ...TENANCY, mode: 'test' }, run.runId), { kind: 'absent' });
  });

  onStore('a run of another workspace is told apart, and not shown', async (store) => {
    const run = sampleRun({ workspace: 'w1' });
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    const tenancy = { ...TENANCY, workspaces: ['w2'] };
    assert.deepEqual(await store.runs.read(tenancy, run.runId), { kind: 'other-workspace' });
  });

  onStore('a transaction that rejects leaves nothing behind', async (store) => {
    const run = sampleRun({});
    const failing = store.transaction(async (transaction) => {
      await store.runs.insert(run, transaction);
      throw new Error('no');
    });
    await assert.rejects(failing);
    assert.deepEqual(await store.runs.read(TENANCY, run.runId), { kind: 'absent' });
  });

  onStore('a transaction that rejects takes nothing of its neighbours with it', async (store) => {
    const runs = [sampleRun({ runId: 'run_1' }), sampleRun({ runId: 'run_2' }), sampleRun({ runId: 'run_3' })];
    await Promise.allSettled(
      runs.map((run) =>
        store.transaction(async (transaction) => {
          await store.runs.insert(run, transaction);
          if (run.runId === 'run_2') throw new Error('no');
        }),
      ),
    );
    const kinds = await Promise.all(runs.map(async ({ runId }) => (await store.runs.read(TENANCY, runId)).kind));
    assert.deepEqual(kinds, ['found', 'absent', 'found']);
  });

  onStore('a transaction that has ended takes no more writes', async (store) => {
    const ended = await store.transaction(async (transaction) => transaction);
    await assert.rejects(store.runs.insert(sampleRun({}), ended));
  });

  onStore('what is uncommitted is not read', async (store) => {
    const run = sampleRun({});
    let seen: unknown;
    await store.transaction(async (transaction) => {
      await store.runs.insert(run, transaction);
      seen = await store.runs.forAppend(run.runId, transaction);
    });
    assert.deepEqual(seen, run);
  });

  onStore('a change of a run keeps what it does not name', async (store) => {
    const run = sampleRun({});
    await store.transaction((transaction) => store.runs.insert(run, transaction));
    const started = { status: 'running', lastSequence: 0, startedAt: 5 } as const;
    const failed = { status: 'failed', lastSequence: 1, completedAt: 9, error: { code: 'x', message: 'y' } } as const;
    await store.transaction((transaction) => store.runs.update(run.runId, started, transaction));
    await store.transaction((transaction) => store.runs.update(run.runId, failed, transaction));
    const expected = { ...run, ...started, ...failed };
    assert.deepEqual(await store.runs.read(TENANCY, run.runId), { kind: 'found', value: expected });
  });

  onStore('unfinished runs come in pages, without those that ended', async (store) => {
    const ids = ['run_1', 'run_2', 'run_3', 'run_4'];
    await store.transaction(async (transaction) => {
      for (const runId of ids) await store.runs.insert(sampleRun({ runId }), transaction);
      await store.runs.update('run_2', { status: 'completed', lastSequence: 0 }, transaction);
    });
    const first = await store.runs.unfinished({ after: undefined, limit: 2 });
    const second = await store.runs.unfinished({ after: 'run_3', limit: 2 });
    assert.deepEqual(
      [first, second].map((page) => page.map(({ runId }) => runId)),
      [['run_1', 'run_3'], ['run_4']],
    );
  });

  onStore('events are listed in order, after a sequence', async (store) => {
    const run = sampleRun({});
    await store.transaction(async (transaction) => {
      await store.runs.insert(run, transaction);
      for (const sequence of [0, 1, 2]) await store.events.insert(sampleEvent(sequence), transaction);
    });
    assert.deepEqual(await store.events.list(run, { after: 0, limit: 10 }), [sampleEvent(1), sampleEvent(2)]);
    assert.deepEqual(await store.events.list(run, { after: -1, limit: 1 }), [sampleEvent(0)]);
  });

  onStore('a sequence of a log is taken once', async (store) => {
    await store.transaction((transaction) => store.events.insert(sampleEvent(0), transaction));
    await assert.rejects(store.transaction((transaction) => store.events.insert(sampleEvent(0), transaction)));
  });

  onStore('listeners are found by tenant, mode and event type', async (store) => {
    await store.transaction(async (transaction) => {
      await store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_1' }), transaction);
      await store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_2', tenant: 'other' }), transaction);
      await store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_3', mode: 'test' }), transaction);
      await store.subscriptions.insert(sampleSubscription({ webhookId: 'whk_4', events: ['run.failed'] }), transaction);
    });
    const found = await store.transaction((transaction) =>
      store.subscriptions.listening(sampleRun({}), 'run.completed', transaction),
    );
    assert.deepEqual(found, [sampleSubscription({ webhookId: 'whk_1' })]);
  });

  onStore('a subscription is removed by a caller that reaches all of it, and by no other', async (store) => {
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

  onStore('removing a subscription removes what was waiting for it', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction));
    assert.deepEqual(await store.deliveries.claim(CLAIM), []);
  });

  onStore('the health of a subscription is changed from what it is', async (store) => {
    await withSubscriptions(store, 'whk_1');
    for (const time of [1, 2]) {
      await store.transaction((transaction) =>
        store.subscriptions.updateHealth(
          'whk_1',
          ({ status, circuit, failures }) => ({ status, circuit, failures: [...failures, time] }),
          transaction,
        ),
      );
    }
    assert.deepEqual((await store.subscriptions.read('whk_1'))?.failures, [1, 2]);
  });

  onStore('a due delivery is claimed once, and a later one not yet', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const due = sampleDelivery({ deliveryId: 'dlv_1' });
    const later = sampleDelivery({ deliveryId: 'dlv_2', dueAt: 2000 });
    await store.transaction((transaction) => store.deliveries.enqueue([due, later], transaction));
    assert.deepEqual(await store.deliveries.claim(CLAIM), [due]);
    assert.deepEqual(await store.deliveries.claim(CLAIM), []);
    assert.deepEqual(await store.deliveries.nextDueAfter(1000), 2000);
    assert.deepEqual(await store.deliveries.nextDueAfter(2000), CLAIM.leaseUntil);
  });

  onStore('a long backlog of one subscription leaves room for another', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const backlog = Array.from({ length: 20 }, (_, index) => sampleDelivery({ deliveryId: `dlv_a${index}` }));
    const other = sampleDelivery({ deliveryId: 'dlv_b', webhookId: 'whk_2' });
    await store.transaction((transaction) => store.deliveries.enqueue([...backlog, other], transaction));
    const claimed = await store.deliveries.claim({ ...CLAIM, limit: 5, room: () => 4 });
    assert.deepEqual(claimed.map(({ webhookId }) => webhookId).sort(), ['whk_1', 'whk_1', 'whk_1', 'whk_1', 'whk_2']);
  });

  onStore('a claim that ran out, and one that is handed back, are up for taking again', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    const ids = async (now: number) =>
      (await store.deliveries.claim({ ...CLAIM, now, leaseUntil: now + 500 })).map(({ deliveryId }) => deliveryId);
    assert.deepEqual(await ids(1000), ['dlv_1']);
    assert.deepEqual(await store.deliveries.nextDueAfter(1000), 1500);
    assert.deepEqual(await ids(1499), []);
    assert.deepEqual(await ids(1500), ['dlv_1']);
    await store.deliveries.release(['dlv_1']);
    assert.deepEqual(await ids(1501), ['dlv_1']);
  });

  onStore('a retry is due when it says, with its attempts counted', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    await store.deliveries.claim(CLAIM);
    const retry = { kind: 'retry', dueAt: 1200, attempts: 1, lastStatus: 500 } as const;
    await store.transaction((transaction) => store.deliveries.settle('dlv_1', retry, transaction));
    assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 1199 }), []);
    assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 1200 }), [
      sampleDelivery({ attempts: 1, dueAt: 1200 }),
    ]);
  });

  onStore('a dead letter is kept to its end, and seen without its body', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    await store.deliveries.claim(CLAIM);
    const dead = { kind: 'dead', at: 1100, expiresAt: 5000, attempts: 3, lastStatus: undefined } as const;
    await store.transaction((transaction) => store.deliveries.settle('dlv_1', dead, transaction));
    const { deliveryId, webhookId, runId, eventId, eventType } = sampleDelivery({});
    const letter = {
      deliveryId,
      webhookId,
      runId,
      eventId,
      eventType,
      attempts: 3,
      deadLetteredAt: 1100,
      expiresAt: 5000,
    };
    const page = { limit: 10 };
    assert.deepEqual(await store.deliveries.deadLetters('whk_1', page), [{ ...letter, lastStatus: undefined }]);
    assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 9000 }), []);
    assert.deepEqual(await store.deliveries.sweep(4999, 10), 0);
    assert.deepEqual(await store.deliveries.sweep(5000, 10), 1);
    assert.deepEqual(await store.deliveries.deadLetters('whk_1', page), []);
  });

  onStore('dead letters come in pages, newest first, and each once', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const ids = ['dlv_1', 'dlv_2', 'dlv_3', 'dlv_4', 'dlv_5'];
    const deliveries = ids.map((deliveryId) => sampleDelivery({ deliveryId }));
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    await store.transaction(async (transaction) => {
      // Two of one instant: the id decides.
      for (const [index, deliveryId] of ids.entries()) {
        const at = 1000 + Math.floor(index / 2);
        const dead = { kind: 'dead', at, expiresAt: 9000, attempts: 3, lastStatus: 500 } as const;
        await store.deliveries.settle(deliveryId, dead, transaction);
      }
    });
    const first = await store.deliveries.deadLetters('whk_1', { limit: 2 });
    const second = await store.deliveries.deadLetters('whk_1', { before: first.at(-1), limit: 2 });
    const third = await store.deliveries.deadLetters('whk_1', { before: second.at(-1), limit: 2 });
    assert.deepEqual(
      [first, second, third].map((page) => page.map(({ deliveryId }) => deliveryId)),
      [['dlv_5', 'dlv_4'], ['dlv_3', 'dlv_2'], ['dlv_1']],
    );
  });

  onStore('a dead letter that is redriven is due again with no attempt behind it; the others stay', async (store) => {
    await withSubscriptions(store, 'whk_1', 'whk_2');
    const ids = ['dlv_1', 'dlv_2', 'dlv_3'];
    const deliveries = ids.map((deliveryId) =>
      sampleDelivery({ deliveryId, webhookId: deliveryId === 'dlv_3' ? 'whk_2' : 'whk_1' }),
    );
    await store.transaction((transaction) => store.deliveries.enqueue(deliveries, transaction));
    await store.transaction(async (transaction) => {
      const dead = { kind: 'dead', at: 1, expiresAt: 9000, attempts: 3, lastStatus: 500 } as const;
      for (const deliveryId of ids) await store.deliveries.settle(deliveryId, dead, transaction);
    });
    const redrive = (webhookId: string, deliveryIds: string[] | undefined, now = 2000) =>
      store.transaction((transaction) =>
        store.deliveries.redrive({ webhookId, deliveryIds, now, limit: 10 }, transaction),
      );
    // It died after `now`: whoever redrives in steps would meet it again and again.
    assert.deepEqual(await redrive('whk_1', undefined, 0), 0);
    assert.deepEqual(await redrive('whk_1', ['dlv_2'], 0), 0);
    assert.deepEqual(await redrive('whk_1', ['dlv_2', 'dlv_3', 'dlv_9']), 1);
    assert.deepEqual(await store.deliveries.claim({ ...CLAIM, now: 2000 }), [
      sampleDelivery({ deliveryId: 'dlv_2', attempts: 0, dueAt: 2000 }),
    ]);
    assert.deepEqual(await redrive('whk_1', undefined), 1);
    assert.deepEqual(await store.deliveries.deadLetters('whk_1', { limit: 10 }), []);
    assert.deepEqual((await store.deliveries.deadLetters('whk_2', { limit: 10 })).length, 1);
  });

  onStore('what waits for a paused subscription is not claimed', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    const move = (status: Subscription['status']) =>
      store.transaction((transaction) =>
        store.subscriptions.updateHealth(
          'whk_1',
          ({ circuit, failures }) => ({ status, circuit, failures }),
          transaction,
        ),
      );
    await move('paused');
    assert.deepEqual(await store.deliveries.claim(CLAIM), []);
    await move('active');
    assert.deepEqual((await store.deliveries.claim(CLAIM)).length, 1);
  });

  onStore('a subscription is found and listed by callers that reach all of it', async (store) => {
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

  onStore('the last attempts are kept, newest first, and no more than the log holds', async (store) => {
    await withSubscriptions(store, 'whk_1');
    const attempt = (at: number) => ({
      deliveryId: 'dlv_1',
      webhookId: 'whk_1',
      runId: 'run_1',
      sequence: 1,
      eventType: 'run.completed',
      attempt: 1,
      at,
      durationMs: 1.5,
      outcome: 'failed' as const,
      status: at % 2 === 0 ? 500 : undefined,
      reason: at % 2 === 0 ? undefined : 'timeout',
    });
    for (let at = 0; at < 260; at++) {
      await store.transaction((transaction) => store.attempts.record(attempt(at), transaction));
    }
    assert.deepEqual(await store.attempts.list('whk_1', 2), [attempt(259), attempt(258)]);
    assert.deepEqual((await store.attempts.list('whk_1', 1000)).length, 100);
    await store.transaction((transaction) => store.attempts.record({ ...attempt(1), webhookId: 'whk_9' }, transaction));
  });

  onStore('the audit log takes facts in their order, and only with what they record', async (store) => {
    const fact = (n: number) => ({
      action: 'run.create',
      actor: `p_${n}`,
      target: null,
      occurredAt: '2026-06-01T00:00:00.000Z',
      details: { n },
    });
    await store.transaction((transaction) => store.audit.append([fact(1), fact(2)], transaction));
    await assert.rejects(
      store.transaction(async (transaction) => {
        await store.audit.append([fact(3)], transaction);
        throw new Error('no');
      }),
    );
    await store.transaction((transaction) => store.audit.append([fact(4)], transaction));
    const found: unknown[] = [];
    for await (const { atSequence, actor } of store.audit.entries(1, 10)) found.push([atSequence, actor]);
    assert.deepEqual(found, [
      [1, 'p_1'],
      [2, 'p_2'],
      [3, 'p_4'],
    ]);
    assert.deepEqual((await store.audit.unsealed(2)).length, 2);
    const checkpoint = { checkpoint: 'cp_1', atSequence: 2, merkleRoot: 'a', signature: 'b' };
    await store.transaction((transaction) => store.audit.seal(checkpoint, 0, transaction));
    await store.transaction((transaction) =>
      // Made by another host before it knew of the first.
      store.audit.seal({ ...checkpoint, checkpoint: 'cp_2', atSequence: 3 }, 0, transaction),
    );
    assert.deepEqual(await store.audit.checkpoints(1, 3), [checkpoint]);
    assert.deepEqual(
      (await store.audit.unsealed(10)).map(({ atSequence }) => atSequence),
      [3],
    );
    assert.deepEqual((await store.audit.head())?.atSequence, 3);
  });

  onStore('a delivered delivery is gone', async (store) => {
    await withSubscriptions(store, 'whk_1');
    await store.transaction((transaction) => store.deliveries.enqueue([sampleDelivery({})], transaction));
    await store.deliveries.claim(CLAIM);
    await store.transaction((transaction) => store.deliveries.settle('dlv_1', { kind: 'delivered' }, transaction));
    assert.deepEqual(await store.deliveries.nextDueAfter(0), undefined);
  });
}

const TENANCY: { tenant: string; workspaces: 'all' | string[]; mode: 'live' | 'test' } = {
  tenant: 'acme',
  workspaces: 'all',
  mode: 'live',
};

const CLAIM = { now: 1000, leaseUntil: 9000, limit: 100, room: () => 100 };

function sampleRun(fields: Partial<Run>): Run {
  return {
    runId: 'run_1',
    tenant: 'acme',
    mode: 'live',
    workflowId: 'echo',
    status: 'pending',
    owner: { tenant: 'acme', principal: 'p_1' },
    inputs: { text: 'é\u0000"' },
    tags: [],
    engineVersion: 1,
    eventLogSchemaVersion: 3,
    lastSequence: -1,
    createdAt: 1,
    ...fields,
  };
}

function sampleEvent(sequence: number) {
  return {
    eventId: `evt_${sequence}`,
    runId: 'run_1',
    type: 'node.completed',
    sequence,
    timestamp: 7,
    payload: { nodeId: 'n', outputs: [null, 1, 'x'] },
    schemaVersion: 1,
    engineVersion: 1,
    nodeId: 'n',
  };
}

function sampleSubscription(fields: Partial<Subscription>): Subscription {
  return {
    webhookId: 'whk_1',
    tenant: 'acme',
    workspaces: 'all',
    mode: 'live',
    major: 1,
    url: 'https://example.com/',
    events: ['run.completed', 'run.failed'],
    tags: [],
    durable: true,
    status: 'active',
    circuit: { state: 'closed', consecutiveFailures: 0 },
    failures: [],
    sealedSecret: Uint8Array.of(1, 2, 3),
    secretFingerprint: '00000000',
    createdAt: 1,
    ...fields,
  };
}

function sampleDelivery(fields: Partial<Delivery>): Delivery {
  return {
    deliveryId: 'dlv_1',
    webhookId: 'whk_1',
    runId: 'run_1',
    eventId: 'evt_1',
    sequence: 1,
    eventType: 'run.completed',
    body: Uint8Array.of(123, 125),
    attempts: 0,
    dueAt: 1000,
    ...fields,
  };
}

async function withSubscriptions(store: Store, ...webhookIds: readonly string[]): Promise<void> {
  await store.transaction(async (transaction) => {
    for (const webhookId of webhookIds)
      await store.subscriptions.insert(sampleSubscription({ webhookId }), transaction);
  });
}
