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
  const walk = chainWalk(asked, before);

  const first = Math.max(1, Math.min(before + 1, fromSeq));
  const known = first > 1 ? await firstOf(reader.entries(first - 1, first - 1)) : undefined;
  walk.start(first, known);
  for await (const entry of reader.entries(first, end)) walk.step(entry);
  walk.end(end);

  const isSigned = checkpointVerifier(publicKeys);
  for (const checkpoint of asked) if (!(await isSigned(checkpoint))) walk.report(unsigned(checkpoint));
  const anomalies = walk.anomalies();
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

/** The state of a walk along a chain: the expected next entry, and the anomalies so far. */
function chainWalk(checkpoints: readonly Checkpoint[], before: number) {
  const found: AuditAnomaly[] = [];
  const open = [...checkpoints];
  let covered = before;
  let tree: MerkleTree = merkleTree();
  let next = 1;
  let previous: string | null | undefined;

  const report = (anomaly: AuditAnomaly) => {
    if (found.length < MAX_ANOMALIES) found.push(anomaly);
  };

  return {
    report,
    anomalies: (): readonly AuditAnomaly[] => found.toSorted((left, right) => left.atSeq - right.atSeq),
    start(first: number, known: StoredEntry | undefined) {
      next = first;
      // Without the entry before the first, its hash is unknown and the first link cannot be checked.
      previous = first === 1 ? null : known && entryHash(known);
      if (first > 1 && known === undefined) report({ kind: 'missing-entry', atSeq: first - 1 });
    },
    step(entry: StoredEntry) {
      const { atSequence, prevHash } = entry;
      const hash = entryHash(entry);
      skipTo(atSequence);
      if (entry.hash !== hash) report({ kind: 'hash-mismatch', atSeq: atSequence });
      if (previous !== undefined && prevHash !== previous) {
        report({ kind: 'chain-break', atSeq: atSequence, expectedPrevHash: previous, actualPrevHash: prevHash });
      }
      previous = hash;
      next = atSequence + 1;
      tree.add(hash);
      closeAt(atSequence);
    },
    end(last: number) {
      skipTo(last + 1);
    },
  };

  function skipTo(sequence: number): void {
    if (next < sequence) previous = undefined;
    for (; next < sequence; next++) {
      report({ kind: 'missing-entry', atSeq: next });
      closeAt(next);
      if (found.length >= MAX_ANOMALIES) {
        next = sequence;
        break;
      }
    }
  }

  /** A checkpoint is valid for exactly the entries since the previous checkpoint. */
  function closeAt(sequence: number): void {
    while (open[0] !== undefined && open[0].atSequence <= sequence) {
      const checkpoint = open.shift();
      if (checkpoint === undefined) return;
      const { atSequence, merkleRoot } = checkpoint;
      const isWhole = atSequence > covered && tree.size === atSequence - covered;
      if (!isWhole || tree.root() !== merkleRoot) {
        report({ kind: 'merkle-mismatch', atSeq: atSequence, checkpoint: checkpoint.checkpoint });
      }
      covered = atSequence;
      tree = merkleTree();
    }
  }
}

function unsigned({ checkpoint, atSequence }: Checkpoint): AuditAnomaly {
  return { kind: 'signature-invalid', atSeq: atSequence, checkpoint };
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}
