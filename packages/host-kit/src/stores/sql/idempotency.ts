import type { BeginOptions, Begun, IdempotencyKey, KeptReply } from '../../ports/idempotency.ts';
import { bytes, integer, optional, type Row, text } from './row.ts';

/** How a key is named in every statement. */
export function keyColumns({ tenant, mode, operation, keyHash }: IdempotencyKey): [string, string, string, string] {
  return [tenant, mode, operation, keyHash];
}

export function keptReplyOf(row: Row): KeptReply {
  return {
    tenant: text(row, 'tenant'),
    mode: text(row, 'mode') === 'live' ? 'live' : 'test',
    operation: text(row, 'operation'),
    keyHash: text(row, 'key_hash'),
    sealed: bytes(row, 'sealed'),
  };
}

/** Where the key of a row stands; undefined: it can be claimed from the owner that the row names. */
export function standingOf(row: Row, { digest, now }: BeginOptions): Begun | undefined {
  if (integer(row, 'expires_at') <= now) return undefined;
  if (text(row, 'digest') !== digest) return { kind: 'mismatch' };
  const sealed = optional(row, 'sealed', bytes);
  if (sealed !== undefined) return { kind: 'completed', sealed };
  const leaseUntil = integer(row, 'lease_until');
  return leaseUntil > now ? { kind: 'in-flight', leaseUntil } : undefined;
}
