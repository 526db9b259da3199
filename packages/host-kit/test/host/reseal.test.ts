import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { reseal } from '../../src/host/reseal.ts';
import { sealedForSecret } from '../../src/ports/byok.ts';
import { sealedForAnswer } from '../../src/ports/captured-answers.ts';
import type { LogRecord } from '../../src/ports/log.ts';
import { sealedForRun } from '../../src/ports/opened-secrets.ts';
import type { Store } from '../../src/ports/store.ts';
import { type SecretBox, secretBox } from '../../src/sealing/secret-box.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { sampleSubscription } from '../webhooks/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-reseal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [older, newer] = [randomBytes(32), randomBytes(32)];
const before = secretBox(older, randomBytes);
const during = secretBox(newer, randomBytes, [older]);
const after = secretBox(newer, randomBytes);
const PLACE = { tenant: 'acme', workspace: 'w1', mode: 'live' } as const;

/** Enough secrets for a walk of several batches. */
const COUNT = 250;
const idOf = (index: number) => `whk_${String(index).padStart(4, '0')}`;

async function filled(store: Store, box: SecretBox): Promise<Store> {
  await store.transaction(async (transaction) => {
    for (let index = 0; index < COUNT; index++) {
      const webhookId = idOf(index);
      const sealedSecret = box.seal(`secret ${index}`, webhookId);
      const previousSecret =
        index % 2 === 0 ? undefined : { sealed: box.seal(`previous ${index}`, webhookId), replacedAt: 1, expiresAt: 2 };
      await store.subscriptions.insert(sampleSubscription({ webhookId, sealedSecret, previousSecret }), transaction);
      const name = `name-${index}`;
      const sealed = box.seal(`brought ${index}`, sealedForSecret(PLACE, name));
      const place = { webhookId, deliveryId: 'dlv_1', attempt: 1, at: 5 };
      const answer = { ...place, expiresAt: 9, sealed: box.seal(`answer ${index}`, sealedForAnswer(place)) };
      await store.capturedAnswers.add([answer], transaction);
      await store.byok.put({ ...PLACE, name, sealed, createdAt: 1, updatedAt: 1 }, transaction);
      const opened = { runId: `run_${index}`, name };
      const sealedValue = box.seal(`opened ${index}`, sealedForRun(opened));
      await store.openedSecrets.add({ ...opened, number: 0, sealed: sealedValue }, transaction);
    }
  });
  return store;
}

async function walk(store: Store, secrets: SecretBox, signal = new AbortController().signal) {
  const records: LogRecord[] = [];
  await reseal({ store, secrets, log: (record) => records.push(record) })(signal);
  return records;
}

describe.each([
  ['memory', () => memoryStore()],
  ['sqlite', () => sqliteStore(join(folder, 'svc.db'))],
] as const)('a walk through the %s store', (_name, open) => {
  test('seals every secret with the current key, and logs the count', async () => {
    const store = await filled(open(), before);
    const first = { level: 'info', event: 'secrets.resealed', resealed: 4 * COUNT + COUNT / 2, unopenable: 0 };
    expect(await walk(store, during)).toMatchObject([first]);
    expect(await walk(store, during)).toMatchObject([{ ...first, resealed: 0 }]);
    for (let index = 0; index < COUNT; index++) {
      const webhookId = idOf(index);
      const subscription = await store.subscriptions.read(webhookId);
      if (subscription === undefined) throw new Error('A subscription is gone.');
      const { sealedSecret, previousSecret, ...others } = subscription;
      expect(after.open(sealedSecret, webhookId)).toBe(`secret ${index}`);
      if (index % 2 === 0) expect(previousSecret).toBe(undefined);
      else expect(after.open(previousSecret?.sealed ?? new Uint8Array(), webhookId)).toBe(`previous ${index}`);
      expect(sampleSubscription({ webhookId })).toMatchObject(others);
      const [answer] = await store.capturedAnswers.list(webhookId, 'dlv_1');
      if (answer === undefined) throw new Error('An answer is gone.');
      expect(after.open(answer.sealed, sealedForAnswer(answer))).toBe(`answer ${index}`);
      const [opened] = await store.openedSecrets.list(`run_${index}`);
      if (opened === undefined) throw new Error('An opened secret is gone.');
      expect(after.open(opened.sealed, sealedForRun(opened))).toBe(`opened ${index}`);
      const brought = await store.byok.find(PLACE, `name-${index}`);
      expect(after.open(brought?.sealed ?? new Uint8Array(), sealedForSecret(PLACE, `name-${index}`))).toBe(
        `brought ${index}`,
      );
    }
    await store.close();
  });
});

test('leaves a secret that no key opens as it is, and logs the count', async () => {
  const store = await filled(memoryStore(), secretBox(randomBytes(32), randomBytes));
  const sealed = (await store.subscriptions.read(idOf(1)))?.sealedSecret;
  expect(await walk(store, during)).toMatchObject([{ level: 'warn', resealed: 0, unopenable: 4 * COUNT + COUNT / 2 }]);
  expect((await store.subscriptions.read(idOf(1)))?.sealedSecret).toBe(sealed);
});

test('yields to the event loop between batches', async () => {
  const store = await filled(sqliteStore(join(folder, 'turns.db')), during);
  let turns = 0;
  let isWalking = true;
  const count = () => {
    turns++;
    if (isWalking) setImmediate(count);
  };
  setImmediate(count);
  await walk(store, during);
  isWalking = false;
  // Every secret is current, so no transaction made the walk wait.
  expect(turns).toBeGreaterThanOrEqual(Math.floor(COUNT / 100));
  await store.close();
});

test('ends after the current batch when the host stops, without a log record', async () => {
  const store = await filled(memoryStore(), before);
  expect(await walk(store, during, AbortSignal.abort())).toEqual([]);
  const subscriptions = await store.subscriptions.page({ after: '', limit: COUNT });
  const done = subscriptions.filter(({ sealedSecret }) => during.isCurrent(sealedSecret)).length;
  expect([done > 0, done < COUNT]).toEqual([true, true]);
});

test('keeps a secret that is rotated during the walk', async () => {
  const store = await filled(memoryStore(), before);
  const rotating: Store = {
    ...store,
    subscriptions: {
      ...store.subscriptions,
      async page(request) {
        const page = await store.subscriptions.page(request);
        await store.transaction((transaction) =>
          store.subscriptions.updateSecrets(
            idOf(0),
            (current) => ({ ...current, sealedSecret: during.seal('rotated', idOf(0)) }),
            transaction,
          ),
        );
        return page;
      },
    },
  };
  await walk(rotating, during);
  expect(after.open((await store.subscriptions.read(idOf(0)))?.sealedSecret ?? new Uint8Array(), idOf(0))).toBe(
    'rotated',
  );
});
