import { DISCOVERY_PATH } from '../api.ts';
import { area, type RunnableCheck } from '../check.ts';
import { header, holds, refused, status } from '../expect.ts';
import { described } from '../http/answer.ts';
import { key, overlap } from '../needs.ts';
import type { Major } from '../rule.ts';
import { scoped } from './operations.ts';

/** Rules that hold on every operation: each check sends the same requests to all of them. */
export const crossing: readonly RunnableCheck[] = area('crossing', {}, [
  {
    id: 'operations-stamped',
    name: 'Every operation is answered with one and the same `SVC-Version` of its major, also for a refused caller or method.',
    rule: ['Versioning: Response header', 'versioning.response.names-producer'],
    async run({ as, api, major, target }) {
      const discovered = await as('nobody').get(DISCOVERY_PATH);
      const contract = header(discovered, 'SVC-Version', new RegExp(`^${major}\\.[0-9]+$`));
      const callers = target.keys.main === undefined ? [as('nobody')] : [as('nobody'), api];
      for (const { method, path, body } of scoped(major, target)) {
        for (const caller of callers) {
          header(await caller.call(method, path, { body }), 'SVC-Version', contract);
          header(await caller.call(UNUSED, path), 'SVC-Version', contract);
        }
      }
    },
  },
  {
    id: 'bad-version-everywhere',
    name: 'A malformed or unlisted `SVC-Version` is refused on every operation, before the credential is checked.',
    rule: ['Versioning: Request header SVC-Version', 'versioning.request.malformed-406'],
    async run({ as, major, target }) {
      const [prefix, expected, code] = REFUSAL[major];
      for (const { method, path } of scoped(major, target)) {
        for (const version of ['x', '02', '999', '']) {
          const headers = { 'SVC-Version': version };
          refused(await as('nobody').exactly({ method, target: prefix + path, headers }), expected, code);
        }
      }
    },
  },
  {
    id: 'allow',
    name: 'A method that a path has not is answered 405, and `Allow` lists the methods of the path.',
    rule: ['Versioning: Paths', 'versioning.paths.method-of-other-major'],
    needs: [key('main')],
    async run({ api, major, target }) {
      for (const { name, method, path } of scoped(major, target)) {
        const answer = await api.call(UNUSED, path);
        // An operation that the host does not serve has no path. Every host creates and reads runs.
        const isServed = name === 'create run' || name === 'read run' || ![404, 501].includes(answer.status);
        if (!isServed) continue;
        status(answer, 405);
        const allowed = (answer.header('Allow') ?? '').split(',').map((one) => one.trim());
        holds(allowed.includes(method), `${method} in Allow`, answer.header('Allow') ?? 'no Allow', answer);
        holds(!allowed.includes(UNUSED), `no ${UNUSED} in Allow`, answer.header('Allow') ?? '', answer);
      }
    },
  },
  {
    id: 'tags-apart',
    name: 'Discovery of one major is not answered 304 to the ETag of the other.',
    rule: ['Discovery document (capabilities)', 'discovery.document.strong-etag'],
    majors: [2],
    needs: [overlap],
    async run({ under }) {
      for (const [major, other] of [
        [1, 2],
        [2, 1],
      ] as const) {
        const tag = header(await under(other, 'nobody').get(DISCOVERY_PATH), 'ETag', /^"[^"]+"$/);
        const answer = await under(major, 'nobody').get(DISCOVERY_PATH, { headers: { 'If-None-Match': tag } });
        holds(answer.status === 200, `status 200 to the ETag of major ${other}`, described(answer), answer);
      }
    },
  },
]);

/** No operation of the interface has this method. */
const UNUSED = 'PATCH';

const REFUSAL: Readonly<Record<Major, readonly [prefix: string, status: number, code: string]>> = {
  1: ['/v1', 400, 'protocol_version_mismatch'],
  2: ['', 406, 'protocol_version_unsupported'],
};
