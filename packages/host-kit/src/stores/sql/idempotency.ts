import {
  type BeginOptions,
  type Begun,
  type IdempotencyKey,
  isLeased,
  type KeptReply,
} from '../../ports/idempotency.ts';
import { bytes, integer, optional, type Row, text } from './row.ts';

/** Returns the columns of the primary key, in the order in which every statement names them. */
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

/**
 * Returns the answer to a caller that cannot claim the key of a row; undefined when it can be taken over from the row's
 * owner.
 */
export function standingOf(row: Row, options: BeginOptions): Begun | undefined {
  const { digest, now } = options;
  if (integer(row, 'expires_at') <= now) return undefined;
  if (text(row, 'digest') !== digest) return { kind: 'mismatch' };
  const sealed = optional(row, 'sealed', bytes);
  if (sealed !== undefined) return { kind: 'completed', sealed };
  const leaseUntil = integer(row, 'lease_until');
  return isLeased(leaseUntil, options) ? { kind: 'in-flight', leaseUntil } : undefined;
}
