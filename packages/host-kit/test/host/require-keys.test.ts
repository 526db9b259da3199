import { createCipheriv, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { announceKey, requireKeys } from '../../src/host/require-keys.ts';
import { reseal } from '../../src/host/reseal.ts';
import { sealedForSecret } from '../../src/ports/byok.ts';
import { sealedForReply } from '../../src/ports/idempotency.ts';
import { sealedForRun } from '../../src/ports/opened-secrets.ts';
import type { Store } from '../../src/ports/store.ts';
import { keyIdOf, secretBox } from '../../src/sealing/secret-box.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { sampleSubscription } from '../webhooks/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-keys-'));
const postgres = await startPostgres();
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const [older, newer] = [randomBytes(32), randomBytes(32)];
const ofOlder = secretBox(older, randomBytes);
const ofNewer = secretBox(newer, randomBytes);
const rotating = secretBox(newer, randomBytes, [older]);
const log = () => {};
const PLACE = { tenant: 'acme', workspace: 'w1', mode: 'live' } as const;
const KEY = { tenant: 'acme', mode: 'live', operation: 'createRun', keyHash: 'a' } as const;

/** Writes one record of a kind. */
const WRITES: Readonly<Record<string, (store: Store, seal: (boundTo: string) => Uint8Array) => Promise<unknown>>> = {
  'a webhook secret': (store, seal) =>
    store.transaction((transaction) =>
      store.subscriptions.insert(sampleSubscription({ sealedSecret: seal('whk_1') }), transaction),
    ),
  'a previous webhook secret': (store, seal) =>
    store.transaction((transaction) => {
      const previousSecret = { sealed: seal('whk_1'), replacedAt: 1, expiresAt: 2 };
      const sealedSecret = ofNewer.seal('a secret', 'whk_1');
      return store.subscriptions.insert(sampleSubscription({ sealedSecret, previousSecret }), transaction);
    }),
  "a tenant's own secret": (store, seal) =>
    store.transaction((transaction) => {
      const sealed = seal(sealedForSecret(PLACE, 'name'));
      return store.byok.put({ ...PLACE, name: 'name', sealed, createdAt: 1, updatedAt: 1 }, transaction);
    }),
  'a secret that a run has opened': (store, seal) =>
    store.transaction((transaction) => {
      const opened = { runId: 'run_1', name: 'name' };
      return store.openedSecrets.add({ ...opened, number: 0, sealed: seal(sealedForRun(opened)) }, transaction);
    }),
  'a stored reply': async (store, seal) => {
    const claim = { ...KEY, owner: 'o' };
    await store.idempotency.begin(claim, { digest: 'd', now: 1, leaseUntil: 9e15, expiresAt: 9e15 });
    const reply = { sealed: seal(sealedForReply(KEY)), expiresAt: 9e15 };
    await store.transaction((transaction) => store.idempotency.complete(claim, reply, transaction));
  },
};

let files = 0;
describe.each([
  ['memory', async () => memoryStore()],
  ['sqlite', async () => sqliteStore(join(folder, `${files++}.db`))],
  ['postgres', () => postgresStore({ url: postgres.url, schema: `keys_${files++}` })],
] as const)('the %s store', (_name, open) => {
  test.each(Object.entries(WRITES))('refuses a host without the key of %s, and names the key', async (_kind, write) => {
    const store = await open();
    await requireKeys({ store, secrets: ofOlder, log });
    await write(store, (boundTo) => ofOlder.seal('a secret', boundTo));
    const refused = requireKeys({ store, secrets: ofNewer, log });
    await expect(refused).rejects.toThrow(TypeError);
    await expect(refused).rejects.toThrow(`the database holds records sealed with the key ${ofOlder.keyIds[0]};`);
    // The refusal changes nothing: the hosts that have the key start as before.
    await requireKeys({ store, secrets: ofOlder, log });
    await requireKeys({ store, secrets: rotating, log });
    await store.close();
  });

  test('lists the keys of a database whose earlier host listed none', async () => {
    const store = await open();
    await WRITES['a webhook secret']?.(store, (boundTo) => ofOlder.seal('a secret', boundTo));
    await expect(requireKeys({ store, secrets: ofNewer, log })).rejects.toThrow(ofOlder.keyIds[0]);
    await requireKeys({ store, secrets: rotating, log });
    expect([...(await store.sealingKeys.list())].sort()).toEqual([...rotating.keyIds].sort());
    await store.close();
  });

  test('seals records anew that name no key, and refuses those that no key opens', async () => {
    const store = await open();
    await WRITES['a webhook secret']?.(store, (boundTo) => sealedWithoutKeyId(older, boundTo));
    await expect(requireKeys({ store, secrets: ofNewer, log })).rejects.toThrow(
      'the database holds 1 sealed records that name no key',
    );
    await requireKeys({ store, secrets: ofOlder, log });
    const sealed = (await store.subscriptions.read('whk_1'))?.sealedSecret ?? new Uint8Array();
    expect([keyIdOf(sealed), ofOlder.open(sealed, 'whk_1')]).toEqual([ofOlder.keyIds[0], 'a secret']);
    await store.close();
  });

  test('forgets a former key when no record has it any more, until a host announces it again', async () => {
    const store = await open();
    await requireKeys({ store, secrets: ofOlder, log });
    await WRITES['a webhook secret']?.(store, (boundTo) => ofOlder.seal('a secret', boundTo));
    await requireKeys({ store, secrets: rotating, log });
    const walk = () => reseal({ store, secrets: rotating, log })(new AbortController().signal);
    await walk();
    expect((await store.sealingKeys.list()).length).toBe(2);
    await walk();
    expect(await store.sealingKeys.list()).toEqual([ofNewer.keyIds[0]]);
    await announceKey({ store, secrets: ofOlder });
    // No record has the key, so a host without it starts.
    await requireKeys({ store, secrets: ofNewer, log });
    expect(await store.sealingKeys.list()).toEqual([ofNewer.keyIds[0]]);
    await store.close();
  });
});

/** Seals in the first format, which had no key id. */
function sealedWithoutKeyId(key: Uint8Array, boundTo: string): Uint8Array {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo));
  const text = Buffer.concat([cipher.update('a secret', 'utf8'), cipher.final()]);
  return new Uint8Array(Buffer.concat([Uint8Array.of(1), nonce, text, cipher.getAuthTag()]));
}
