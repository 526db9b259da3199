import { reachesWorkspace, type Tenancy } from '@svc/auth';
import type { ChainHead, Checkpoint, StoredEntry } from '@svc/auth/audit';
import { type AuditPage, type AuditPosting, type AuditQuery, MOST_EXAMINED, type PostingKey } from '../ports/audit.ts';

/** The reads of a store that a listing needs. */
export interface ListReader {
  head(): Promise<ChainHead | undefined>;
  /** Returns the checkpoint with which the log starts: entries before it are removed, or about to be. */
  start(): Promise<Pick<Checkpoint, 'atSequence'> | undefined>;
  treeSize(): Promise<number>;
  entries(fromSeq: number, toSeq: number): AsyncIterable<StoredEntry>;
  /** Returns the entries with these sequences, in any order. */
  at(sequences: readonly number[]): Promise<readonly StoredEntry[]>;
  /** Returns the posting of a key whose `first` is the highest below `before`; undefined when there is none. */
  posting(key: PostingKey, before: number): Promise<Pick<AuditPosting, 'first' | 'sequences'> | undefined>;
}

/**
 * Lists entries, newest first. Those behind the tree are read one by one: they are few. All others are found by their
 * postings. One page examines at most 5000 entries.
 */
export async function listEntries(reader: ListReader, tenancy: Tenancy, query: AuditQuery): Promise<AuditPage> {
  const [head, treeSize] = [await reader.head(), await reader.treeSize()];
  const start = (await reader.start())?.atSequence ?? 1;
  const before = Math.min(query.before ?? Number.MAX_SAFE_INTEGER, (head?.atSequence ?? 0) + 1);
  const page = new PageInProgress(tenancy, query);
  const key = keyOf(tenancy, query);
  let end = before;
  while (end - 1 > treeSize && !page.isDone) {
    const from = Math.max(treeSize + 1, end - ENTRIES_AT_ONCE);
    const entries: StoredEntry[] = [];
    for await (const entry of reader.entries(from, end - 1)) entries.push(entry);
    page.take(entries.reverse(), from);
    end = from;
  }
  while (!page.isDone) {
    const posting = await reader.posting(key, Math.min(end, treeSize + 1));
    if (posting === undefined || (posting.sequences.at(-1) ?? 0) < start) return page.whole();
    const newestFirst = posting.sequences.filter((sequence) => sequence < before && sequence >= start).reverse();
    for (let at = 0; at < newestFirst.length && !page.isDone; at += ENTRIES_AT_ONCE) {
      const sequences = newestFirst.slice(at, at + ENTRIES_AT_ONCE);
      const found = await reader.at(sequences);
      const sorted = found.toSorted((left, right) => right.atSequence - left.atSequence);
      page.take(sorted, sequences.at(-1) ?? posting.first);
    }
    end = posting.first;
  }
  return page.cut();
}

const ENTRIES_AT_ONCE = 250;

/** Returns whether an entry is one of a tenancy, and meets the filters of a query. */
export function isListed({ action, actor, details }: StoredEntry, tenancy: Tenancy, query: AuditQuery): boolean {
  if (details.tenant !== tenancy.tenant || details.mode !== tenancy.mode) return false;
  if (query.action !== undefined && action !== query.action) return false;
  if (query.principal !== undefined && actor !== query.principal) return false;
  return reachesWorkspace(tenancy, typeof details.workspace === 'string' ? details.workspace : undefined);
}

/** The posting with the fewest entries that has every entry of the query. */
function keyOf({ tenant, mode }: Tenancy, { action, principal }: AuditQuery): PostingKey {
  if (principal !== undefined) return { tenant, mode, by: 'actor', value: principal };
  if (action !== undefined) return { tenant, mode, by: 'action', value: action };
  return { tenant, mode, by: 'tenant', value: '' };
}

class PageInProgress {
  readonly #tenancy: Tenancy;
  readonly #query: AuditQuery;
  readonly #entries: StoredEntry[] = [];
  #examined = 0;
  /** The `before` of the next page. */
  #next: number | undefined;

  constructor(tenancy: Tenancy, query: AuditQuery) {
    this.#tenancy = tenancy;
    this.#query = query;
  }

  get isDone(): boolean {
    return this.#entries.length === this.#query.limit || this.#examined >= MOST_EXAMINED;
  }

  /** @param down the lowest sequence that the entries reach down to */
  take(newestFirst: readonly StoredEntry[], down: number): void {
    for (const entry of newestFirst) {
      if (this.isDone) return;
      this.#examined++;
      this.#next = entry.atSequence;
      if (isListed(entry, this.#tenancy, this.#query)) this.#entries.push(entry);
    }
    if (!this.isDone) this.#next = down;
  }

  whole(): AuditPage {
    return { entries: this.#entries, next: undefined };
  }

  cut(): AuditPage {
    return { entries: this.#entries, next: this.#next === undefined || this.#next <= 1 ? undefined : this.#next };
  }
}
