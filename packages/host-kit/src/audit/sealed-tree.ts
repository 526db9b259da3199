import type { StoredEntry } from '@svc/auth/audit';
import { GrowingTree } from '@svc/auth/audit-tree';
import { yieldToLoop } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { postingsOf } from './postings.ts';

/**
 * The Merkle tree of the sealed entries, carried on from checkpoint to checkpoint, so that a checkpoint hashes its own
 * entries alone. After a failure, and when another host has sealed meanwhile, it is read from the store again.
 */
export class SealedTree {
  readonly #store: Pick<Store, 'audit' | 'transaction'>;
  #tree: GrowingTree | undefined;

  constructor(store: Pick<Store, 'audit' | 'transaction'>) {
    this.#store = store;
  }

  /**
   * Returns the tree of the first `size` entries. Entries that are older than the tree are added to the stored one first, a
   * thousand at a time.
   *
   * @throws {Error} when an entry is missing
   */
  async upTo(size: number): Promise<GrowingTree> {
    if (this.#tree?.size === size) return this.#tree;
    this.forget();
    const { audit } = this.#store;
    for (let from = await audit.treeSize(); from < size; from = await audit.treeSize()) {
      await this.#add(from, Math.min(from + ENTRIES_AT_ONCE, size));
      await yieldToLoop();
    }
    this.#tree = await GrowingTree.stored(audit, size);
    return this.#tree;
  }

  /** Forgets the leaves that may not have been stored. */
  forget(): void {
    this.#tree = undefined;
  }

  async #add(from: number, to: number): Promise<void> {
    const { audit } = this.#store;
    const tree = await GrowingTree.stored(audit, from);
    const entries: StoredEntry[] = [];
    for await (const entry of audit.entries(from + 1, to)) {
      if (entry.atSequence !== tree.size + 1) break;
      tree.add(entry.hash);
      entries.push(entry);
    }
    if (tree.size < to) throw new Error(`The audit log lacks the entry ${tree.size + 1}, so its tree cannot be made.`);
    const growth = { from, runs: tree.takeRuns(), postings: postingsOf(entries) };
    await this.#store.transaction((transaction) => audit.grow(growth, transaction));
  }
}

const ENTRIES_AT_ONCE = 1000;
