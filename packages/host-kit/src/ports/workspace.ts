import type { Tenancy } from '@svc/auth';
import type { Transaction } from './transaction.ts';

/** The owner of files: a workspace, or the whole tenant when `workspace` is absent. Live and test mode are separate. */
export interface WorkspacePlace {
  readonly tenant: string;
  readonly workspace?: string;
  readonly mode: 'live' | 'test';
}

/** A file without its content. */
export interface WorkspaceFileHead {
  readonly path: string;
  /** 1 at first; each change adds 1. */
  readonly version: number;
  /** Unique to this version. */
  readonly etag: string;
  readonly contentType: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** A version of a file with its content. */
export interface WorkspaceFile extends WorkspaceFileHead {
  /** UTF-8. */
  readonly content: Uint8Array;
}

/** The content of a file as a text, with the U+FEFF at its start if one was written. */
export function textOf({ content }: Pick<WorkspaceFile, 'content'>): string {
  return UTF_8.decode(content);
}

const UTF_8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** The newest version of a path. A removal is a version, too. */
export interface NewestVersion {
  readonly version: number;
  /** Undefined: the file was removed. */
  readonly etag: string | undefined;
}

/** Returns the place of a credential: its first workspace, or the tenant for a tenant-wide credential. */
export function placeOf({ tenant, workspaces, mode }: Tenancy): WorkspacePlace {
  const workspace = workspaces === 'all' ? undefined : workspaces[0];
  return { tenant, mode, ...(workspace !== undefined && { workspace }) };
}

/**
 * The versioned files of workspaces. Every query takes the caller's own place, which isolates tenants and workspaces.
 */
export interface WorkspaceStore {
  /** Lists the current files whose path begins with `prefix`, by path. */
  list(place: WorkspacePlace, prefix: string): Promise<readonly WorkspaceFileHead[]>;
  /**
   * Returns a version of a file; undefined `version`: the current one. Undefined when it does not exist or was pruned.
   */
  read(place: WorkspacePlace, path: string, version: number | undefined): Promise<WorkspaceFile | undefined>;
  /**
   * Returns the newest version of a path. Until the transaction ends, no other transaction adds a version to the place.
   */
  newest(place: WorkspacePlace, path: string, transaction: Transaction): Promise<NewestVersion | undefined>;
  /**
   * Returns the revision of a place: the number of its latest change, 0 before the first. Until the transaction ends, no
   * other transaction changes the place.
   */
  revision(place: WorkspacePlace, transaction: Transaction): Promise<number>;
  /** Lists the files as they were at a revision, by path. It must be the `filesRevision` of a run that has not ended. */
  listAt(place: WorkspacePlace, revision: number): Promise<readonly WorkspaceFileHead[]>;
  /** Returns a file as it was at a revision, under the condition of `listAt`. Undefined when there was none. */
  readAt(place: WorkspacePlace, path: string, revision: number): Promise<WorkspaceFile | undefined>;
  /** Counts the current files. */
  count(place: WorkspacePlace, transaction: Transaction): Promise<number>;
  /**
   * Adds a version, and deletes versions that are `keep` or more before it. A version that a run reads, by its
   * `filesRevision`, is kept until a later change of the file.
   */
  put(place: WorkspacePlace, file: WorkspaceFile, keep: number, transaction: Transaction): Promise<void>;
  /**
   * Adds the removal as a version, and deletes versions that are `keep.versions` or more before it. Of the removed
   * files of the place, only the `keep.removed` most recently removed ones keep their versions. Versions that runs read
   * are kept as by `put`.
   */
  remove(
    place: WorkspacePlace,
    removal: Pick<WorkspaceFileHead, 'path' | 'version' | 'updatedAt'>,
    keep: { readonly versions: number; readonly removed: number },
    transaction: Transaction,
  ): Promise<void>;
}
