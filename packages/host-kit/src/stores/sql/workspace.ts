import type { NewestVersion, WorkspaceFile, WorkspaceFileHead, WorkspacePlace } from '../../ports/workspace.ts';
import { bytes, integer, optional, type Row, text } from './row.ts';

/** How a place is named in every statement. No workspace is called the empty text, so it stands for the whole tenant. */
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

/** The texts that begin with `prefix` are those from it up to here, in the order of bytes. The characters of a path are ASCII. */
export function afterPrefix(prefix: string): string {
  return `${prefix}\u007f`;
}
