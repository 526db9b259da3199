import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/ports/clock.ts';
import { systemRandom } from '../../src/ports/random.ts';
import type { Subscription } from '../../src/ports/subscriptions.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { CLAIM } from '../../src/testing/store-contract/samples.ts';
import { announcing } from '../../src/webhooks/announce.ts';
import type { OperationalEventName } from '../../src/webhooks/operational-event.ts';
import { operationalRenderer } from '../../src/wire/operational-event.ts';
import { sampleSubscription } from './samples.ts';

const subject = sampleSubscription({
  webhookId: 'whk_subject',
  workspaces: ['w1'],
  url: 'https://a.example/x?key=secret',
});
const listener = (fields: Partial<Subscription>) =>
  sampleSubscription({ events: ['acme.subscription.failing', 'acme.subscription.recovered'], ...fields });

/** Announces one change of the subject, and returns the deliveries by subscription. */
async function announced(listeners: readonly Subscription[], ...names: readonly OperationalEventName[]) {
  const store = memoryStore();
  const render = operationalRenderer(7);
  const announce = announcing({
    store,
    clock: systemClock,
    storeClock: systemClock,
    random: systemRandom,
    org: 'acme',
    render,
  });
  await store.transaction(async (transaction) => {
    for (const each of listeners) await store.subscriptions.insert(each, transaction);
    if (!listeners.some(({ webhookId }) => webhookId === subject.webhookId)) {
      await store.subscriptions.insert(subject, transaction);
    }
    for (const name of names) await announce([{ subject, name, details: { failingSince: 'then' } }], transaction);
  });
  const deliveries = await store.deliveries.claim({ ...CLAIM, now: Date.now(), leaseUntil: Date.now() + 1000 });
  return deliveries.map(({ body, ...delivery }) => ({ ...delivery, body: JSON.parse(new TextDecoder().decode(body)) }));
}

describe(covers('webhooks.operational-events.delivered'), () => {
  test.each([
    ['of the whole tenant', listener({}), true],
    ['of the same workspace', listener({ workspaces: ['w1'] }), true],
    ['of another workspace', listener({ workspaces: ['w2'] }), false],
    ['of another tenant', listener({ tenant: 'other' }), false],
    ['for test runs', listener({ mode: 'test' }), false],
    ['that names other events', sampleSubscription({}), false],
    ['with tags', listener({ tags: ['nightly'] }), true],
    ['that has failed, best effort', listener({ durable: false, status: 'failed' }), false],
  ])('a subscription %s', async (_, each, isTold) => {
    const deliveries = await announced([each], 'subscription.failing');
    expect(deliveries.map(({ webhookId }) => webhookId)).toEqual(isTold ? ['whk_1'] : []);
  });

  test('a subscription that covers only some workspaces of another is not told about it', async () => {
    const wide = { ...subject, workspaces: ['w1', 'w2'] };
    const store = memoryStore();
    const render = operationalRenderer(7);
    const announce = announcing({
      store,
      clock: systemClock,
      storeClock: systemClock,
      random: systemRandom,
      org: 'acme',
      render,
    });
    await store.transaction(async (transaction) => {
      for (const each of [wide, listener({ workspaces: ['w1'] })]) await store.subscriptions.insert(each, transaction);
      await announce([{ subject: wide, name: 'subscription.failing', details: {} }], transaction);
    });
    expect(await store.deliveries.nextDueAfter(0)).toBeUndefined();
  });

  test('a subscription hears of its own recovery, and of no failure of its own', async () => {
    const own = listener({ ...subject, events: ['acme.subscription.failing', 'acme.subscription.recovered'] });
    const deliveries = await announced([own], 'subscription.failing', 'subscription.recovered');
    expect(deliveries.map(({ eventType }) => eventType)).toEqual(['acme.subscription.recovered']);
  });

  test.each([
    [1, { webhookId: 'whk_subject', workspaceId: 'w1', runId: /^run_/ }],
    [2, { webhookId: 'acme/whk_subject', workspaceId: undefined, runId: /^acme\/run_/ }],
  ] as const)(
    'in major %d the body has the ids of that major, a run id and rising sequences',
    async (major, expected) => {
      const deliveries = await announced([listener({ major })], 'subscription.failing', 'subscription.recovered');
      const [first, second] = deliveries.map(({ body }) => body);
      expect(first).toEqual({
        runId: expect.stringMatching(expected.runId),
        ...(expected.workspaceId !== undefined && { workspaceId: expected.workspaceId }),
        event: {
          eventId: expect.stringMatching(/^evt_/),
          runId: first.runId,
          type: 'acme.subscription.failing',
          sequence: 0,
          timestamp: expect.stringMatching(/Z$/),
          payload: { webhookId: expected.webhookId, url: 'https://a.example/x', failingSince: 'then' },
          schemaVersion: 1,
          engineVersion: 7,
        },
      });
      expect(second.event).toMatchObject({ runId: first.runId, sequence: 1, type: 'acme.subscription.recovered' });
    },
  );
});
