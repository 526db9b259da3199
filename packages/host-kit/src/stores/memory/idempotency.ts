import {
  type BeginOptions,
  type Begun,
  type IdempotencyClaim,
  type IdempotencyKey,
  type IdempotencyStore,
  isLeased,
  sealedForReply,
} from '../../ports/idempotency.ts';
import { type Journal, put } from './journal.ts';

interface Entry {
  readonly key: IdempotencyKey;
  readonly owner: string;
  readonly digest: string;
  readonly leaseUntil: number;
  readonly expiresAt: number;
  /** The reply, encrypted. Undefined while the request is executed. */
  readonly sealed: Uint8Array | undefined;
}

export function idempotencyStore(journal: Journal): IdempotencyStore {
  const entries = new Map<string, Entry>();
  const claimed = (claim: IdempotencyClaim): Entry | undefined => {
    const entry = entries.get(sealedForReply(claim));
    return entry?.sealed === undefined && entry?.owner === claim.owner ? entry : undefined;
  };

  return {
    begin(claim, options) {
      return journal.transaction(async (transaction): Promise<Begun> => {
        const { digest, leaseUntil, expiresAt } = options;
        const id = sealedForReply(claim);
        const standing = standingOf(entries.get(id), options);
        if (standing !== undefined) return standing;
        const { owner, ...key } = claim;
        put(journal, transaction, entries, id, { key, owner, digest, leaseUntil, expiresAt, sealed: undefined });
        return { kind: 'claimed' };
      });
    },
    async complete(claim, { sealed, expiresAt }, transaction) {
      const entry = claimed(claim);
      if (entry === undefined) return false;
      put(journal, transaction, entries, sealedForReply(claim), { ...entry, sealed, expiresAt });
      return true;
    },
    release(claim) {
      return journal.transaction(async (transaction) => {
        if (claimed(claim) !== undefined) put(journal, transaction, entries, sealedForReply(claim), undefined);
      });
    },
    sweep(now, limit) {
      return journal.transaction(async (transaction) => {
        const expired = [...entries].filter(([, { expiresAt }]) => expiresAt <= now).slice(0, limit);
        for (const [id] of expired) put(journal, transaction, entries, id, undefined);
        return expired.length;
      });
    },
    async page({ after, limit }) {
      const from = after === undefined ? '' : sealedForReply(after);
      const kept = [...entries].flatMap(([id, { key, sealed }]) =>
        id > from && sealed !== undefined ? [{ id, reply: { ...key, sealed } }] : [],
      );
      return kept
        .sort((one, other) => (one.id < other.id ? -1 : 1))
        .slice(0, limit)
        .map(({ reply }) => reply);
    },
    async reseal(reply, sealed, transaction) {
      const id = sealedForReply(reply);
      const entry = entries.get(id);
      if (entry?.sealed === undefined || Buffer.compare(entry.sealed, reply.sealed) !== 0) return;
      put(journal, transaction, entries, id, { ...entry, sealed });
    },
  };
}

/** Returns the answer to a caller that cannot claim the key; undefined when the key can be claimed. */
function standingOf(entry: Entry | undefined, options: BeginOptions): Begun | undefined {
  const { digest, now } = options;
  if (entry === undefined || entry.expiresAt <= now) return undefined;
  if (entry.digest !== digest) return { kind: 'mismatch' };
  if (entry.sealed !== undefined) return { kind: 'completed', sealed: entry.sealed };
  return isLeased(entry.leaseUntil, options) ? { kind: 'in-flight', leaseUntil: entry.leaseUntil } : undefined;
}
