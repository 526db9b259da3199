/** A key as its users know it. */
export interface KnownKey {
  readonly key: string;
  readonly id: string;
  /** Whether the answer to a revocation has arrived. */
  isRevoked: boolean;
  /** The revocations and rotations without an answer yet. */
  changes: number;
  /** The end of its grace period after a rotation, in milliseconds since the epoch. */
  endsAt: number | undefined;
}

/**
 * Returns the answer that a request with a key must get: after the answer to a revocation, and after a grace period, it is
 * refused. A key that is live from the begin of the request to its end is accepted. In between, either is right.
 *
 * @param before the key at the begin of the request
 * @param after the key at its end
 */
export function verdictOn(
  before: Readonly<KnownKey>,
  after: Readonly<KnownKey>,
  { begunAt, endedAt }: { readonly begunAt: number; readonly endedAt: number },
): 'accepted' | 'refused' | 'either' {
  if (before.isRevoked || (before.endsAt !== undefined && begunAt >= before.endsAt)) return 'refused';
  const isChanging = before.changes > 0 || after.changes > 0;
  const hasEnded = after.isRevoked || (after.endsAt !== undefined && endedAt >= after.endsAt);
  return isChanging || hasEnded ? 'either' : 'accepted';
}
