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
