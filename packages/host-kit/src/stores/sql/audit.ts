import type { ChainHead, Checkpoint, StoredEntry } from '@svc/auth/audit';
import { integer, optional, type Row, text } from './row.ts';

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

export function checkpointOf(row: Row): Checkpoint {
  return {
    checkpoint: text(row, 'checkpoint'),
    atSequence: integer(row, 'at_sequence'),
    merkleRoot: text(row, 'merkle_root'),
    signature: text(row, 'signature'),
  };
}
