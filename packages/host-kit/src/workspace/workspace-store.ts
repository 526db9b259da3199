import type { Transaction } from '../transaction.ts';
import type { NewestVersion, WorkspaceFile, WorkspaceFileHead, WorkspacePlace } from './workspace-file.ts';

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
