import { z } from 'zod';
import { area, type RunnableCheck } from '../check.ts';
import { body, holds, refused, same, status } from '../expect.ts';
import { described } from '../http/answer.ts';
import { Inapplicable } from '../mismatch.ts';
import { capability, key, scopes, unadvertised } from '../needs.ts';
import { segment, time } from '../shapes/id.ts';
import { advertised } from '../target.ts';
import type { World } from '../world.ts';

const RULE = 'Endpoints: /v1/host/workspace/files';
const FILES = '/host/workspace/files';

const isServed = [scopes('workspace:read', 'workspace:write'), capability('workspace')];

/** Files of a workspace, in major 1 alone. */
export const workspaceFiles: readonly RunnableCheck[] = area('workspace-files', {}, [
  {
    id: 'written-and-read',
    name: 'A file is read with the content that was written, and with its version.',
    rule: [RULE, 'operations.files.gated'],
    majors: [1],
    needs: isServed,
    async run(world) {
      const path = newFile(world);
      const content = 'lines\nof text, with “signs” and \u0000 in it';
      const written = await world.api.put(path.place, { content, contentType: 'text/plain' });
      same(body(written, 200, FILE).version, 1, 'the version', written);
      const read = await world.api.get(path.place);
      const file = body(read, 200, FILE);
      same([file.path, file.content, file.version], [path.name, content, 1], 'path, content and version', read);
    },
  },
  {
    id: 'versions-grow',
    name: 'Every write increases the version of a file by one.',
    rule: [RULE, 'operations.files.gated'],
    majors: [1],
    needs: isServed,
    async run(world) {
      const { place } = newFile(world);
      const versions = [];
      for (const content of ['a', 'b', 'c'])
        versions.push(body(await world.api.put(place, { content }), 200, FILE).version);
      same(versions, [1, 2, 3], 'the versions');
    },
  },
  {
    id: 'listed',
    name: 'The files with a prefix are listed without their content.',
    rule: [RULE, 'operations.files.gated'],
    majors: [1],
    needs: isServed,
    async run(world) {
      const { name, place } = newFile(world);
      body(await world.api.put(place, { content: 'x' }), 200, FILE);
      const answer = await world.api.get(FILES, { query: { prefix: name } });
      const { files } = body(answer, 200, LIST);
      same(
        files.map(({ path }) => path),
        [name],
        'the files',
        answer,
      );
      const none = await world.api.get(FILES, { query: { prefix: `${name}-and-more` } });
      same(body(none, 200, LIST).files, [], 'the files', none);
    },
  },
  {
    id: 'deleted',
    name: 'Deleting a file is answered 204, and the file is answered 404 afterwards.',
    rule: [RULE, 'operations.files.gated'],
    majors: [1],
    needs: isServed,
    async run(world) {
      const { place } = newFile(world);
      body(await world.api.put(place, { content: 'x' }), 200, FILE);
      status(await world.api.delete(place), 204);
      refused(await world.api.get(place), 404, 'not_found');
      refused(await world.api.delete(place), 404, 'not_found');
    },
  },
  {
    id: 'conflict-409',
    name: 'A write with a stale `If-Match` is answered 409 `workspace_conflict` with the current version.',
    rule: [RULE, 'operations.files.gated'],
    majors: [1],
    needs: isServed,
    async run(world) {
      const { place } = newFile(world);
      const first = await world.api.put(place, { content: 'a' });
      const { etag } = body(first, 200, FILE);
      if (etag === undefined) throw new Inapplicable('files of the host have no etag');
      body(await world.api.put(place, { content: 'b' }, { headers: { 'If-Match': etag } }), 200, FILE);
      const stale = await world.api.put(place, { content: 'c' }, { headers: { 'If-Match': etag } });
      same(refused(stale, 409, 'workspace_conflict').details?.currentVersion, 2, 'details.currentVersion', stale);
      const read = await world.api.get(place);
      same(body(read, 200, FILE).content, 'b', 'the content', read);
    },
  },
  {
    id: 'too-large-413',
    name: 'A file over `workspace.maxFileBytes` is answered 413 `workspace_too_large`; one of that size is stored.',
    rule: ['Limits', 'limits.files.max-bytes'],
    majors: [1],
    needs: [...isServed, capability('workspace', 'maxFileBytes')],
    async run(world) {
      const most = Number(advertised(world.target, 1, 'workspace')?.maxFileBytes);
      if (!(most <= MOST_BYTES))
        throw new Inapplicable(`the limit of ${most} bytes is larger than the suite sends (${MOST_BYTES} bytes)`);
      const { place } = newFile(world);
      refused(await world.api.put(place, { content: 'x'.repeat(most + 1) }), 413, 'workspace_too_large');
      // The limit counts bytes, not characters.
      refused(
        await world.api.put(place, { content: 'é'.repeat(Math.floor(most / 2) + 1) }),
        413,
        'workspace_too_large',
      );
      body(await world.api.put(place, { content: 'x'.repeat(most) }), 200, FILE);
    },
  },
  {
    id: 'bad-path-400',
    name: 'A file path with traversal or a forbidden character is answered 400 or 404.',
    rule: [RULE, 'operations.files.gated'],
    majors: [1],
    needs: isServed,
    async run(world) {
      for (const path of [
        '..%2Fescape',
        'a%2F..%2Fb',
        '%2Fetc%2Fpasswd',
        '.hidden',
        'a%5Cb',
        'a%00b',
        'x'.repeat(257),
      ]) {
        const answer = await world.api.put(`${FILES}/${path}`, { content: 'x' });
        if (answer.status === 200) world.afterwards((after) => after.api.delete(`${FILES}/${path}`));
        // Some of these paths do not match the operation, and are answered 404.
        holds(answer.status === 400 || answer.status === 404, 'status 400 or 404', described(answer), answer);
      }
    },
  },
  {
    id: 'closed-body-400',
    name: 'A write without text content, or with an unknown member, is answered 400.',
    rule: [RULE, 'operations.files.gated'],
    majors: [1],
    needs: isServed,
    async run(world) {
      const { place } = newFile(world);
      for (const asked of [{}, { content: 7 }, { content: 'x', conformance: true }]) {
        refused(await world.api.put(place, asked), 400, 'validation_error');
      }
    },
  },
  {
    id: 'workspace-apart',
    name: 'A key of another workspace cannot read, list or delete a file.',
    rule: ['Authorization rules', 'auth.tenancy.workspace-apart'],
    majors: [1],
    needs: [...isServed, key('otherWorkspace')],
    async run(world) {
      const { name, place } = newFile(world);
      body(await world.api.put(place, { content: 'x' }), 200, FILE);
      const neighbour = world.as('otherWorkspace');
      refused(await neighbour.get(place), 404);
      refused(await neighbour.delete(place), 404);
      const answer = await neighbour.get(FILES, { query: { prefix: name } });
      same(body(answer, 200, LIST).files, [], 'the files', answer);
      body(await world.api.get(place), 200, FILE);
    },
  },
  {
    id: 'scope',
    name: 'Reading files requires `workspace:read`, and writing them requires `workspace:write`.',
    rule: ['Endpoints', 'operations.routes.required-scope'],
    majors: [1],
    needs: [...isServed, key('readOnly')],
    async run({ as }) {
      const caller = as('readOnly');
      same(refused(await caller.get(FILES), 403, 'forbidden').scopeRequired, 'workspace:read', 'scopeRequired');
      const written = await caller.put(`${FILES}/conformance.txt`, { content: 'x' });
      same(refused(written, 403, 'forbidden').scopeRequired, 'workspace:write', 'scopeRequired', written);
    },
  },
  {
    id: 'unadvertised-501',
    name: 'A host that does not advertise `workspace` answers 501 `capability_not_provided`.',
    rule: [RULE, 'operations.files.gated'],
    majors: [1],
    needs: [key('main'), unadvertised('workspace')],
    async run({ api }) {
      refused(await api.get(FILES), 501, 'capability_not_provided');
    },
  },
]);

const MOST_BYTES = 2 * 1024 * 1024;

const METADATA = {
  path: z.string(),
  version: z.int().min(1),
  updatedAt: time,
  contentType: z.string().optional(),
  etag: z.string().optional(),
};
const FILE = z.looseObject({ ...METADATA, content: z.string() });
const LIST = z.looseObject({
  files: z.array(z.looseObject({ ...METADATA, content: z.never('must not be in a list').optional() })),
});

/** Returns the name and the path of a new file, which is deleted when the check has ended. */
function newFile(world: World): { readonly name: string; readonly place: string } {
  const name = `conformance/${crypto.randomUUID()}.txt`;
  const place = `${FILES}/${segment(name)}`;
  world.afterwards((after) => after.api.delete(place));
  return { name, place };
}
