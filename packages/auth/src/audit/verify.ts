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
  /**
   * Returns the checkpoint with which the chain starts, because earlier entries were removed; undefined when the chain
   * starts with its first entry. The entry `atSequence` of the checkpoint is still there. Default: undefined.
   */
  start?(): Promise<Checkpoint | undefined>;
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
  /** Of an anomaly of the expected head: what is missing or differs, in words. */
  readonly detail?: string;
}

/**
 * The end of a chain as it was known earlier, from a place that the store cannot change: a `ChainHead`, a `Checkpoint`,
 * or a `CheckpointRecord` of a sink. At least one of `hash` and `merkleRoot` is required.
 */
export interface ExpectedHead {
  /** Sequence number of the entry, at least 1. */
  readonly atSequence: number;
  /** The hash of that entry. It vouches for every entry up to it. */
  readonly hash?: string;
  /** The Merkle root of a stored checkpoint that ends at that entry. */
  readonly merkleRoot?: string;
  /** The id of that checkpoint. */
  readonly checkpoint?: string;
}

/** The result of verifying a part of a chain. @see Interface: GET /v1/audit/verify */
export interface AuditVerification {
  /** First sequence number of the range, or the one after `start` when the range begins before. */
  readonly fromSeq: number;
  /** Last sequence number of the range. */
  readonly toSeq: number;
  /** True when there are no anomalies. */
  readonly chainValid: boolean;
  /** True when every checkpoint has the right root and a valid signature. */
  readonly checkpointsValid: boolean;
  /** The checkpoints that end within the range, after `start` when the range begins at or before it. */
  readonly checkpoints: readonly Checkpoint[];
  /** The checkpoint with which the chain starts. Absent: it starts with its first entry. */
  readonly start?: Checkpoint;
  /** The first anomalies, at most 1000. */
  readonly anomalies: readonly AuditAnomaly[];
}

/**
 * Verifies a part of a chain while reading it: every hash, every link, and every checkpoint that covers any of it, with
 * all entries that the checkpoint covers. Memory is one entry and the levels of a tree, for any length.
 *
 * A chain cannot tell by itself that its end is missing. With `expected`, a chain that was cut, emptied or restored to
 * an earlier state has anomalies. The entries between the range and the expected head are verified as well.
 *
 * When earlier entries were removed, the range begins after the checkpoint with which the chain starts, and `start` is
 * that checkpoint. A range or an expected head that lies before it cannot be verified, and has an anomaly.
 *
 * @throws {RangeError} when `fromSeq` or `toSeq` is not a whole number, is negative, or `fromSeq` is above `toSeq`
 * @throws {RangeError} when `expected` is not a sequence number from 1 with a hash or a root of 64 hexadecimal digits
 * @example
 * const expected = { atSequence: 4000, hash: noted };
 * const { chainValid, anomalies } = await verifyAudit(reader, { fromSeq: 1, toSeq: 1_000_000, publicKeys, expected });
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
    /** The head of the chain, or a checkpoint, as it was stored elsewhere. Default: the end of the chain is not known. */
    readonly expected?: ExpectedHead | undefined;
  },
): Promise<AuditVerification> {
  const { fromSeq, toSeq, publicKeys, expected } = range;
  if (!Number.isSafeInteger(fromSeq) || !Number.isSafeInteger(toSeq) || fromSeq < 0 || toSeq < fromSeq) {
    throw new RangeError('verifyAudit: fromSeq and toSeq must be whole numbers with 0 <= fromSeq <= toSeq.');
  }
  if (expected !== undefined) requireExpected(expected);
  const start = await reader.start?.();
  const removed = start?.atSequence ?? 0;
  // Without the entries between them, the expected head says nothing about the range.
  const from = Math.max(Math.min(fromSeq, expected?.atSequence ?? fromSeq), start === undefined ? 0 : removed + 1);
  const to = Math.max(toSeq, expected?.atSequence ?? toSeq);
  const covering = await reader.checkpoints(from, to);
  const asked = covering.filter(({ atSequence }) => atSequence >= from);
  const before = covering.filter(({ atSequence }) => atSequence < from).at(-1)?.atSequence ?? 0;
  const head = await reader.head();
  // The entries of a checkpoint must exist, even if the head is before them.
  const end = Math.max(Math.min(to, head?.atSequence ?? 0), asked.at(-1)?.atSequence ?? 0);
  const walk = new ChainWalk(asked, before, expected);
  if (start !== undefined) walk.startsAt(start, toSeq);
  if (expected !== undefined) walk.compare(expected, head?.atSequence ?? 0, start);

  const first = Math.max(1, Math.min(before + 1, from));
  const known = first > 1 ? await firstOf(reader.entries(first - 1, first - 1)) : undefined;
  walk.start(first, known);
  for await (const entry of reader.entries(first, end)) walk.step(entry);
  walk.end(end);

  const isSigned = checkpointVerifier(publicKeys);
  const signed = start === undefined ? asked : [start, ...asked];
  for (const checkpoint of signed) if (!(await isSigned(checkpoint))) walk.report(unsigned(checkpoint));
  const { anomalies } = walk;
  const isCut = start !== undefined && fromSeq <= removed && toSeq > removed;
  return {
    fromSeq: isCut ? removed + 1 : fromSeq,
    toSeq,
    chainValid: anomalies.length === 0,
    checkpointsValid: !anomalies.some(({ kind }) => kind === 'merkle-mismatch' || kind === 'signature-invalid'),
    checkpoints: [
      ...(isCut ? [start] : []),
      ...asked.filter(({ atSequence }) => atSequence >= fromSeq && atSequence <= toSeq),
    ],
    ...(start !== undefined && { start }),
    anomalies,
  };
}

const MAX_ANOMALIES = 1000;

function requireExpected({ atSequence, hash, merkleRoot }: ExpectedHead): void {
  const digests = [hash, merkleRoot].filter((digest) => digest !== undefined);
  if (!Number.isSafeInteger(atSequence) || atSequence < 1)
    throw new RangeError('verifyAudit: expected.atSequence must be a whole number of at least 1.');
  if (digests.length === 0 || !digests.every((digest) => /^[0-9a-f]{64}$/.test(digest)))
    throw new RangeError(
      'verifyAudit: expected must have a hash or a merkleRoot, of 64 lower-case hexadecimal digits. Pass a head or a checkpoint.',
    );
}

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
  readonly #expected: ExpectedHead | undefined;

  constructor(checkpoints: readonly Checkpoint[], before: number, expected: ExpectedHead | undefined) {
    this.#open = [...checkpoints];
    this.#covered = before;
    this.#expected = expected;
  }

  get anomalies(): readonly AuditAnomaly[] {
    return this.#anomalies.toSorted((left, right) => left.atSeq - right.atSeq);
  }

  report(anomaly: AuditAnomaly): void {
    if (this.#anomalies.length < MAX_ANOMALIES) this.#anomalies.push(anomaly);
  }

  /** Reports an expected head behind which the chain ends, and an expected checkpoint that is not stored. */
  compare({ atSequence, merkleRoot, checkpoint }: ExpectedHead, end: number, start: Checkpoint | undefined): void {
    if (end < atSequence) this.report({ kind: 'missing-entry', atSeq: atSequence, detail: missing(end, atSequence) });
    if (merkleRoot === undefined) return;
    const stored = [start, ...this.#open].find((one) => one?.atSequence === atSequence);
    if (stored?.merkleRoot === merkleRoot) return;
    const detail =
      stored === undefined
        ? `The expected checkpoint at entry ${atSequence} is missing.`
        : `The checkpoint at entry ${atSequence} has another root than the expected checkpoint.`;
    const id = checkpoint ?? stored?.checkpoint ?? `at ${atSequence}`;
    this.report({ kind: 'merkle-mismatch', atSeq: atSequence, checkpoint: id, detail });
  }

  /** Reports a range and an expected head whose entries were removed, because nothing vouches for them any more. */
  startsAt({ atSequence, checkpoint }: Checkpoint, toSeq: number): void {
    const begin = `The log starts with checkpoint ${checkpoint} at entry ${atSequence}`;
    if (toSeq <= atSequence)
      this.report({ kind: 'missing-entry', atSeq: toSeq, detail: `${begin}: the entries of the range were removed.` });
    const expected = this.#expected?.atSequence ?? atSequence;
    if (expected < atSequence)
      this.report({ kind: 'missing-entry', atSeq: expected, detail: `${begin}: the expected head was removed.` });
  }

  /** @param known the entry before the first */
  start(first: number, known: StoredEntry | undefined): void {
    this.#next = first;
    // Without the entry before the first, its hash is unknown and the first link cannot be checked.
    this.#previous = first === 1 ? null : known && entryHash(known);
    if (first > 1 && known === undefined) this.report({ kind: 'missing-entry', atSeq: first - 1 });
    if (known !== undefined) this.#compareHash(known.atSequence, entryHash(known));
  }

  step(entry: StoredEntry): void {
    const { atSequence, prevHash } = entry;
    const hash = entryHash(entry);
    this.#skipTo(atSequence);
    if (entry.hash !== hash) this.report({ kind: 'hash-mismatch', atSeq: atSequence });
    this.#compareHash(atSequence, hash);
    const expectedPrevHash = this.#previous;
    if (expectedPrevHash !== undefined && prevHash !== expectedPrevHash) {
      this.report({ kind: 'chain-break', atSeq: atSequence, expectedPrevHash, actualPrevHash: prevHash });
    }
    this.#previous = hash;
    this.#next = atSequence + 1;
    this.#tree.add(hash);
    this.#closeAt(atSequence);
  }

  #compareHash(atSequence: number, hash: string): void {
    if (this.#expected?.atSequence === atSequence && (this.#expected.hash ?? hash) !== hash)
      this.report({ kind: 'hash-mismatch', atSeq: atSequence, detail: OTHER_HEAD });
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

const OTHER_HEAD =
  'The entry is not the expected head. It, or an entry before it, was replaced since the head was recorded.';

function missing(end: number, expected: number): string {
  const entries = end + 1 === expected ? `Entry ${expected} is` : `Entries ${end + 1} to ${expected} are`;
  return `${entries} missing: ${end === 0 ? 'the log is empty' : `the log ends at entry ${end}`}, before the expected head.`;
}

function unsigned({ checkpoint, atSequence }: Checkpoint): AuditAnomaly {
  return { kind: 'signature-invalid', atSeq: atSequence, checkpoint };
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}
