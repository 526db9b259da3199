import type { NewestVersion, WorkspaceFile, WorkspaceFileHead, WorkspacePlace } from '../../ports/workspace.ts';
import { bytes, integer, optional, type Row, text } from './row.ts';

/**
 * Returns the columns of a place, in the order in which every statement names them. An empty `workspace` is the whole
 * tenant.
 */
export function placeColumns({ tenant, workspace, mode }: WorkspacePlace): [string, string, string] {
  return [tenant, workspace ?? '', mode];
}

export function fileHeadOf(row: Row): WorkspaceFileHead {
  return {
    path: text(row, 'path'),
    version: integer(row, 'version'),
    etag: text(row, 'etag'),
    contentType: text(row, 'content_type'),
    updatedAt: integer(row, 'updated_at'),
  };
}

export function fileOf(row: Row): WorkspaceFile {
  return { ...fileHeadOf(row), content: bytes(row, 'content') };
}

export function newestOf(row: Row): NewestVersion {
  return { version: integer(row, 'version'), etag: optional(row, 'etag', text) };
}

/**
 * Returns the exclusive end of the range of paths that begin with `prefix`, in byte order. Paths are printable ASCII,
 * so each sorts before DEL.
 */
export function afterPrefix(prefix: string): string {
  return `${prefix}\u007f`;
}

/** Holds for a version `old` that no run reads: no run has a revision between that version and the next one. */
export const IS_UNREAD = `NOT EXISTS (SELECT 1 FROM runs WHERE ${inPlaceOf('old')}
  AND runs.files_revision >= old.revision
  AND runs.files_revision < (SELECT min(next.revision) FROM workspace_files AS next
    WHERE next.tenant = old.tenant AND next.workspace = old.workspace AND next.mode = old.mode
    AND next.path = old.path AND next.version > old.version))`;

/** Holds for a removal `gone` that happened before the start of every run, so that no run reads the removed file. */
export const IS_LONG_GONE = `NOT EXISTS (SELECT 1 FROM runs WHERE ${inPlaceOf('gone')}
  AND runs.files_revision < gone.revision)`;

/** Holds for a version `file` that is not followed by another one up to the revision. */
export function isNewestAt(revision: string): string {
  return `file.revision <= ${revision} AND file.etag IS NOT NULL AND NOT EXISTS (SELECT 1 FROM workspace_files AS next
    WHERE next.tenant = file.tenant AND next.workspace = file.workspace AND next.mode = file.mode
    AND next.path = file.path AND next.version > file.version AND next.revision <= ${revision})`;
}

function inPlaceOf(version: string): string {
  return `runs.tenant = ${version}.tenant AND runs.mode = ${version}.mode
  AND coalesce(runs.workspace, '') = ${version}.workspace AND runs.files_revision IS NOT NULL`;
}
