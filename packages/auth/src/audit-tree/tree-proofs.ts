import { isSize, type TreeHead } from './tree.ts';
import { isDigest, nodeHash } from './tree-hash.ts';

/**
 * Verifies that a tree contains a leaf. Needs neither a network nor the log: the head comes from a signed note, and the
 * proof from the host.
 *
 * @returns false for every proof that is malformed, too long or too short as well
 * @example
 * const leaf = entryLeaf(entryHash(entry));
 * const isInLog = verifyInclusion({ leaf, index: entry.atSequence - 1, head, proof });
 * @see RFC 9162, section 2.1.3.2
 */
export function verifyInclusion(claim: {
  /** The hash of the leaf: `entryLeaf(entryHash(entry))`. */
  readonly leaf: string;
  /** The index of the leaf: `entry.atSequence - 1`. */
  readonly index: number;
  /** A head that the verifier trusts. */
  readonly head: TreeHead;
  /** The hashes of the proof, in hexadecimal. */
  readonly proof: readonly string[];
}): boolean {
  const { leaf, index, head, proof } = claim;
  const { treeSize, rootHash } = head;
  if (!(isSize(index) && isSize(treeSize) && index < treeSize)) return false;
  if (!areDigests([leaf, rootHash, ...proof])) return false;
  let [at, last, hash] = [index, treeSize - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      hash = nodeHash(sibling, hash);
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && hash === rootHash;
}

/**
 * Verifies that a tree is the beginning of a later one: that nothing before the first head was changed or removed.
 *
 * @returns false for every proof that is malformed, too long or too short as well
 * @example
 * const isAppendOnly = verifyConsistency({ first: noted, second: head, proof });
 * @see RFC 9162, section 2.1.4.2
 */
export function verifyConsistency(claim: {
  /** The earlier head. */
  readonly first: TreeHead;
  /** The later head. */
  readonly second: TreeHead;
  /** The hashes of the proof, in hexadecimal. */
  readonly proof: readonly string[];
}): boolean {
  const { first, second, proof } = claim;
  if (!(isSize(first.treeSize) && isSize(second.treeSize) && first.treeSize <= second.treeSize)) return false;
  if (!areDigests([first.rootHash, second.rootHash, ...proof])) return false;
  if (first.treeSize === second.treeSize) return proof.length === 0 && first.rootHash === second.rootHash;
  // A tree without leaves is the beginning of every tree.
  if (first.treeSize === 0) return proof.length === 0;
  let [at, last] = [first.treeSize - 1, second.treeSize - 1];
  while (isOdd(at)) [at, last] = [half(at), half(last)];
  const hashes = at === 0 ? [first.rootHash, ...proof] : [...proof];
  const start = hashes.shift();
  if (start === undefined) return false;
  let [earlier, later] = [start, start];
  for (const hash of hashes) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      earlier = nodeHash(hash, earlier);
      later = nodeHash(hash, later);
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      later = nodeHash(later, hash);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && earlier === first.rootHash && later === second.rootHash;
}

function areDigests(texts: readonly string[]): boolean {
  return texts.length <= MAX_HASHES && texts.every(isDigest);
}

/** Two roots or a leaf and a root, and the hashes of a proof: two for each level of the largest tree are too many. */
const MAX_HASHES = 128;

// Sizes go beyond 32 bits, so no bitwise operator is used.
function isOdd(number: number): boolean {
  return number % 2 === 1;
}

function half(number: number): number {
  return Math.floor(number / 2);
}
