import type { Tenancy } from '@svc/auth';
import type { AuditFact, AuditReader, Checkpoint, StoredEntry } from '@svc/auth/audit';
import type { TreeReader, TreeRun } from '@svc/auth/audit-tree';
import type { Transaction } from './transaction.ts';

/**
 * The audit log: one hash chain of entries for the whole store, signed checkpoints over parts of it, and the Merkle tree of
 * all entries up to the last checkpoint. All of it is only added; entries and checkpoints before a checkpoint can be removed
 * together, and with them the hashes, notes and postings that only they need.
 */
export interface AuditStore extends AuditReader, TreeReader {
  /**
   * Adds facts to the end of the chain, in their order, with `nextEntry` of `@svc/auth/audit`. Appends of different
   * transactions wait for each other, because the chain has one end. Call it last in a transaction, so that they wait
   * as briefly as possible; a store may add the facts with the commit.
   *
   * @param order `last`: for facts on which no caller waits. Of all hosts, one such append at a time waits for the end of the
   * chain, so that others wait for one of them at most. Default: in the order of the calls
   */
  append(facts: readonly AuditFact[], transaction: Transaction, order?: 'last'): Promise<void>;
  /** Returns up to `limit` entries after the last checkpoint, oldest first. */
  unsealed(limit: number): Promise<readonly SealableEntry[]>;
  /**
   * Adds a checkpoint and the growth of the tree, if the last checkpoint still ends at `after` (0: there is none) and the
   * tree at `growth.from`. Otherwise nothing happens: another host has added a checkpoint meanwhile, and this one would
   * overlap it.
   */
  seal(checkpoint: Checkpoint, after: number, growth: TreeGrowth, transaction: Transaction): Promise<void>;
  /** Adds hashes to the tree if it still ends at `growth.from`, as for entries that are older than the tree. */
  grow(growth: TreeGrowth, transaction: Transaction): Promise<void>;
  /** Returns the number of leaves of the tree. */
  treeSize(): Promise<number>;
  /** Returns the newest note that was stored with the tree; undefined before the first. */
  note(): Promise<string | undefined>;
  /**
   * Returns the entries of a tenancy, newest first. Entries that name no tenant, no mode, or no workspace that the tenancy
   * reaches are left out; a tenancy of all workspaces also gets those without a workspace.
   */
  list(tenancy: Tenancy, query: AuditQuery): Promise<AuditPage>;
  /** Returns the checkpoint with which the log starts; undefined when it starts with its first entry. */
  start(): Promise<Checkpoint | undefined>;
  /**
   * Lets the log start with a stored checkpoint. The entry `atSequence` stays, so that the next one is linked to it.
   * `sweep` deletes the records before it. Returns false, and changes nothing, when there is no such
   * checkpoint, or the log starts there or later already.
   */
  startAt(checkpoint: Pick<Checkpoint, 'atSequence'>, transaction: Transaction): Promise<boolean>;
  /**
   * Deletes up to `limit` records before the start of the log: postings, hashes of the tree, notes, entries and checkpoints.
   * The newest note stays, and so does every hash that proves a remaining entry, or the growth of the tree from the start of
   * the log on. Returns their number; 0 when there is none.
   */
  sweep(limit: number): Promise<number>;
}

/** The part of an entry that a checkpoint needs. */
export type SealableEntry = Pick<StoredEntry, 'atSequence' | 'hash' | 'action' | 'actor' | 'details'>;

/** Hashes that a tree gains. */
export interface TreeGrowth {
  /** The number of leaves before. */
  readonly from: number;
  readonly runs: readonly TreeRun[];
  /** Where to find the new entries. */
  readonly postings: readonly AuditPosting[];
  /** The signed note of the new head. Default: none. */
  readonly note?: string;
}

/**
 * The sequences of the new entries of a tenant and mode that have something in common. A listing finds entries by them: an
 * index that grows with the tree costs no request anything.
 */
export interface AuditPosting extends PostingKey {
  /** The first sequence of the growth. */
  readonly first: number;
  /** Rising. */
  readonly sequences: readonly number[];
}

/** Tells which entries a posting has: all of the tenant, those of a principal, or those with an action. */
export interface PostingKey {
  readonly tenant: string;
  readonly mode: string;
  readonly by: 'tenant' | 'actor' | 'action';
  /** The principal or the action; empty for all entries. */
  readonly value: string;
}

/** The entries that a page has. */
export interface AuditQuery {
  /** Entries before this sequence. Default: from the newest. */
  readonly before?: number | undefined;
  /** The most entries, at least 1. */
  readonly limit: number;
  /** Entries with this action. Default: every action. */
  readonly action?: string | undefined;
  /** Entries of this principal. Default: every principal. */
  readonly principal?: string | undefined;
}

/** A page of entries. It may be shorter than the limit, or empty, and still not be the last one. */
export interface AuditPage {
  readonly entries: readonly StoredEntry[];
  /** The `before` of the next page; undefined on the last one. */
  readonly next: number | undefined;
}

/** The most entries that a store examines for one page. */
export const MOST_EXAMINED = 5000;
