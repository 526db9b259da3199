import { type Checkpoint, coveringCheckpoints, nextEntry, type StoredEntry } from '@svc/auth/audit';
import { type AuditStore, MOST_EXAMINED, type TreeGrowth } from '../../ports/audit.ts';
import type { Transaction } from '../../ports/transaction.ts';
import { isListed } from '../audit-list.ts';
import type { Journal } from './journal.ts';

export function auditStore(journal: Journal): AuditStore {
  const entries: StoredEntry[] = [];
  const checkpoints: Checkpoint[] = [];
  /** The last entry before the start of the log; 0 when it starts with its first entry. */
  let start = 0;
  const notes: string[] = [];
  /** The hashes of the tree by stored level, and the position of the first one that is kept. */
  const levels: { first: number; hashes: string[] }[] = [];
  const sizeOf = (level: number): number => endOf(levels[level] ?? { first: 0, hashes: [] });

  return {
    async grow(growth, transaction) {
      grow(growth, transaction);
    },
    async hashes(level, from, count) {
      const { first, hashes } = levels[level] ?? { first: 0, hashes: [] };
      return from < first ? [] : hashes.slice(from - first, from - first + count);
    },
    treeSize: async () => sizeOf(0),
    note: async () => notes.at(-1),
    async list(tenancy, query) {
      const { before = Number.POSITIVE_INFINITY, limit } = query;
      const found: StoredEntry[] = [];
      const first = Math.max(start, entries[0]?.atSequence ?? 1);
      let examined = 0;
      for (let at = Math.min(before - 1, entries.at(-1)?.atSequence ?? 0); at >= first && found.length < limit; at--) {
        if (++examined > MOST_EXAMINED) return { entries: found, next: at + 1 };
        const entry = entries[at - (entries[0]?.atSequence ?? 1)];
        if (entry !== undefined && isListed(entry, tenancy, query)) found.push(entry);
      }
      const lowest = found.at(-1)?.atSequence ?? first;
      return { entries: found, next: found.length === limit && lowest > first ? lowest : undefined };
    },
    async append(facts, transaction) {
      const before = entries.length;
      journal.record(transaction, () => entries.splice(before));
      for (const fact of facts) entries.push(nextEntry(entries.at(-1), fact));
    },
    async unsealed(limit) {
      const covered = checkpoints.at(-1)?.atSequence ?? 0;
      const from = Math.max(0, covered + 1 - (entries[0]?.atSequence ?? 1));
      return entries.slice(from, from + limit);
    },
    async seal(checkpoint, after, growth, transaction) {
      if ((checkpoints.at(-1)?.atSequence ?? 0) !== after) return;
      const before = checkpoints.length;
      journal.record(transaction, () => checkpoints.splice(before));
      checkpoints.push(checkpoint);
      grow(growth, transaction);
    },
    start: async () => checkpoints.find(({ atSequence }) => atSequence === start),
    async startAt({ atSequence }, transaction) {
      if (atSequence <= start || !checkpoints.some((stored) => stored.atSequence === atSequence)) return false;
      const before = start;
      journal.record(transaction, () => {
        start = before;
      });
      start = atSequence;
      return true;
    },
    sweep: (limit) =>
      journal.transaction(async () => {
        let swept = sweepTree();
        for (const list of [entries, checkpoints]) {
          const old = list.findIndex(({ atSequence }) => atSequence >= start);
          swept += list.splice(0, Math.min(Math.max(0, old), limit - swept)).length;
        }
        return swept;
      }),
    head: async () => entries.at(-1),
    async *entries(fromSeq, toSeq) {
      const before = (entries[0]?.atSequence ?? 1) - 1;
      yield* entries.slice(Math.max(0, fromSeq - 1 - before), Math.max(0, toSeq - before));
    },
    checkpoints: async (fromSeq, toSeq) => coveringCheckpoints(checkpoints, fromSeq, toSeq),
  };

  function grow({ from, runs, note }: TreeGrowth, transaction: Transaction): void {
    if (sizeOf(0) !== from) return;
    const before = levels.map(endOf);
    const noted = notes.length;
    journal.record(transaction, () => {
      for (const [level, { first, hashes }] of levels.entries())
        hashes.splice(Math.max(0, (before[level] ?? 0) - first));
      notes.splice(noted);
    });
    for (const { level, hashes } of runs) {
      const stored = levels[level] ?? { first: 0, hashes: [] };
      levels[level] = stored;
      stored.hashes.push(...hashes);
    }
    if (note !== undefined) notes.push(note);
  }

  /** Deletes the earlier notes, and the hashes that no proof from the start of the log on needs. Returns the number of blocks. */
  function sweepTree(): number {
    if (start === 0) return 0;
    notes.splice(0, notes.length - 1);
    let blocks = 0;
    for (const [level, stored] of levels.entries()) {
      const keptFrom = Math.floor((start - 1) / 256 ** (level + 1)) * 256;
      const gone = stored.hashes.splice(0, Math.max(0, keptFrom - stored.first));
      stored.first += gone.length;
      blocks += gone.length / 256;
    }
    return blocks;
  }
}

function endOf({ first, hashes }: { readonly first: number; readonly hashes: readonly string[] }): number {
  return first + hashes.length;
}
