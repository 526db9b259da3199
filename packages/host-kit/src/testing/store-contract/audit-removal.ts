import {
  consistencyProof,
  entryLeaf,
  GrowingTree,
  inclusionProof,
  storedNodes,
  treeHead,
  verifyInclusion,
} from '@svc/auth/audit-tree';
import type { AuditStore } from '../../ports/audit.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';

/** Tests of the removal of old records of an `AuditStore`. */
export function auditRemovalContract({ onStore, assert }: StoreContract): void {
  onStore('an audit log whose old records are removed proves every remaining entry, and its growth', async (store) => {
    const { audit } = store;
    const tree = new GrowingTree();
    await grown(store, tree, [700, 66_300, 66_700]);
    await sealedTo(store, tree, [66_900]);
    const sizes = [66_900, 66_901, 67_000, 67_071, 67_072, 67_073, 67_583, 67_584, 67_585, 68_000];
    await grown(store, tree, [67_200, 68_000]);
    const before = await proofsOf(audit, sizes);
    assert.deepEqual(await audit.sweep(100), 0);

    await store.transaction((transaction) => audit.startAt({ atSequence: 66_900 }, transaction));
    assert.deepEqual((await audit.sweep(10)) > 0, true);
    while ((await audit.sweep(200)) > 0);
    assert.deepEqual(await proofsOf(audit, sizes), before);
    assert.deepEqual(await audit.note(), 'note of 68000');
    assert.deepEqual(await audit.treeSize(), 68_000);
    for (const [level, kept] of [
      [0, 66_816],
      [1, 256],
    ] as const) {
      assert.deepEqual((await audit.hashes(level, kept, 1)).length, 1);
      // A run that reaches into the first kept block is kept as a whole.
      assert.deepEqual(await audit.hashes(level, 0, 1), []);
    }
    await assert.rejects(inclusionProof(storedNodes(audit), 255, 68_000));

    await grown(store, await GrowingTree.stored(audit, 68_000), [68_300]);
    for (let leaf = 68_001; leaf <= 68_300; leaf++) tree.add(hashOf(leaf));
    assert.deepEqual(await treeHead(storedNodes(audit), 68_300), tree.head());
    const proof = await inclusionProof(storedNodes(audit), 66_899, 68_300);
    const claim = { leaf: entryLeaf(hashOf(66_900)), index: 66_899, head: tree.head(), proof };
    assert.deepEqual(verifyInclusion(claim), true);
  });

  onStore('an audit log without removed entries keeps all of its records', async (store) => {
    const tree = new GrowingTree();
    await sealedTo(store, tree, [300, 600]);
    assert.deepEqual(await store.audit.sweep(100), 0);
    assert.deepEqual((await store.audit.hashes(0, 0, 256)).length, 256);
  });
}

/** Adds leaves up to each of the sizes, as one growth each. */
async function grown(store: Store, tree: GrowingTree, sizes: readonly number[]): Promise<void> {
  for (const size of sizes) {
    const growth = growthTo(tree, size);
    await store.transaction((transaction) => store.audit.grow(growth, transaction));
  }
}

/** Adds leaves up to each of the sizes, with a checkpoint. */
async function sealedTo(store: Store, tree: GrowingTree, sizes: readonly number[]): Promise<void> {
  for (const size of sizes) {
    const growth = growthTo(tree, size);
    const last = (await store.audit.checkpoints(1, Number.MAX_SAFE_INTEGER)).at(-1)?.atSequence ?? 0;
    const checkpoint = { checkpoint: `cp_${size}`, atSequence: size, merkleRoot: 'a', signature: 'b' };
    await store.transaction((transaction) => store.audit.seal(checkpoint, last, growth, transaction));
  }
}

function growthTo(tree: GrowingTree, size: number) {
  const from = tree.size;
  while (tree.size < size) tree.add(hashOf(tree.size + 1));
  const posting = {
    tenant: 'acme',
    mode: 'live',
    by: 'tenant',
    value: '',
    first: from + 1,
    sequences: [from + 1, size],
  } as const;
  return { from, runs: tree.takeRuns(), postings: [posting], note: `note of ${size}` };
}

const hashOf = (sequence: number): string => sequence.toString(16).padStart(64, '0');

/** The proofs of the entries, and of the growth, between the sizes. */
async function proofsOf(audit: AuditStore, sizes: readonly number[]): Promise<readonly unknown[]> {
  const nodes = storedNodes(audit);
  const proofs: unknown[] = [];
  for (const first of sizes)
    for (const second of sizes)
      if (first <= second)
        proofs.push([await inclusionProof(nodes, first - 1, second), await consistencyProof(nodes, first, second)]);
  return proofs;
}
