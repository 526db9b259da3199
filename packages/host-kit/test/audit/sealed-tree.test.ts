import { generateKeyPairSync } from 'node:crypto';
import { ed25519Signer, type StoredEntry } from '@svc/auth/audit';
import { GrowingTree, noteKey, openHead, storedNodes, treeHead } from '@svc/auth/audit-tree';
import type { Store } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { expect, test } from 'vitest';
import { SealedTree } from '../../src/audit/sealed-tree.ts';
import { Sealer } from '../../src/audit/sealer.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { systemRandom } from '../../src/ports/random.ts';

const ORIGIN = 'svc.example/audit';
const { privateKey } = generateKeyPairSync('ed25519');
const signer = await ed25519Signer(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());

async function storeOf(count: number): Promise<Store> {
  const store = memoryStore();
  await append(store, count);
  return store;
}

function append(store: Store, count: number): Promise<void> {
  const facts = Array.from({ length: count }, (_, n) => ({
    ...{
      action: n % 7 === 0 ? 'run.create' : 'request',
      actor: 'p_1',
      target: null,
      occurredAt: '2026-06-01T00:00:00Z',
    },
    details: { tenant: 'acme', mode: 'live' },
  }));
  return store.transaction((transaction) => store.audit.append(facts, transaction));
}

/** The head of the tree of the first entries, from the entries alone. */
async function headOf(store: Store, size: number) {
  const tree = new GrowingTree();
  for await (const { hash } of store.audit.entries(1, size)) tree.add(hash);
  return tree.head();
}

const sealerOf = (store: Store, intervalEntries = 1000) =>
  new Sealer({
    ...{ store, clock: systemClock, random: systemRandom, log: () => {}, signer, publicKeys: [signer.publicKey] },
    ...{ origin: ORIGIN, sink: undefined, witness: undefined, intervalEntries },
    observer: { sealed: () => {}, failed: () => {} },
  });

test('entries that are older than the tree are added to it, and are listed by their postings', async () => {
  const store = await storeOf(2345);
  // A version without a tree has sealed them.
  const sealed = { checkpoint: 'ckp_old', atSequence: 2345, merkleRoot: 'a', signature: 'b' };
  const nothing = { from: -1, runs: [], postings: [] };
  await store.transaction((transaction) => store.audit.seal(sealed, 0, nothing, transaction));
  await append(store, 10);
  await sealerOf(store).seal();
  expect(await store.audit.treeSize()).toBe(2355);
  const head = await headOf(store, 2355);
  expect(await treeHead(storedNodes(store.audit), 2355)).toEqual(head);
  expect(await openHead((await store.audit.note()) ?? '', [noteKey(ORIGIN, signer.publicKey)])).toEqual({
    origin: ORIGIN,
    ...head,
  });
  const tenancy = { tenant: 'acme', mode: 'live', workspaces: 'all' } as const;
  const created: StoredEntry[] = [];
  for (let before: number | undefined; ; ) {
    const page = await store.audit.list(tenancy, { action: 'run.create', limit: 100, before });
    created.push(...page.entries);
    before = page.next;
    if (before === undefined) break;
  }
  expect(created).toHaveLength(Math.ceil(2345 / 7) + 2);
});

test('two hosts of one store grow one tree', async () => {
  const store = await storeOf(50);
  const [one, other] = [sealerOf(store, 7), sealerOf(store, 11)];
  for (let turn = 0; turn < 6; turn++) {
    await Promise.all([one.seal(), other.seal()]);
    await append(store, 13);
  }
  await one.seal();
  expect(await store.audit.treeSize()).toBe(50 + 6 * 13);
  expect(await treeHead(storedNodes(store.audit), 128)).toEqual(await headOf(store, 128));
});

test('a log without one of its entries gets no tree', async () => {
  const store = await storeOf(20);
  const cut: Store = {
    ...store,
    audit: {
      ...store.audit,
      async *entries(from, to) {
        for await (const entry of store.audit.entries(from, to)) if (entry.atSequence !== 12) yield entry;
      },
    },
  };
  await expect(new SealedTree(cut).upTo(20)).rejects.toThrow('The audit log lacks the entry 12');
  expect(await store.audit.treeSize()).toBe(0);
});
