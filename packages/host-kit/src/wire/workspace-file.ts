import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { WorkspaceFile, WorkspaceFileHead } from '../ports/workspace.ts';

/** The body of a PUT. Files are on the wire of major 1 alone. */
export const fileRequest: z.ZodType<{ content: string; contentType: string }> = z.strictObject({
  content: z
    .string()
    .refine((content) => !/\p{Cs}/u.test(content), 'must be well-formed Unicode')
    .describe('Text.'),
  contentType: z
    .string()
    .max(255)
    .regex(/^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(?: *; *[\x21-\x7e]+)*$/i, 'must be a media type')
    .default('text/markdown'),
});

export const fileRequestExample: JsonObject = { content: '# Notes\n', contentType: 'text/markdown' };

const HEAD = {
  path: z.string(),
  version: z.int().min(1).describe('1 at first, and one more at each change.'),
  etag: z.string().max(255).describe('For `If-Match`.'),
  contentType: z.string(),
  updatedAt: z.iso.datetime(),
};

export const workspaceFile: z.ZodType = z.object({ ...HEAD, content: z.string() }).meta({ id: 'WorkspaceFile' });

export const workspaceFileList: z.ZodType = z
  .object({ files: z.array(z.object(HEAD).meta({ id: 'WorkspaceFileHead' })) })
  .meta({ id: 'WorkspaceFileList' });

export function fileHeadBody({ path, version, etag, contentType, updatedAt }: WorkspaceFileHead): JsonObject {
  return { path, version, etag, contentType, updatedAt: new Date(updatedAt).toISOString() };
}

export function fileBody(file: WorkspaceFile): JsonObject {
  return { ...fileHeadBody(file), content: new TextDecoder().decode(file.content) };
}
