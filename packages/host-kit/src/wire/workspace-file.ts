import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import { textOf, type WorkspaceFile, type WorkspaceFileHead } from '../ports/workspace.ts';

export const fileRequestExample: JsonObject = { content: '# Notes\n', contentType: 'text/markdown' };

const HEAD = {
  path: z.string(),
  version: z.int().min(1).describe('1 for a new file; each change adds 1.'),
  etag: z.string().max(255).describe('The value for `If-Match`.'),
  contentType: z.string(),
  updatedAt: z.iso.datetime(),
};

/** The schema of a workspace file. */
export const workspaceFile: z.ZodType = z.object({ ...HEAD, content: z.string() }).meta({ id: 'WorkspaceFile' });

/** The schema of a list of workspace files, without their content. */
export const workspaceFileList: z.ZodType = z
  .object({ files: z.array(z.object(HEAD).meta({ id: 'WorkspaceFileHead' })) })
  .meta({ id: 'WorkspaceFileList' });

/** A workspace file without its content. */
export function fileHeadBody({ path, version, etag, contentType, updatedAt }: WorkspaceFileHead): JsonObject {
  return { path, version, etag, contentType, updatedAt: new Date(updatedAt).toISOString() };
}

/** A workspace file with its content. */
export function fileBody(file: WorkspaceFile): JsonObject {
  return { ...fileHeadBody(file), content: textOf(file) };
}
