import { type ChainHead, entryHash, type StoredEntry } from './chain.ts';
import { type Checkpoint, checkpointVerifier } from './checkpoint.ts';
import { type MerkleTree, merkleTree } from './merkle.ts';

/** Where a chain is read from, in the order of its sequence. */
export interface AuditReader {
  head(): Promise<ChainHead | undefined>;
  /** Both ends included. */
  entries(fromSeq: number, toSeq: number): AsyncIterable<StoredEntry>;
  /** Those that cover any entry from `fromSeq` to `toSeq`, and the last one before them. */
  checkpoints(fromSeq: number, toSeq: number): Promise<readonly Checkpoint[]>;
}

/** What is wrong with a chain, and where. */
export interface AuditAnomaly {
  readonly kind: 'chain-break' | 'hash-mismatch' | 'missing-entry' | 'merkle-mismatch' | 'signature-invalid';
  readonly atSeq: number;
  /** Of a `chain-break`; null at the first entry. */
  readonly expectedPrevHash?: string | null;
  readonly actualPrevHash?: string | null;
  /** Of a `merkle-mismatch` or `signature-invalid`. */
  readonly checkpoint?: string;
}

/** @see Interface: GET /v1/audit/verify */
export interface AuditVerification {
  readonly fromSeq: number;
  readonly toSeq: number;
  /** False exactly when there are anomalies. */
  readonly chainValid: boolean;
  readonly checkpointsValid: boolean;
  /** Those that end within what was asked for. */
  readonly checkpoints: readonly Checkpoint[];
  /** The first ones, at most a thousand. */
  readonly anomalies: readonly AuditAnomaly[];
}

/**
 * Verifies a part of a chain while it is read: every hash, every link, and every checkpoint that covers any of it, with all that the
 * checkpoint covers. It holds no more than one entry and a tree's levels, however long the part is.
 *
 * @param publicKeys of the signer, in base64 (SPKI); former ones, too, while their checkpoints are kept
 * @throws {RangeError} for a range that is none
 * @example
 * const { chainValid, anomalies } = await verifyAudit(reader, { fromSeq: 1, toSeq: 1_000_000, publicKeys });
 */
export async function verifyAudit(
  reader: AuditReader,
  range: { readonly fromSeq: number; readonly toSeq: number; readonly publicKeys: readonly string[] },
): Promise<AuditVerification> {
  const { fromSeq, toSeq, publicKeys } = range;
  if (!Number.isSafeInteger(fromSeq) || !Number.isSafeInteger(toSeq) || fromSeq < 0 || toSeq < fromSeq) {
    throw new RangeError('verifyAudit: fromSeq and toSeq must be whole numbers with 0 <= fromSeq <= toSeq.');
  }
  const covering = await reader.checkpoints(fromSeq, toSeq);
  const asked = covering.filter(({ atSequence }) => atSequence >= fromSeq);
  const before = covering.filter(({ atSequence }) => atSequence < fromSeq).at(-1)?.atSequence ?? 0;
  const head = await reader.head();
  // What a checkpoint was made of must be there, whatever the head says.
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

/** What is expected next, and what has been found wrong so far. */
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
      // Of an entry before the first that is gone, nothing can be said but that it is gone.
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

  /** A checkpoint holds for exactly the entries since the one before it. */
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
