import { z } from 'zod';
import { invalid } from '../errors.ts';
import { matchesEtag } from '../http/conditional.ts';
import { empty, json } from '../http/description.ts';
import { type AuthorizedCall, type Reply, type Route, route, routeWithBody } from '../http/route.ts';
import type { Save } from '../ports/idempotency.ts';
import { placeOf, type WorkspaceFile } from '../ports/workspace.ts';
import {
  fileBody,
  fileHeadBody,
  fileRequestExample,
  workspaceFile,
  workspaceFileList,
} from '../wire/workspace-file.ts';
import { fileRequest } from '../workspace/file-request.ts';
import {
  isFilePath,
  noSuchFile,
  type Precondition,
  putFile,
  removeFile,
  type WorkspaceServices,
} from '../workspace/files.ts';

/**
 * Defines the routes of the files of the caller's workspace. The credential alone determines the workspace.
 *
 * @see Interface: Endpoints, `/v1/host/workspace/files`
 */
export function workspaceFileRoutes(services: WorkspaceServices): Route[] {
  return [listRoute(services), readRoute(services), writeRoute(services), deleteRoute(services)];
}

function listRoute({ store }: WorkspaceServices): Route {
  return route({
    operationId: 'listWorkspaceFiles',
    scope: 'workspace:read',
    describes: {
      tag: 'Workspace files',
      summary: 'List files',
      description: 'The files of one workspace, or those whose path begins with `prefix`.',
      query: { prefix: z.string().max(256).optional().describe('Lists paths that begin with this text only.') },
      answers: {
        200: json('The files, by path, without their content.', workspaceFileList, { headers: ['Cache-Control'] }),
      },
    },
    async serve({ principal, query }) {
      const prefix = query.get('prefix') ?? '';
      const problem = 'must be at most 256 characters of A-Z a-z 0-9 . _ - /';
      if (!/^[A-Za-z0-9._/-]{0,256}$/.test(prefix)) throw invalid({ field: 'query.prefix', problem });
      const files = await store.workspace.list(placeOf(principal.tenancy), prefix);
      return { status: 200, headers: PRIVATE, body: { files: files.map(fileHeadBody) } };
    },
  });
}

function readRoute({ store }: WorkspaceServices): Route {
  return route({
    operationId: 'readWorkspaceFile',
    scope: 'workspace:read',
    describes: {
      tag: 'Workspace files',
      summary: 'Read a file',
      description: 'The current version of a file, or an earlier one by its number.',
      query: {
        version: z.int().min(1).optional().describe('An earlier version. The host keeps the most recent ones.'),
      },
      answers: {
        200: json('The file.', workspaceFile, { headers: ['ETag', 'Cache-Control'] }),
        304: empty('The file has not changed.', { headers: ['ETag', 'Cache-Control'] }),
      },
      errors: ['not_found'],
    },
    async serve(call) {
      const file = await store.workspace.read(placeOf(call.principal.tenancy), pathIn(call), versionIn(call));
      if (file === undefined) throw noSuchFile();
      const reply = fileReply(file);
      if (!matchesEtag(call.headers.get('if-none-match'), quoted(file.etag))) return reply;
      return { status: 304, ...(reply.headers !== undefined && { headers: reply.headers }) };
    },
  });
}

function writeRoute(services: WorkspaceServices): Route {
  return routeWithBody({
    operationId: 'writeWorkspaceFile',
    scope: 'workspace:write',
    schema: { 1: fileRequest, 2: fileRequest },
    describes: {
      tag: 'Workspace files',
      summary: 'Create or replace a file',
      description: 'Stores a new version. With a precondition, a file that another agent has changed is not replaced.',
      headers: {
        'If-Match': IF_MATCH,
        'If-None-Match': z.literal('*').optional().describe('Writes the file only if it does not exist.'),
      },
      example: fileRequestExample,
      answers: { 200: json('The written file.', workspaceFile, { headers: ['ETag', 'Cache-Control'] }) },
      errors: ['workspace_conflict', 'workspace_too_large'],
    },
    serve: (call, given, save: Save<WorkspaceFile>) =>
      putFile(services, call.principal, { path: pathIn(call), ...given }, preconditionIn(call), save),
    reply: fileReply,
  });
}

function deleteRoute(services: WorkspaceServices): Route {
  return route({
    operationId: 'deleteWorkspaceFile',
    scope: 'workspace:write',
    describes: {
      tag: 'Workspace files',
      summary: 'Delete a file',
      description:
        'Deletes the current version. With `If-Match`, a file that another agent has changed is not deleted.',
      headers: { 'If-Match': IF_MATCH },
      answers: { 204: empty('The file is deleted. Its earlier versions stay readable by their numbers.') },
      errors: ['not_found', 'workspace_conflict'],
    },
    serve: (call, save: Save<void>) => removeFile(services, call.principal, pathIn(call), preconditionIn(call), save),
    reply: () => ({ status: 204 }),
  });
}

const PRIVATE = { 'cache-control': 'private, no-cache' };
const IF_MATCH = z
  .string()
  .max(255)
  .optional()
  .describe('The `etag` that the current file must have, or `*` for any existing file.');

function fileReply(file: WorkspaceFile): Reply {
  return { status: 200, headers: { ...PRIVATE, etag: quoted(file.etag) }, body: fileBody(file) };
}

function quoted(etag: string): string {
  return `"${etag}"`;
}

/** Decodes the path of a file. Its slashes may be plain or percent-encoded. */
function pathIn({ params }: AuthorizedCall): string {
  const path = decoded(params.path ?? '');
  const problem = 'must be 1 to 256 characters of A-Z a-z 0-9 . _ - /, a letter or digit first, without ".."';
  if (path === undefined || !isFilePath(path)) throw invalid({ field: 'path', problem });
  return path;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function versionIn({ query }: AuthorizedCall): number | undefined {
  const [text, ...others] = query.getAll('version');
  if (text === undefined) return undefined;
  const isVersion = others.length === 0 && /^[1-9][0-9]{0,14}$/.test(text);
  if (!isVersion)
    throw invalid({ field: 'query.version', problem: 'must be given once, as a whole number of at least 1' });
  return Number(text);
}

/** Accepts an `etag` as the body shows it, or quoted as in HTTP. @see RFC 9110, sections 13.1.1 and 13.1.2 */
function preconditionIn({ headers }: AuthorizedCall): Precondition {
  const wanted = tagsIn(headers.get('if-match'));
  const unwanted = tagsIn(headers.get('if-none-match'));
  return (etag) => {
    if (wanted !== undefined && !isNamed(wanted, etag)) return false;
    return unwanted === undefined || !isNamed(unwanted, etag);
  };
}

function tagsIn(header: string | null): readonly string[] | undefined {
  return header?.split(',').map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'));
}

function isNamed(tags: readonly string[], etag: string | undefined): boolean {
  return etag !== undefined && (tags.includes('*') || tags.includes(etag));
}
