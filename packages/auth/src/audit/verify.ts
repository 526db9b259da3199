import { type ChainHead, entryHash, type StoredEntry } from './chain.ts';
import { type Checkpoint, checkpointVerifier } from './checkpoint.ts';
import { type MerkleTree, merkleTree } from './merkle.ts';

/** Reads a chain, in the order of its sequence. */
export interface AuditReader {
  /** Returns the last entry; undefined for an empty chain. */
  head(): Promise<ChainHead | undefined>;
  /** Reads the entries from `fromSeq` to `toSeq`, both included. */
  entries(fromSeq: number, toSeq: number): AsyncIterable<StoredEntry>;
  /** Returns the checkpoints that cover any entry from `fromSeq` to `toSeq`, and the last one before them. */
  checkpoints(fromSeq: number, toSeq: number): Promise<readonly Checkpoint[]>;
}

/** A fault of a chain. */
export interface AuditAnomaly {
  /** The kind of fault. */
  readonly kind: 'chain-break' | 'hash-mismatch' | 'missing-entry' | 'merkle-mismatch' | 'signature-invalid';
  /** Sequence number of the entry or checkpoint. */
  readonly atSeq: number;
  /** Of a `chain-break`: the hash of the previous entry; null at the first entry. */
  readonly expectedPrevHash?: string | null;
  /** Of a `chain-break`: the recorded `prevHash`. */
  readonly actualPrevHash?: string | null;
  /** Of a `merkle-mismatch` or `signature-invalid`: the id of the checkpoint. */
  readonly checkpoint?: string;
}

/** The result of verifying a part of a chain. @see Interface: GET /v1/audit/verify */
export interface AuditVerification {
  /** First sequence number of the range. */
  readonly fromSeq: number;
  /** Last sequence number of the range. */
  readonly toSeq: number;
  /** True when there are no anomalies. */
  readonly chainValid: boolean;
  /** True when every checkpoint has the right root and a valid signature. */
  readonly checkpointsValid: boolean;
  /** The checkpoints that end within the range. */
  readonly checkpoints: readonly Checkpoint[];
  /** The first anomalies, at most 1000. */
  readonly anomalies: readonly AuditAnomaly[];
}

/**
 * Verifies a part of a chain while reading it: every hash, every link, and every checkpoint that covers any of it, with
 * all entries that the checkpoint covers. Memory is one entry and the levels of a tree, for any length.
 *
 * @throws {RangeError} when `fromSeq` or `toSeq` is not a whole number, is negative, or `fromSeq` is above `toSeq`
 * @example
 * const { chainValid, anomalies } = await verifyAudit(reader, { fromSeq: 1, toSeq: 1_000_000, publicKeys });
 */
export async function verifyAudit(
  reader: AuditReader,
  range: {
    /** First sequence number, from 0. */
    readonly fromSeq: number;
    /** Last sequence number, included. */
    readonly toSeq: number;
    /** Public keys of the signer, in base64 (SPKI), with former keys while their checkpoints are stored. */
    readonly publicKeys: readonly string[];
  },
): Promise<AuditVerification> {
  const { fromSeq, toSeq, publicKeys } = range;
  if (!Number.isSafeInteger(fromSeq) || !Number.isSafeInteger(toSeq) || fromSeq < 0 || toSeq < fromSeq) {
    throw new RangeError('verifyAudit: fromSeq and toSeq must be whole numbers with 0 <= fromSeq <= toSeq.');
  }
  const covering = await reader.checkpoints(fromSeq, toSeq);
  const asked = covering.filter(({ atSequence }) => atSequence >= fromSeq);
  const before = covering.filter(({ atSequence }) => atSequence < fromSeq).at(-1)?.atSequence ?? 0;
  const head = await reader.head();
  // The entries of a checkpoint must exist, even if the head is before them.
  const end = Math.max(Math.min(toSeq, head?.atSequence ?? 0), asked.at(-1)?.atSequence ?? 0);
  const walk = new ChainWalk(asked, before);

  const first = Math.max(1, Math.min(before + 1, fromSeq));
  const known = first > 1 ? await firstOf(reader.entries(first - 1, first - 1)) : undefined;
  walk.start(first, known);
  for await (const entry of reader.entries(first, end)) walk.step(entry);
  walk.end(end);

  const isSigned = checkpointVerifier(publicKeys);
  for (const checkpoint of asked) if (!(await isSigned(checkpoint))) walk.report(unsigned(checkpoint));
  const { anomalies } = walk;
  return {
    fromSeq,
    toSeq,
    chainValid: anomalies.length === 0,
    checkpointsValid: !anomalies.some(({ kind }) => kind === 'merkle-mismatch' || kind === 'signature-invalid'),
    checkpoints: asked.filter(({ atSequence }) => atSequence <= toSeq),
    anomalies,
  };
}

const MAX_ANOMALIES = 1000;

/** A walk along a chain: the expected next entry, and the anomalies so far. */
class ChainWalk {
  readonly #anomalies: AuditAnomaly[] = [];
  /** Checkpoints whose last entry is still ahead, in order. */
  readonly #open: Checkpoint[];
  /** The last entry of the previous checkpoint. */
  #covered: number;
  /** The hashes since the previous checkpoint. */
  #tree: MerkleTree = merkleTree();
  /** The expected sequence number. */
  #next = 1;
  /** The expected `prevHash`; undefined after a gap, where it is unknown. */
  #previous: string | null | undefined;

  constructor(checkpoints: readonly Checkpoint[], before: number) {
    this.#open = [...checkpoints];
    this.#covered = before;
  }

  get anomalies(): readonly AuditAnomaly[] {
    return this.#anomalies.toSorted((left, right) => left.atSeq - right.atSeq);
  }

  report(anomaly: AuditAnomaly): void {
    if (this.#anomalies.length < MAX_ANOMALIES) this.#anomalies.push(anomaly);
  }

  /** @param known the entry before the first */
  start(first: number, known: StoredEntry | undefined): void {
    this.#next = first;
    // Without the entry before the first, its hash is unknown and the first link cannot be checked.
    this.#previous = first === 1 ? null : known && entryHash(known);
    if (first > 1 && known === undefined) this.report({ kind: 'missing-entry', atSeq: first - 1 });
  }

  step(entry: StoredEntry): void {
    const { atSequence, prevHash } = entry;
    const hash = entryHash(entry);
    this.#skipTo(atSequence);
    if (entry.hash !== hash) this.report({ kind: 'hash-mismatch', atSeq: atSequence });
    const expectedPrevHash = this.#previous;
    if (expectedPrevHash !== undefined && prevHash !== expectedPrevHash) {
      this.report({ kind: 'chain-break', atSeq: atSequence, expectedPrevHash, actualPrevHash: prevHash });
    }
    this.#previous = hash;
    this.#next = atSequence + 1;
    this.#tree.add(hash);
    this.#closeAt(atSequence);
  }

  end(last: number): void {
    this.#skipTo(last + 1);
  }

  #skipTo(sequence: number): void {
    if (this.#next < sequence) this.#previous = undefined;
    for (; this.#next < sequence; this.#next++) {
      this.report({ kind: 'missing-entry', atSeq: this.#next });
      this.#closeAt(this.#next);
      if (this.#anomalies.length >= MAX_ANOMALIES) {
        this.#next = sequence;
        break;
      }
    }
  }

  /** A checkpoint is valid for exactly the entries since the previous checkpoint. */
  #closeAt(sequence: number): void {
    for (let due = this.#due(sequence); due !== undefined; due = this.#due(sequence)) {
      const { atSequence, merkleRoot, checkpoint } = due;
      const isWhole = atSequence > this.#covered && this.#tree.size === atSequence - this.#covered;
      if (!isWhole || this.#tree.root() !== merkleRoot) {
        this.report({ kind: 'merkle-mismatch', atSeq: atSequence, checkpoint });
      }
      this.#covered = atSequence;
      this.#tree = merkleTree();
    }
  }

  /** Removes and returns the next checkpoint that ends at `sequence` or before. */
  #due(sequence: number): Checkpoint | undefined {
    const [next] = this.#open;
    return next !== undefined && next.atSequence <= sequence ? this.#open.shift() : undefined;
  }
}

function unsigned({ checkpoint, atSequence }: Checkpoint): AuditAnomaly {
  return { kind: 'signature-invalid', atSeq: atSequence, checkpoint };
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}
