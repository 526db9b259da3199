import { z } from 'zod';
import { area, type RunnableCheck } from '../../check.ts';
import { body, holds, refused } from '../../expect.ts';
import { NOOP } from '../../fixtures.ts';
import { described } from '../../http/answer.ts';
import { capability, fixture, key, scopes, unadvertised } from '../../needs.ts';
import { snapshot } from '../../shapes/run.ts';
import { startRun } from '../../steps/runs.ts';

const LIST = 'Endpoints: GET /runs';

/** The list of runs. */
export const listing: readonly RunnableCheck[] = area('runs', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'listed',
    name: 'The list of runs is sorted newest first, includes the runs just created, and has no run twice.',
    rule: [LIST, 'operations.runs.list'],
    majors: [2],
    needs: [capability('runList'), fixture(NOOP)],
    async run(world) {
      const { api } = world;
      const older = await startRun(world, NOOP);
      const newer = await startRun(world, NOOP);
      const ids: string[] = [];
      let cursor: string | undefined;
      // Other checks create runs at the same time, so the two may be on later pages.
      for (let page = 0; page < 20 && !(ids.includes(older.runId) && ids.includes(newer.runId)); page += 1) {
        const query = { limit: 50, ...(cursor !== undefined && { cursor }) };
        const answer = await api.get('/runs', { query });
        const { runs: listed, nextCursor } = body(answer, 200, LISTED);
        ids.push(...listed.map(({ runId }) => runId));
        cursor = nextCursor;
        if (cursor === undefined) break;
      }
      const [newerAt, olderAt] = [ids.indexOf(newer.runId), ids.indexOf(older.runId)];
      holds(
        newerAt !== -1 && olderAt !== -1 && newerAt < olderAt,
        'both runs in the list, the newer before the older',
        {
          newerAt,
          olderAt,
        },
      );
      holds(new Set(ids).size === ids.length, 'each run once', `${ids.length - new Set(ids).size} repeated runs`);
    },
  },
  {
    id: 'list-of-tenant',
    name: 'The list of runs contains no run of another tenant.',
    rule: ['Authorization rules', 'auth.tenancy.tenant-apart'],
    majors: [2],
    needs: [capability('runList'), fixture(NOOP), key('otherTenant')],
    async run(world) {
      const { runId } = await startRun(world, NOOP);
      const answer = await world.as('otherTenant').get('/runs', { query: { limit: 50 } });
      const { runs: listed } = body(answer, 200, LISTED);
      const tenant = runId.slice(0, runId.indexOf('/'));
      holds(
        !listed.some((run) => run.runId.startsWith(`${tenant}/`)),
        `no run of ${tenant}`,
        described(answer),
        answer,
      );
    },
  },
  {
    id: 'list-pages',
    name: 'A page of the run list has at most `limit` runs, and a cursor that the host did not issue is answered 400.',
    rule: [LIST, 'operations.runs.list'],
    majors: [2],
    needs: [capability('runList'), fixture(NOOP)],
    async run(world) {
      const { api } = world;
      await startRun(world, NOOP);
      await startRun(world, NOOP);
      const first = await api.get('/runs', { query: { limit: 1 } });
      const page = body(first, 200, LISTED);
      holds(
        page.runs.length === 1 && page.nextCursor !== undefined,
        'one run and a nextCursor',
        described(first),
        first,
      );
      for (const cursor of ['conformance', `${page.nextCursor}x`]) {
        refused(await api.get('/runs', { query: { cursor } }), 400, 'validation_error');
      }
      refused(await api.get('/runs', { query: { limit: 'many' } }), 400, 'validation_error');
    },
  },
  {
    id: 'list-unadvertised-404',
    name: 'A host that does not advertise `runList` answers the run list with 404 `not_found`.',
    rule: [LIST, 'operations.runs.list'],
    majors: [2],
    needs: [unadvertised('runList')],
    async run({ api }) {
      refused(await api.get('/runs'), 404, 'not_found');
    },
  },
]);

const LISTED = z.looseObject({ runs: z.array(snapshot[2]), nextCursor: z.string().min(1).max(2048).optional() });
