import { EMPTY_ROOT, nodeHash } from './tree-hash.ts';

/** The size and the root of a Merkle tree. It stands for every leaf of the tree. */
export interface TreeHead {
  /** Number of leaves. The leaf of the entry `atSequence` has the index `atSequence - 1`. */
  readonly treeSize: number;
  /** The root, in lower-case hexadecimal. */
  readonly rootHash: string;
}

/** Reads the nodes of a tree that stand for complete subtrees. */
export interface TreeNodes {
  /** Returns the hash of the subtree of the `2 ** level` leaves from `index * 2 ** level`, in hexadecimal. */
  node(level: number, index: number): Promise<string>;
}

/**
 * Returns the head of the tree of the first `treeSize` leaves.
 *
 * @example
 * const head = await treeHead(nodes, 1000);
 * @see RFC 9162, section 2.1.1
 */
export async function treeHead(nodes: TreeNodes, treeSize: number): Promise<TreeHead> {
  return { treeSize, rootHash: treeSize === 0 ? EMPTY_ROOT : await rangeHash(nodes, 0, treeSize) };
}

/**
 * Returns the proof that a tree contains the leaf `index`: the hashes beside the path from the leaf to the root.
 *
 * @throws {RangeError} unless `0 <= index < treeSize`
 * @example
 * const proof = await inclusionProof(nodes, entry.atSequence - 1, 1000);
 * @see RFC 9162, section 2.1.3.1
 */
export async function inclusionProof(nodes: TreeNodes, index: number, treeSize: number): Promise<readonly string[]> {
  if (!(isSize(index) && isSize(treeSize) && index < treeSize))
    throw new RangeError('inclusionProof: index must be a whole number from 0 and below treeSize.');
  const beside: [from: number, to: number][] = [];
  for (let from = 0, to = treeSize; to - from > 1; ) {
    const middle = from + split(to - from);
    if (index < middle) {
      beside.push([middle, to]);
      to = middle;
    } else {
      beside.push([from, middle]);
      from = middle;
    }
  }
  return hashesOf(nodes, beside.reverse());
}

/**
 * Returns the proof that the tree of `first` leaves is the beginning of the tree of `second` leaves. It is empty when both
 * are equal, and when `first` is 0.
 *
 * @throws {RangeError} unless `0 <= first <= second`
 * @example
 * const proof = await consistencyProof(nodes, 1000, 2000);
 * @see RFC 9162, section 2.1.4.1
 */
export async function consistencyProof(nodes: TreeNodes, first: number, second: number): Promise<readonly string[]> {
  if (!(isSize(first) && isSize(second) && first <= second))
    throw new RangeError('consistencyProof: first and second must be whole numbers with 0 <= first <= second.');
  if (first === 0 || first === second) return [];
  const parts: [from: number, to: number][] = [];
  let [from, to] = [0, second];
  while (first < to) {
    const middle = from + split(to - from);
    if (first <= middle) {
      parts.push([middle, to]);
      to = middle;
    } else {
      parts.push([from, middle]);
      from = middle;
    }
  }
  // The verifier knows the first root. It needs the last part only when that is not the whole first tree.
  if (from > 0) parts.push([from, to]);
  return hashesOf(nodes, parts.reverse());
}

/** Returns the peaks of a tree: the roots of its largest complete subtrees, from the left to the right. */
export async function peaksOf(nodes: TreeNodes, treeSize: number): Promise<readonly TreePeak[]> {
  const peaks: TreePeak[] = [];
  for (let from = 0; from < treeSize; ) {
    const level = Math.floor(Math.log2(treeSize - from));
    const leaves = 2 ** level;
    peaks.push({ level, hash: await nodes.node(level, from / leaves) });
    from += leaves;
  }
  return peaks;
}

/** The root of a complete subtree of `2 ** level` leaves. */
export interface TreePeak {
  readonly level: number;
  readonly hash: string;
}

/** Returns the root of the tree of peaks. */
export function rootOf(peaks: readonly TreePeak[]): string {
  const hashes = peaks.map(({ hash }) => hash);
  return hashes.length === 0 ? EMPTY_ROOT : hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** Returns whether a number can be the number of leaves of a tree. */
export function isSize(size: number): boolean {
  return Number.isSafeInteger(size) && size >= 0;
}

async function hashesOf(nodes: TreeNodes, ranges: readonly (readonly [number, number])[]): Promise<readonly string[]> {
  const hashes: string[] = [];
  for (const [from, to] of ranges) hashes.push(await rangeHash(nodes, from, to));
  return hashes;
}

/** Returns the root of the leaves of a range, whose start a proof has aligned to its length. */
async function rangeHash(nodes: TreeNodes, from: number, to: number): Promise<string> {
  const peaks: TreePeak[] = [];
  for (let start = from; start < to; ) {
    const level = Math.floor(Math.log2(to - start));
    peaks.push({ level, hash: await nodes.node(level, start / 2 ** level) });
    start += 2 ** level;
  }
  return rootOf(peaks);
}

/** Returns the largest power of two below a number of at least two. */
function split(length: number): number {
  return 2 ** Math.floor(Math.log2(length - 1));
}
