import { type Checkpoint, coveringCheckpoints, nextEntry, type StoredEntry } from '@svc/auth/audit';
import type { AuditStore } from '../../ports/audit.ts';
import type { Journal } from './journal.ts';

export function auditStore(journal: Journal): AuditStore {
  const entries: StoredEntry[] = [];
  const checkpoints: Checkpoint[] = [];

  return {
    async append(facts, transaction) {
      const before = entries.length;
      journal.record(transaction, () => entries.splice(before));
      for (const fact of facts) entries.push(nextEntry(entries.at(-1), fact));
    },
    async unsealed(limit) {
      const covered = checkpoints.at(-1)?.atSequence ?? 0;
      return entries.slice(covered, covered + limit);
    },
    async seal(checkpoint, after, transaction) {
      if ((checkpoints.at(-1)?.atSequence ?? 0) !== after) return;
      const before = checkpoints.length;
      journal.record(transaction, () => checkpoints.splice(before));
      checkpoints.push(checkpoint);
    },
    head: async () => entries.at(-1),
    async *entries(fromSeq, toSeq) {
      yield* entries.slice(Math.max(0, fromSeq - 1), toSeq);
    },
    checkpoints: async (fromSeq, toSeq) => coveringCheckpoints(checkpoints, fromSeq, toSeq),
  };
}
