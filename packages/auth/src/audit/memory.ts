import { type ChainHead, nextEntry, type StoredEntry } from './chain.ts';
import { type Checkpoint, type CheckpointSigner, sealed } from './checkpoint.ts';
import type { AuditFact } from './fact.ts';
import { merkleTree } from './merkle.ts';
import type { AuditReader } from './verify.ts';

/** An audit log in memory. It is lost with its process. */
export interface MemoryAuditLog extends AuditReader {
  /**
   * Appends a fact and returns its entry.
   *
   * @throws {TypeError} for a fact that `checkedFact` refuses
   */
  append(fact: AuditFact): StoredEntry;
  /** Signs the entries since the last checkpoint. Returns undefined when there are none. */
  seal(signer: CheckpointSigner, newId: () => string): Promise<Checkpoint | undefined>;
}

/**
 * Makes an audit log in memory, for tests and trials. It grows without limit and is not persistent.
 *
 * @example
 * const log = memoryAuditLog();
 * const occurredAt = new Date().toISOString();
 * log.append({ action: 'key.created', actor: 'p_1', target: 'key_1', occurredAt, details: {} });
 */
export function memoryAuditLog(): MemoryAuditLog {
  const entries: StoredEntry[] = [];
  const checkpoints: Checkpoint[] = [];
  const headOf = (): ChainHead | undefined => entries.at(-1);

  return {
    append(fact) {
      const entry = nextEntry(headOf(), fact);
      entries.push(entry);
      return entry;
    },
    async seal(signer, newId) {
      const covered = checkpoints.at(-1)?.atSequence ?? 0;
      const fresh = entries.slice(covered);
      const last = fresh.at(-1);
      if (last === undefined) return undefined;
      const tree = merkleTree();
      for (const { hash } of fresh) tree.add(hash);
      const unsigned = { checkpoint: newId(), atSequence: last.atSequence, merkleRoot: tree.root() };
      const checkpoint = await sealed(unsigned, signer);
      checkpoints.push(checkpoint);
      return checkpoint;
    },
    head: async () => headOf(),
    async *entries(fromSeq, toSeq) {
      for (const entry of entries) if (entry.atSequence >= fromSeq && entry.atSequence <= toSeq) yield entry;
    },
    async checkpoints(fromSeq, toSeq) {
      return coveringCheckpoints(checkpoints, fromSeq, toSeq);
    },
  };
}

/**
 * Returns the checkpoints that cover any entry of a range, and the last one before them.
 *
 * @param all every checkpoint, in order
 * @example
 * const found = coveringCheckpoints(checkpoints, 1, 1000);
 */
export function coveringCheckpoints(all: readonly Checkpoint[], fromSeq: number, toSeq: number): readonly Checkpoint[] {
  const first = all.findIndex(({ atSequence }) => atSequence >= fromSeq);
  const last = all.findIndex(({ atSequence }) => atSequence >= toSeq);
  return all.slice(Math.max(0, first === -1 ? all.length - 1 : first - 1), last === -1 ? all.length : last + 1);
}
