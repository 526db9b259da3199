import { z } from 'zod';
import { area, type Need, type RunnableCheck } from '../../check.ts';
import { anObject, body, fits, header, holds, refused, same, status } from '../../expect.ts';
import { CANCELLABLE, FAILURE, IDEMPOTENT, NOOP, workflowId } from '../../fixtures.ts';
import { capability, fixture, scopes } from '../../needs.ts';
import type { Major } from '../../rule.ts';
import { segment, unknownId } from '../../shapes/id.ts';
import { snapshot } from '../../shapes/run.ts';
import { endedRun, eventOf, logOf, startRun, untilStatus } from '../../steps/runs.ts';
import type { Target } from '../../target.ts';
import { HELD } from './held.ts';

const READ = 'Endpoints: GET /v1/runs/{runId}, /runs/{runId}';

/** Snapshots of runs, and the definitions of workflows. */
export const reading: readonly RunnableCheck[] = area('runs', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'snapshot',
    name: 'Reading a run is answered with its snapshot, which has no unknown member in major 2.',
    rule: [READ, 'operations.runs.read'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await startRun(world, NOOP);
      const answer = await world.api.get(`/runs/${segment(runId)}`);
      const read = body(answer, 200, snapshot[world.major]);
      same([read.runId, read.workflowId], [runId, workflowId(world.target, NOOP)], 'runId and workflowId', answer);
    },
  },
  {
    id: 'values',
    name: 'The snapshot of a run shows its inputs in `variables`.',
    level: 'SHOULD',
    rule: [READ, 'operations.runs.values'],
    needs: [fixture(IDEMPOTENT)],
    async run(world) {
      const nonce = crypto.randomUUID();
      const { runId } = await endedRun(world, IDEMPOTENT, { inputs: { nonce } });
      const answer = await world.api.get(`/runs/${segment(runId)}`);
      const { variables } = body(answer, 200, z.looseObject({ variables: anObject }));
      same(variables.nonce, nonce, 'variables.nonce', answer);
    },
  },
  {
    id: 'event-log-schema-3',
    name: 'A run that is created under major 2 has `eventLogSchemaVersion` 3.',
    rule: ['Version axes', 'versioning.axes.event-log-schema-stamp'],
    majors: [2],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await startRun(world, NOOP);
      const answer = await world.api.get(`/runs/${segment(runId)}`);
      same(body(answer, 200, snapshot[2]).eventLogSchemaVersion, 3, 'eventLogSchemaVersion', answer);
    },
  },
  {
    id: 'unknown-404',
    name: 'Reading a run that does not exist is answered 404.',
    rule: [READ, 'operations.runs.read'],
    async run({ api, major, target }) {
      refused(await api.get(`/runs/${segment(unknownId(major, target.tenant))}`), 404, 'not_found');
    },
  },
  {
    id: 'conditional-read',
    name: 'A read whose `If-None-Match` is the current ETag of the run is answered 304 with `SVC-Version` and no body.',
    rule: [READ, 'operations.runs.read-conditional'],
    needs: [fixture(NOOP), conditional],
    async run(world) {
      const { runId } = await endedRun(world);
      const path = `/runs/${segment(runId)}`;
      const tag = header(await world.api.get(path), 'ETag', /^"[^"]+"$/);
      const again = status(await world.api.get(path, { headers: { 'If-None-Match': tag } }), 304);
      holds(again.text === '', 'no body', again.text, again);
      header(again, 'SVC-Version', new RegExp(`^${world.major}\\.`));
      status(await world.api.get(path, { headers: { 'If-None-Match': '"something-else"' } }), 200);
    },
  },
  {
    id: 'tag-changes',
    name: 'The ETag of a run changes when the run changes.',
    rule: [READ, 'operations.runs.read-conditional'],
    needs: [fixture(CANCELLABLE), conditional, scopes('runs:cancel')],
    async run(world) {
      const { runId } = await startRun(world, CANCELLABLE, HELD);
      await untilStatus(world, runId, ['running']);
      const path = `/runs/${segment(runId)}`;
      const tag = header(await world.api.get(path), 'ETag', /^"[^"]+"$/);
      await world.api.post(`${path}/cancel`, {});
      await untilStatus(world, runId, ['cancelled']);
      status(await world.api.get(path, { headers: { 'If-None-Match': tag } }), 200);
    },
  },
  {
    id: 'completes',
    name: 'A run without work to do completes.',
    rule: ['Events', 'events.shape.known-types'],
    needs: [fixture(NOOP)],
    async run(world) {
      const run = await endedRun(world);
      same(run.status, 'completed', 'the status');
      eventOf(await logOf(world, run.runId), 'run.completed');
    },
  },
  {
    id: 'fails',
    name: 'The snapshot and the `run.failed` event of a failed run have an error with a code and a message.',
    rule: [READ, 'operations.runs.read'],
    needs: [fixture(FAILURE)],
    async run(world) {
      const run = await endedRun(world, FAILURE);
      same(run.status, 'failed', 'the status');
      fits(run.error, ERROR);
      const { payload } = eventOf(await logOf(world, run.runId), 'run.failed');
      fits(payload, z.looseObject({ error: ERROR }));
    },
  },
  {
    id: 'workflow-read',
    name: 'A workflow definition is served as JSON with the id that was asked for, and an unknown workflow is answered 404.',
    rule: ['Authentication: scope manifest:read', 'operations.routes.required-scope'],
    needs: [scopes('manifest:read'), fixture(NOOP)],
    async run({ api, target }) {
      const asked = workflowId(target, NOOP);
      const answer = await api.get(`/workflows/${segment(asked)}`);
      const { workflowId: seen = asked } = body(answer, 200, anObject);
      same(seen, asked, 'workflowId', answer);
      refused(await api.get('/workflows/conformance-there-is-no-such-workflow'), 404);
    },
  },
]);

/** Major 1 advertises conditional reads; in major 2 they are required. */
function conditional(target: Target, major: Major): ReturnType<Need> {
  return major === 2 ? undefined : capability('restTransport', 'conditionalRunGet')(target, major);
}

const ERROR = z.looseObject({ code: z.string().min(1), message: z.string().min(1) });
