import { peaksOf, rootOf, type TreeHead, type TreeNodes, type TreePeak } from './tree.ts';
import { entryLeaf, nodeHash } from './tree-hash.ts';

/**
 * Neighbouring hashes of one stored level of a tree. A hash of the stored level `level` stands for `256 ** level` leaves:
 * only every eighth level of the tree is stored, because the others are quickly computed.
 */
export interface TreeRun {
  /** The stored level, from 0. */
  readonly level: number;
  /** The position of the first hash at that level. */
  readonly first: number;
  /** The hashes, at most 256, in hexadecimal. */
  readonly hashes: readonly string[];
}

/** Reads the stored hashes of a tree. */
export interface TreeReader {
  /** Returns the hashes of a stored level from the position `from`, at most `count` of them. */
  hashes(level: number, from: number, count: number): Promise<readonly string[]>;
}

/**
 * A Merkle tree to which the entries of a log are added. It holds one hash for each level, and the hashes that are not
 * stored yet.
 *
 * @example
 * const tree = new GrowingTree();
 * tree.add(entry.hash);
 * const { rootHash, treeSize } = tree.head();
 * await store(tree.takeRuns());
 */
export class GrowingTree {
  /** Complete subtrees, from the largest to the smallest. */
  readonly #peaks: TreePeak[];
  #size: number;
  /** The hashes that are not stored, by stored level. */
  #fresh = new Map<number, { first: number; hashes: string[] }>();

  constructor(size = 0, peaks: readonly TreePeak[] = []) {
    this.#size = size;
    this.#peaks = [...peaks];
  }

  /** Continues the tree that a store holds. */
  static async stored(reader: TreeReader, size: number): Promise<GrowingTree> {
    return new GrowingTree(size, await peaksOf(storedNodes(reader), size));
  }

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Adds the leaf of an entry, given by its hash. */
  add(hash: string): void {
    let node: TreePeak = { level: 0, hash: entryLeaf(hash) };
    this.#keep(node, this.#size);
    this.#size++;
    for (let last = this.#peaks.at(-1); last?.level === node.level; last = this.#peaks.at(-1)) {
      this.#peaks.pop();
      node = { level: node.level + 1, hash: nodeHash(last.hash, node.hash) };
      if (node.level % STORED_EVERY === 0) this.#keep(node, this.#size / 2 ** node.level - 1);
    }
    this.#peaks.push(node);
  }

  /** Returns the size and the root. */
  head(): TreeHead {
    return { treeSize: this.#size, rootHash: rootOf(this.#peaks) };
  }

  /** Returns the hashes that were added since the last call, and forgets them. */
  takeRuns(): readonly TreeRun[] {
    const runs: TreeRun[] = [];
    for (const [level, { first, hashes }] of this.#fresh)
      for (let at = 0; at < hashes.length; at += LONGEST_RUN)
        runs.push({ level, first: first + at, hashes: hashes.slice(at, at + LONGEST_RUN) });
    this.#fresh = new Map();
    return runs;
  }

  #keep({ level, hash }: TreePeak, position: number): void {
    const stored = level / STORED_EVERY;
    const run = this.#fresh.get(stored);
    if (run === undefined) this.#fresh.set(stored, { first: position, hashes: [hash] });
    else run.hashes.push(hash);
  }
}

/**
 * Makes a reader of the nodes of a stored tree. A proof reads at most 256 hashes of each stored level, on both sides. It keeps
 * the last 64 such parts of the tree with their nodes, about 3 MB, so one reader may serve all requests of a process: a tree
 * only grows, and a part that was not complete is read again when it has to be longer.
 *
 * @example
 * const proof = await inclusionProof(storedNodes(store.audit.tree), 41, 1000);
 */
export function storedNodes(reader: TreeReader): TreeNodes {
  const tiles = new Map<string, Promise<Tile>>();
  const tileOf = async (level: number, number: number, length: number): Promise<Tile> => {
    const name = `${level}/${number}`;
    const found = tiles.get(name);
    // The tile that was used last is last in the order of the map.
    tiles.delete(name);
    if (found !== undefined) {
      tiles.set(name, found);
      const tile = await found;
      if (tile.length >= length) return tile;
    }
    const read = reader.hashes(level, number * LONGEST_RUN, LONGEST_RUN).then((hashes) => new Tile(hashes));
    tiles.set(name, read);
    const [oldest] = tiles.keys();
    if (tiles.size > MOST_TILES && oldest !== undefined) tiles.delete(oldest);
    return await read.catch((error: unknown) => {
      if (tiles.get(name) === read) tiles.delete(name);
      throw error;
    });
  };
  return {
    async node(level, index) {
      const stored = Math.floor(level / STORED_EVERY);
      const above = level % STORED_EVERY;
      const width = 2 ** above;
      const number = Math.floor((index * width) / LONGEST_RUN);
      const first = index * width - number * LONGEST_RUN;
      const tile = await tileOf(stored, number, first + width);
      const hash = tile.node(above, first / width);
      if (hash !== undefined) return hash;
      const missing = number * LONGEST_RUN + Math.max(first, tile.length);
      throw new RangeError(`The tree lacks the hash ${missing} of the stored level ${stored}.`);
    },
  };
}

/** Up to 256 neighbouring hashes of a stored level, and the nodes above them that were needed. */
class Tile {
  readonly #levels: string[][];
  readonly length: number;

  constructor(hashes: readonly string[]) {
    this.#levels = [[...hashes]];
    this.length = hashes.length;
  }

  /** Returns undefined for a node above a hash that the tile lacks. */
  node(level: number, index: number): string | undefined {
    const nodes = this.#levels[level] ?? [];
    const known = nodes[index];
    if (known !== undefined || level === 0) return known;
    const [left, right] = [this.node(level - 1, 2 * index), this.node(level - 1, 2 * index + 1)];
    if (left === undefined || right === undefined) return undefined;
    const hash = nodeHash(left, right);
    nodes[index] = hash;
    this.#levels[level] = nodes;
    return hash;
  }
}

/**
 * Makes a reader of a stored tree together with hashes that are not stored yet.
 *
 * @example
 * const nodes = storedNodes(withRuns(store.audit, tree.takeRuns()));
 */
export function withRuns(reader: TreeReader, runs: readonly TreeRun[]): TreeReader {
  return {
    async hashes(level, from, count) {
      const found = [...(await reader.hashes(level, from, count))];
      for (const run of runs.filter((one) => one.level === level)) {
        const next = from + found.length - run.first;
        if (next >= 0) found.push(...run.hashes.slice(next, next + count - found.length));
      }
      return found;
    },
  };
}

/** The levels between two stored ones. @see C2SP tlog-tiles, which divides a tree in the same way */
const STORED_EVERY = 8;
const LONGEST_RUN = 2 ** STORED_EVERY;

const MOST_TILES = 64;
