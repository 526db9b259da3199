import type { Tenancy } from '@svc/auth';
import type { Transaction } from './transaction.ts';

/** Where files belong: a workspace, or the whole tenant where none is named; live and test apart. */
export interface WorkspacePlace {
  readonly tenant: string;
  readonly workspace?: string;
  readonly mode: 'live' | 'test';
}

/** What is told of a file beside its content. */
export interface WorkspaceFileHead {
  readonly path: string;
  /** 1 at first, and one more at each change. */
  readonly version: number;
  /** Unlike that of any other version. */
  readonly etag: string;
  readonly contentType: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

export interface WorkspaceFile extends WorkspaceFileHead {
  /** UTF-8. */
  readonly content: Uint8Array;
}

/** The newest version of a path, that of a removal included. */
export interface NewestVersion {
  readonly version: number;
  /** Undefined: the file was removed. */
  readonly etag: string | undefined;
}

/** The credential's workspace, the first where it has several; one for the whole tenant has the files of the tenant. */
export function placeOf({ tenant, workspaces, mode }: Tenancy): WorkspacePlace {
  const workspace = workspaces === 'all' ? undefined : workspaces[0];
  return { tenant, mode, ...(workspace !== undefined && { workspace }) };
}

/** The files of workspaces, in versions. The place is the caller's own, so that isolation is in every query. */
export interface WorkspaceStore {
  /** What there is now, by path. */
  list(place: WorkspacePlace, prefix: string): Promise<readonly WorkspaceFileHead[]>;
  /** What there is now, or the version that is asked for, as long as it is kept. */
  read(place: WorkspacePlace, path: string, version: number | undefined): Promise<WorkspaceFile | undefined>;
  /** The newest version of a path, for whoever is about to add one: nobody else adds one to the place meanwhile. */
  newest(place: WorkspacePlace, path: string, transaction: Transaction): Promise<NewestVersion | undefined>;
  /** How many files there are now. */
  count(place: WorkspacePlace, transaction: Transaction): Promise<number>;
  /** Adds a version, and forgets those that are `keep` or more before it. */
  put(place: WorkspacePlace, file: WorkspaceFile, keep: number, transaction: Transaction): Promise<void>;
  /**
   * Adds the removal as a version, and forgets those that are `keep` or more before it. Of the files of the place that were removed, those
   * that were longest ago are forgotten whole, so that `keepRemoved` are left.
   */
  remove(
    place: WorkspacePlace,
    removal: Pick<WorkspaceFileHead, 'path' | 'version' | 'updatedAt'>,
    keep: { readonly versions: number; readonly removed: number },
    transaction: Transaction,
  ): Promise<void>;
}
