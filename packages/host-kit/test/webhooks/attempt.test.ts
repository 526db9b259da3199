import { covers } from '@svc/tools/covers';
import { Webhook } from '@svc/webhook-verify';
import { describe, expect, test } from 'vitest';
import type { ClaimedDelivery } from '../../src/ports/deliveries.ts';
import type { LogRecord } from '../../src/ports/log.ts';
import { systemRandom } from '../../src/ports/random.ts';
import type { Store } from '../../src/ports/store.ts';
import { READING_GOOD_FOR_MS, type Subscription } from '../../src/ports/subscriptions.ts';
import type { TransportRequest, TransportVerdict } from '../../src/ports/transport.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { ANY_ROOM, TENANCY } from '../../src/testing/store-contract/samples.ts';
import { attempt } from '../../src/webhooks/attempt.ts';
import { heldSubscriptions } from '../../src/webhooks/held.ts';
import { attemptSigner } from '../../src/webhooks/signing.ts';
import { unregister } from '../../src/webhooks/unregister.ts';
import { sampleDelivery, sampleSubscription } from './samples.ts';

const ANSWERED = { kind: 'answered', retryAfter: undefined, durationMs: 1 } as const;
const LEASE_MS = 1000;

/** Makes a host that can claim one delivery. Its clock stands still until the test moves it. */
async function claimant(durable: boolean, sealedWith = new Uint8Array(32), subscribed: Partial<Subscription> = {}) {
  const inner = memoryStore();
  let onceRead: () => Promise<unknown> = async () => {};
  const store: Store = {
    ...inner,
    subscriptions: {
      ...inner.subscriptions,
      async read(webhookId) {
        const found = await inner.subscriptions.read(webhookId);
        await onceRead();
        return found;
      },
    },
  };
  let secrets = secretBox(new Uint8Array(32), systemRandom);
  const held = heldSubscriptions();
  const sealedSecret = secretBox(sealedWith, systemRandom).seal('a secret that is long enough', 'whk_1');
  await store.transaction(async (transaction) => {
    await store.subscriptions.insert(sampleSubscription({ durable, sealedSecret, ...subscribed }), transaction);
    await store.deliveries.enqueue([sampleDelivery({})], transaction);
  });
  const time = { now: 5000 };
  const posts: number[] = [];
  const sent: TransportRequest[] = [];
  const entries: LogRecord[] = [];
  let whilePosting = async (): Promise<TransportVerdict> => ({ ...ANSWERED, status: 204 });
  const perform = attempt({
    store,
    async transport(request) {
      sent.push(request);
      posts.push(time.now);
      return whilePosting();
    },
    sign: (...attempted) =>
      attemptSigner({ secrets, webhookIdOf: ({ webhookId }) => webhookId, families: ['SVC'] })(...attempted),
    held,
    clock: { now: () => time.now, monotonic: () => time.now, after: () => () => {} },
    storeClock: { now: () => time.now },
    random: systemRandom,
    log: (entry) => entries.push(entry),
    stateChanged: () => {},
    rules: {
      retryPolicy: { maxAttempts: 3, backoff: 'fixed', delayMs: 100, maxDelayMs: 100 },
      circuit: { failureThreshold: 4, cooldownMs: 1000, failureLimit: 100, failureWindowMs: 1000 },
      deadLetterRetentionMs: 1000,
      failAfterMs: 0,
    },
    announce: async () => {},
    attemptTimeoutMs: 100,
    userAgent: 'test',
  });
  let placesGivenBack = 0;
  const place = { lane: 'regular', giveBack: () => void placesGivenBack++ } as const;
  const claim = async (): Promise<ClaimedDelivery> => {
    const { now } = time;
    const [claimed] = await store.deliveries.claim({ now, leaseUntil: now + LEASE_MS, limit: 1, room: ANY_ROOM });
    if (claimed === undefined) throw new Error('There was nothing to claim.');
    return claimed;
  };
  return {
    store,
    time,
    posts,
    sent,
    entries,
    held,
    claim,
    /** Gives the host another key. */
    useKey(key: Uint8Array) {
      secrets = secretBox(key, systemRandom);
    },
    attempt: (delivery: ClaimedDelivery) => perform(delivery, new AbortController().signal, place),
    placesGivenBack: () => placesGivenBack,
    /** Lets something happen between the store's answer to a read of the subscription and its arrival at the host. */
    onceRead(happens: () => Promise<unknown>) {
      onceRead = async () => {
        onceRead = async () => {};
        await happens();
      };
    },
    /** Sets the answer to the next attempts, and what happens before it. */
    answer(status: number, meanwhile: () => Promise<unknown> = async () => {}) {
      whilePosting = async () => {
        await meanwhile();
        return { ...ANSWERED, status };
      };
    },
  };
}

describe('a host that stood still until its claim expired', () => {
  test(`${covers('webhooks.best-effort.single-attempt')} It does not attempt a delivery that another host has taken over.`, async () => {
    const { time, posts, claim, attempt } = await claimant(false);
    const late = await claim();
    time.now += LEASE_MS;
    await attempt(await claim());
    await attempt(late);
    expect(posts.length).toBe(1);
  });

  test.each([204, 500, 410])(
    'does not settle a delivery that another host has taken over, although its receiver answered %i',
    async (status) => {
      const { store, time, claim, attempt, answer } = await claimant(true);
      const late = await claim();
      let taken: ClaimedDelivery | undefined;
      answer(status, async () => {
        time.now += LEASE_MS;
        taken = await claim();
      });
      await attempt(late);
      expect(await store.deliveries.nextDueAfter(0)).toBe(taken?.leaseUntil);
      expect(await store.deliveries.deadLetters('whk_1', { limit: 1, now: 0 })).toEqual([]);
      answer(204);
      if (taken !== undefined) await attempt(taken);
      expect(await store.deliveries.nextDueAfter(0)).toBeUndefined();
    },
  );
});

test('a transport that throws counts as a failed attempt, and is retried by the policy', async () => {
  const { store, time, posts, claim, attempt, answer, entries } = await claimant(true);
  answer(204, async () => {
    throw new TypeError('a transport that breaks');
  });
  for (let attempts = 0; attempts < 3; attempts++) {
    await attempt(await claim());
    time.now += 200;
  }
  expect(posts.length).toBe(3);
  expect(await store.deliveries.deadLetters('whk_1', { limit: 10, now: time.now })).toMatchObject([{ attempts: 3 }]);
  const [last] = await store.attempts.list('whk_1', 1);
  expect(last).toMatchObject({ outcome: 'failed', reason: 'transport' });
  const failed = entries.filter(({ event }) => event === 'delivery.transport-failed');
  expect(failed).toHaveLength(3);
  for (const entry of failed) expect(entry).toMatchObject({ webhookId: 'whk_1', destination: 'https://example.com' });
});

test('a failed attempt is logged with the origin of its URL alone, and a delivered one without', async () => {
  const url = 'https://hooks.example:8443/a-secret-path?token=a-secret';
  const { entries, claim, attempt, answer, time } = await claimant(true, undefined, { url });
  answer(503);
  await attempt(await claim());
  time.now += 200;
  answer(204);
  await attempt(await claim());
  expect(entries).toMatchObject([
    { event: 'delivery.attempted', settlement: 'retry', status: 503, destination: 'https://hooks.example:8443' },
    { event: 'delivery.attempted', settlement: 'delivered' },
  ]);
  expect(JSON.stringify(entries)).not.toContain('secret');
  expect(entries[1]).not.toHaveProperty('destination');
});

describe(covers('webhooks.delivery.none-after-unregister'), () => {
  const cases = [true, false].flatMap((durable) => [
    { durable, readAgo: READING_GOOD_FOR_MS + 1, isRemoved: true, posted: 0 },
    { durable, readAgo: READING_GOOD_FOR_MS + 1, isRemoved: false, posted: 1 },
  ]);

  test.each(cases)(
    'reads a subscription again that it read too long ago: %o',
    async ({ durable, readAgo, isRemoved, posted }) => {
      const { store, time, posts, claim, attempt, onceRead } = await claimant(durable);
      const delivery = await claim();
      onceRead(async () => {
        time.now += readAgo;
        if (!isRemoved) return;
        await store.transaction((transaction) => store.subscriptions.remove(TENANCY, 'whk_1', transaction));
      });
      await attempt(delivery);
      expect(posts.length).toBe(posted);
    },
  );

  test('where hosts share a store, answers a removal when no host acts on an earlier reading any more', async () => {
    const { store, claim, attempt, posts, time } = await claimant(true);
    let plan = (_timer: { readonly ms: number; readonly run: () => void }): void => {};
    const planned = new Promise<{ readonly ms: number; readonly run: () => void }>((resolve) => {
      plan = resolve;
    });
    const clock = {
      now: () => time.now,
      monotonic: () => time.now,
      after(ms: number, run: () => void) {
        plan({ ms, run });
        return () => {};
      },
    };
    const principal = { tenancy: TENANCY } as never;
    let answered = false;
    const options = {
      store: { ...store, shared: true },
      clock,
      dispatcher: { forget() {} },
      recordAudit: async () => {},
    };
    const removal = unregister(options, principal, 'whk_1', undefined).then(() => {
      answered = true;
    });
    const timer = await planned;
    expect(answered).toBe(false);
    expect(timer.ms).toBeGreaterThan(READING_GOOD_FOR_MS);
    timer.run();
    await removal;
    await expect(claim()).rejects.toThrow('nothing to claim');
    await attempt({ ...sampleDelivery({}), tenant: 'acme', leaseUntil: 0 });
    expect(posts).toEqual([]);
  });
});

test(`${covers('webhooks.signature.standard-rotation')} A secret that is replaced during the reading does not sign the attempt.`, async () => {
  const { store, time, sent, claim, attempt, onceRead } = await claimant(true);
  const delivery = await claim();
  onceRead(async () => {
    time.now += READING_GOOD_FOR_MS + 1;
    const sealedSecret = secretBox(new Uint8Array(32), systemRandom).seal('the secret that took over', 'whk_1');
    const change = ({ secretFingerprint, previousSecret }: Subscription) => ({
      sealedSecret,
      secretFingerprint,
      previousSecret,
    });
    await store.transaction((transaction) => store.subscriptions.updateSecrets('whk_1', change, transaction));
  });
  await attempt(delivery);
  const [request] = sent;
  if (request === undefined) throw new Error('Nothing was sent.');
  const webhook = new Webhook('the secret that took over', { now: () => time.now });
  expect(() => webhook.verifySignature(request.body, request.headers)).not.toThrow();
});

describe('a delivery whose secret the host cannot open', () => {
  const FOREIGN_KEY = new Uint8Array(32).fill(1);

  test.each([true, false])(
    'waits without a counted attempt, and is sent once the key is there (durable: %s)',
    async (durable) => {
      const { store, time, posts, entries, held, claim, attempt, useKey } = await claimant(durable, FOREIGN_KEY);
      // More often than the policy retries.
      for (let turn = 0; turn < 9; turn++) {
        expect(await attempt(await claim())).toMatchObject({ verdict: undefined, settlement: undefined, isHeld: true });
        expect(held.isHeld('whk_1', time.now)).toBe(true);
        time.now += 1000;
      }
      const untouched = { status: 'active', failures: [], circuit: { consecutiveFailures: 0 } };
      expect(await store.attempts.list('whk_1', 1)).toEqual([]);
      expect(await store.subscriptions.read('whk_1')).toMatchObject(untouched);
      expect(posts).toEqual([]);
      const destination = 'https://example.com';
      expect(entries).toContainEqual(
        expect.objectContaining({ level: 'error', event: 'delivery.not-signed', destination }),
      );
      useKey(FOREIGN_KEY);
      const delivery = await claim();
      expect(delivery.attempts).toBe(0);
      expect(await attempt(delivery)).toMatchObject({ settlement: { kind: 'delivered' } });
      expect(posts).toHaveLength(1);
      expect(await store.deliveries.nextDueAfter(0)).toBeUndefined();
    },
  );
});

test.each([
  { durable: false, once: 'kept' },
  { durable: true, once: undefined },
])(
  `${covers('webhooks.best-effort.single-attempt')} Sends again when a kept connection breaks, except best effort: %o`,
  async ({ durable, once }) => {
    const { claim, attempt, sent } = await claimant(durable);
    await attempt(await claim());
    expect(sent.map((request) => request.once)).toEqual([once]);
  },
);

describe('an attempt that sends nothing gives its place back at once', () => {
  const states = {
    'of a paused subscription': [true, { status: 'paused' }],
    'of a failed subscription': [true, { status: 'failed' }],
    'at an open circuit': [false, { circuit: { state: 'open', until: 6000 } }],
  } as const;

  test.each(Object.entries(states))('%s', async (_title, [durable, state]) => {
    const { store, posts, claim, attempt, placesGivenBack } = await claimant(durable);
    const delivery = await claim();
    await store.transaction((transaction) =>
      store.subscriptions.updateState(
        'whk_1',
        ({ status, circuit, failures }) => ({ status, circuit, failures, ...state }),
        transaction,
      ),
    );
    await attempt(delivery);
    expect([posts, placesGivenBack()]).toEqual([[], 1]);
  });
});
