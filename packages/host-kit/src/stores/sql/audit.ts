import type { ChainHead, Checkpoint, StoredEntry } from '@svc/auth/audit';
import type { AuditPosting, SealableEntry } from '../../ports/audit.ts';
import { bytes, integer, optional, type Row, text } from './row.ts';

export function headOf(row: Row | undefined): ChainHead | undefined {
  return row && { atSequence: integer(row, 'at_sequence'), hash: text(row, 'hash') };
}

export function entryOf(row: Row): StoredEntry {
  return {
    atSequence: integer(row, 'at_sequence'),
    action: text(row, 'action'),
    actor: optional(row, 'actor', text) ?? null,
    target: optional(row, 'target', text) ?? null,
    occurredAt: text(row, 'occurred_at'),
    details: JSON.parse(text(row, 'details')),
    prevHash: optional(row, 'prev_hash', text) ?? null,
    hash: text(row, 'hash'),
  };
}

/** The columns of `sealableOf`. */
export const SEALABLE = 'at_sequence, hash, action, actor, details';

export function sealableOf(row: Row): SealableEntry {
  return {
    atSequence: integer(row, 'at_sequence'),
    hash: text(row, 'hash'),
    action: text(row, 'action'),
    actor: optional(row, 'actor', text) ?? null,
    details: JSON.parse(text(row, 'details')),
  };
}

export function checkpointOf(row: Row): Checkpoint {
  return {
    checkpoint: text(row, 'checkpoint'),
    atSequence: integer(row, 'at_sequence'),
    merkleRoot: text(row, 'merkle_root'),
    signature: text(row, 'signature'),
  };
}

/**
 * Selects, for each stored level, the position from which hashes are kept: the block of 256 with which the proofs of the
 * first remaining entry begin. Every hash of a proof of a later entry, or from a later size, is in that block or after it.
 */
export const TREE_KEPT_FROM = `SELECT l.level, ((s.at_sequence - 1) >> (8 * (l.level + 1))) << 8 AS kept_from
  FROM (SELECT 0 AS level UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5) l
  CROSS JOIN audit_start s WHERE s.at_sequence > 0`;

/** The hashes of a run of a tree as one value. */
export function bytesOfHashes(hashes: readonly string[]): Uint8Array {
  return Buffer.from(hashes.join(''), 'hex');
}

/** Returns up to `count` hashes from the position `from`, of the rows of runs that hold them. */
export function hashesIn(rows: readonly Row[], from: number, count: number): readonly string[] {
  const hashes: string[] = [];
  for (const row of rows) {
    const [first, run] = [integer(row, 'first'), bytes(row, 'hashes')];
    const hex = Buffer.from(run.buffer, run.byteOffset, run.byteLength).toString('hex');
    for (let at = Math.max(0, from - first); at < run.length / 32 && hashes.length < count; at++)
      hashes.push(hex.slice(at * 64, at * 64 + 64));
  }
  return hashes;
}

/** Reads the sequences of a posting, and its first. */
export function postingOf(row: Row): { readonly first: number; readonly sequences: readonly number[] } {
  const first = integer(row, 'first');
  return {
    first,
    sequences: text(row, 'offsets')
      .split(',')
      .map((offset) => first + Number(offset)),
  };
}

/** The sequences of a posting as one text, relative to its first. */
export function offsetsOf({ first, sequences }: AuditPosting): string {
  return sequences.map((sequence) => sequence - first).join(',');
}
