import { sha256 } from '#sha256';

/** A Merkle tree to which leaves are added one by one. It stores one hash per level. */
export interface MerkleTree {
  /** Number of leaves. */
  readonly size: number;
  /** Adds a leaf, a hash in lower-case hexadecimal. */
  add(leaf: string): void;
  /**
   * Returns the root in lower-case hexadecimal.
   *
   * @throws {RangeError} without leaves
   */
  root(): string;
}

/**
 * Makes a Merkle tree over hashes in lower-case hexadecimal. A parent is the SHA-256 of the text of its left child
 * followed by the text of its right child. A last node without a partner moves up unchanged.
 *
 * @example
 * const tree = merkleTree();
 * for await (const { hash } of entries) tree.add(hash);
 * @see The profile `svc-audit-log-integrity`
 */
export function merkleTree(): MerkleTree {
  /** Roots of complete subtrees, from the largest to the smallest, with the number of their leaves. */
  const peaks: { hash: string; leaves: number }[] = [];
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(leaf) {
      let node = { hash: leaf, leaves: 1 };
      for (let last = peaks.at(-1); last !== undefined && last.leaves === node.leaves; last = peaks.at(-1)) {
        peaks.pop();
        node = { hash: parentOf(last.hash, node.hash), leaves: 2 * node.leaves };
      }
      peaks.push(node);
      size++;
    },
    root() {
      const hashes = peaks.map(({ hash }) => hash);
      if (hashes.length === 0) throw new RangeError('merkleTree: root needs at least one leaf. Call add first.');
      return hashes.reduceRight((right, left) => parentOf(left, right));
    },
  };
}

function parentOf(left: string, right: string): string {
  return sha256(left + right);
}
