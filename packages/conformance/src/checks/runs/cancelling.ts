import { z } from 'zod';
import { area, type RunnableCheck } from '../../check.ts';
import { body, holds, refused, same } from '../../expect.ts';
import { CANCELLABLE, NOOP } from '../../fixtures.ts';
import { described } from '../../http/answer.ts';
import { fixture, scopes } from '../../needs.ts';
import { resourceId, segment, unknownId } from '../../shapes/id.ts';
import { endedRun, eventOf, logOf, startRun, untilStatus } from '../../steps/runs.ts';
import { HELD } from './held.ts';

const CANCEL = 'Endpoints: run cancel';

/** Cancellation of one run, and of many. */
export const cancelling: readonly RunnableCheck[] = area('runs', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'cancelled',
    name: 'Cancelling a run is answered with `cancelling` or `cancelled`, and the run ends with `run.cancelled`.',
    rule: [CANCEL, 'operations.routes.required-scope'],
    needs: [scopes('runs:cancel'), fixture(CANCELLABLE)],
    async run(world) {
      const { api, major } = world;
      const { runId } = await startRun(world, CANCELLABLE, HELD);
      const answer = await api.post(`/runs/${segment(runId)}/cancel`, { reason: 'conformance' });
      same(body(answer, 200, CANCELLED[major]).runId, runId, 'runId', answer);
      await untilStatus(world, runId, ['cancelled']);
      eventOf(await logOf(world, runId), 'run.cancelled');
    },
  },
  {
    id: 'cancel-ended-v1',
    name: 'Cancelling a run that has ended is answered 200 with its status and `alreadyTerminal: true`.',
    rule: [CANCEL, 'operations.runs.v1-cancel-ended'],
    majors: [1],
    needs: [scopes('runs:cancel'), fixture(NOOP)],
    async run(world) {
      const { runId, status: ended } = await endedRun(world);
      const answer = await world.api.post(`/runs/${segment(runId)}/cancel`, {});
      const said = body(answer, 200, z.looseObject({ status: z.string(), alreadyTerminal: z.literal(true) }));
      same(said.status, ended, 'the status', answer);
    },
  },
  {
    id: 'cancel-ended-v2',
    name: 'Cancelling a run that has ended is answered 409 `run_terminal`.',
    rule: [CANCEL, 'operations.runs.v2-cancel-ended'],
    majors: [2],
    needs: [scopes('runs:cancel'), fixture(NOOP)],
    async run(world) {
      const { runId } = await endedRun(world);
      refused(await world.api.post(`/runs/${segment(runId)}/cancel`, {}), 409, 'run_terminal');
    },
  },
  {
    id: 'cancel-unknown-404',
    name: 'Cancelling or pausing a run that does not exist is answered 404.',
    rule: [CANCEL, 'operations.routes.required-scope'],
    needs: [scopes('runs:cancel')],
    async run({ api, major, target }) {
      const run = `/runs/${segment(unknownId(major, target.tenant))}`;
      refused(await api.post(`${run}/cancel`, {}), 404, 'not_found');
      refused(await api.post(`${run}:pause`, {}), 404, 'not_found');
    },
  },
  {
    id: 'bulk-cancel',
    name: 'A bulk cancel is answered 200 with one result for each id, in request order, even when all of them fail.',
    rule: ['Endpoints: bulk cancel', 'operations.runs.bulk-cancel'],
    needs: [scopes('runs:cancel'), fixture(CANCELLABLE), fixture(NOOP)],
    async run(world) {
      const { api, major, target } = world;
      const held = await startRun(world, CANCELLABLE, HELD);
      const absent = unknownId(major, target.tenant);
      const answer = await api.post('/runs:bulk-cancel', { runIds: [absent, held.runId] });
      const { results } = body(answer, 200, BULK);
      same(
        results.map(({ runId, ok }) => [runId, ok]),
        [
          [absent, false],
          [held.runId, true],
        ],
        'the results',
        answer,
      );
      same(results[0]?.error?.error, 'not_found', 'the error of the first result', answer);
      await untilStatus(world, held.runId, ['cancelled']);
      const none = await api.post('/runs:bulk-cancel', { runIds: [absent] });
      same(
        body(none, 200, BULK).results.map(({ ok }) => ok),
        [false],
        'the results',
        none,
      );
    },
  },
  {
    id: 'bulk-cancel-bounds-400',
    name: 'A bulk cancel of no run, or of more than 100, is answered 400 with `details.maxRunIds`.',
    rule: ['Endpoints: bulk cancel', 'operations.runs.bulk-cancel'],
    needs: [scopes('runs:cancel')],
    async run({ api, major, target }) {
      const many = Array.from({ length: 101 }, () => unknownId(major, target.tenant));
      for (const runIds of [[], many]) {
        const answer = await api.post('/runs:bulk-cancel', { runIds });
        const { details } = refused(answer, 400, 'validation_error');
        holds(typeof details?.maxRunIds === 'number', 'details.maxRunIds', described(answer), answer);
      }
    },
  },
]);

const CANCELLING = z.enum(['cancelling', 'cancelled']);
const CANCELLED = {
  1: z.looseObject({ runId: resourceId[1], status: CANCELLING }),
  2: z.looseObject({ runId: resourceId[2], status: CANCELLING }),
} as const;
const BULK = z.looseObject({
  results: z.array(
    z.looseObject({
      runId: z.string(),
      ok: z.boolean(),
      status: z.string().optional(),
      error: z.looseObject({ error: z.string(), message: z.string() }).optional(),
    }),
  ),
});
