import type { WorkspaceFileHead } from './workspace.ts';

/** A file of the workspace as a run reads it. */
export interface RunFile extends WorkspaceFileHead {
  readonly content: string;
}

/** A file as an engine writes it. */
export interface NewRunFile {
  /** 1 to 256 characters of `A-Z a-z 0-9 . _ - /`, a letter or digit first, without `..`. */
  readonly path: string;
  readonly content: string;
  /** Default `text/markdown`. */
  readonly contentType?: string;
}

/** The condition under which an engine changes a file. */
export interface RunFileCondition {
  /** The `etag` that the current file must have; null: there must be no such file. Absent: no condition. */
  readonly etag?: string | null;
  /** The node that changes the file, for the log. Default: none. */
  readonly nodeId?: string;
}

/**
 * The files of the run's workspace, or of the whole tenant for a run without workspace. Reads see the files as they were
 * when the run started, until it ends: neither its own writes nor those of others change them.
 */
export interface RunFiles {
  /**
   * Lists the files whose path begins with `prefix`, by path. Default: all of them.
   *
   * @throws {TypeError} when the host serves no workspace files
   * @example
   * for (const { path } of await files.list('notes/')) texts.push((await files.read(path))?.content);
   */
  list(prefix?: string): Promise<readonly WorkspaceFileHead[]>;
  /**
   * Reads a file. Resolves with undefined when there was none.
   *
   * @throws {TypeError} when the host serves no workspace files
   */
  read(path: string): Promise<RunFile | undefined>;
  /**
   * Creates or replaces a file and records `workspace.updated`, in one transaction.
   *
   * @throws {TypeError} in a replay, for a path that is not allowed, and when the host serves no workspace files
   * @throws {HostError} `workspace_conflict` when the condition does not hold, `workspace_too_large`
   * @throws {RunLeft} when the run is left and the file is not written
   * @example
   * await files.put({ path: 'notes/plan.md', content: plan }, { etag: null });
   */
  put(file: NewRunFile, condition?: RunFileCondition): Promise<WorkspaceFileHead>;
  /**
   * Removes a file and records `workspace.updated`, in one transaction.
   *
   * @throws {TypeError} in a replay, for a path that is not allowed, and when the host serves no workspace files
   * @throws {HostError} `not_found`, or `workspace_conflict` when the condition does not hold
   * @throws {RunLeft} when the run is left and the file is not removed
   */
  remove(path: string, condition?: RunFileCondition): Promise<void>;
}
