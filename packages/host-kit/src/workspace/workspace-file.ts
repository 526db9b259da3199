import type { Tenancy } from '@svc/auth';

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
