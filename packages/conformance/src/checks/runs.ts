import { z } from 'zod';
import { area, type Check } from '../check.ts';
import { anObject, body, fits, header, holds, refused, same, status } from '../expect.ts';
import { described } from '../http/answer.ts';
import { capability, fixture, key, scopes, unadvertised } from '../needs.ts';
import type { Major } from '../rule.ts';
import { resourceId, segment, unknownId } from '../shapes/id.ts';
import { createdRun, snapshot, TERMINAL } from '../shapes/run.ts';
import {
  APPROVAL,
  CANCELLABLE,
  DELAY,
  endedRun,
  eventOf,
  FAILURE,
  logOf,
  NOOP,
  readRun,
  startRun,
  untilStatus,
} from '../steps/runs.ts';
import type { Target } from '../target.ts';

const CREATE = 'Endpoints: POST /v1/runs, /runs';
const READ = 'Endpoints: GET /v1/runs/{runId}, /runs/{runId}';
const CANCEL = 'Endpoints: run cancel';
const PAUSE = 'Endpoints: run pause and resume';
const FORK = 'Endpoints: run fork';
const LIST = 'Endpoints: GET /runs';

const HELD = { inputs: { delayMs: 20_000 } };

/** Runs: created, read, listed, stopped, held and forked. */
export const runs: readonly Check[] = area('runs', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'created-201',
    name: 'Creating a run is answered 201 with its id in the form of the major, its status and its `eventsUrl`.',
    rule: [CREATE, 'operations.runs.create'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { answer } = await startRun(world, NOOP);
      body(answer, 201, createdRun[world.major]);
    },
  },
  {
    id: 'created-links',
    name: '`eventsUrl` and `statusUrl` of a created run lead to it, on the origin of the request.',
    rule: [CREATE, 'operations.runs.create'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { api, target, major } = world;
      const { runId, answer } = await startRun(world, NOOP);
      const { eventsUrl, statusUrl } = body(answer, 201, createdRun[major]);
      const headers = major === 2 ? { 'SVC-Version': '2' } : {};
      for (const link of [eventsUrl, ...(statusUrl === undefined ? [] : [statusUrl])]) {
        const { origin, pathname, search } = new URL(link, target.origin);
        holds(origin === target.origin, `a link on ${target.origin}`, link, answer);
        const read = await api.exactly({
          target: pathname + search,
          headers: { ...headers, Accept: 'text/event-stream' },
        });
        status(read, 200);
        if (link === statusUrl) same(body(read, 200, snapshot[major]).runId, runId, 'runId', read);
      }
    },
  },
  {
    id: 'unknown-workflow-400',
    name: 'Creating a run of an unknown workflow is answered 400 `validation_error`.',
    rule: [CREATE, 'operations.runs.create'],
    async run({ api }) {
      refused(
        await api.post('/runs', { workflowId: 'conformance-there-is-no-such-workflow' }),
        400,
        'validation_error',
      );
    },
  },
  {
    id: 'bad-body-400',
    name: 'Creating a run with an invalid body is answered 400 `validation_error`.',
    rule: [CREATE, 'operations.runs.create'],
    needs: [fixture(NOOP)],
    async run({ api }) {
      const bad: readonly unknown[] = [
        {},
        [],
        'null',
        { workflowId: '' },
        { workflowId: 7 },
        { workflowId: NOOP, inputs: 'text' },
        { workflowId: NOOP, tags: 'text' },
        { workflowId: NOOP, tags: Array.from({ length: 101 }, (_, index) => `t${index}`) },
        { workflowId: NOOP, tags: ['x'.repeat(257)] },
        { workflowId: NOOP, conformanceUnknownMember: true },
      ];
      for (const asked of bad) refused(await api.post('/runs', asked), 400, 'validation_error');
    },
  },
  {
    id: 'configurable-closed-400',
    name: 'An unknown version or key in `configurable` is answered 400 in major 2.',
    rule: [CREATE, 'operations.runs.create'],
    majors: [2],
    needs: [fixture(NOOP)],
    async run({ api }) {
      const bad = [
        {},
        { version: 2 },
        { version: 1, conformance: {} },
        { version: 1, run: { conformance: 1 } },
        { version: 1, 'run.recursionLimit': 5 },
      ];
      for (const configurable of bad) {
        refused(await api.post('/runs', { workflowId: NOOP, configurable }), 400, 'validation_error');
      }
    },
  },
  {
    id: 'options-kept',
    name: 'The snapshot of a run has the tags and the metadata of its creation, unchanged.',
    rule: [READ, 'operations.runs.read'],
    needs: [fixture(NOOP)],
    async run(world) {
      const tags = ['conformance', 'a tag with spaces'];
      const metadata = { conformance: { deep: [1, 'two', null] } };
      const run = await endedRun(world, NOOP, { tags, metadata });
      same([...(Array.isArray(run.tags) ? run.tags : [])].sort(), [world.tag, ...tags].sort(), 'tags');
      same(run.metadata, metadata, 'metadata');
    },
  },
  {
    id: 'snapshot',
    name: 'Reading a run is answered with its snapshot, which has no unknown member in major 2.',
    rule: [READ, 'operations.runs.read'],
    needs: [fixture(NOOP)],
    async run(world) {
      const { runId } = await startRun(world, NOOP);
      const answer = await world.api.get(`/runs/${segment(runId)}`);
      const read = body(answer, 200, snapshot[world.major]);
      same([read.runId, read.workflowId], [runId, NOOP], 'runId and workflowId', answer);
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
    name: 'A workflow definition is served as JSON, and an unknown workflow is answered 404.',
    rule: ['Authentication: scope manifest:read', 'operations.routes.required-scope'],
    needs: [scopes('manifest:read'), fixture(NOOP)],
    async run({ api }) {
      body(await api.get(`/workflows/${NOOP}`), 200, anObject);
      refused(await api.get('/workflows/conformance-there-is-no-such-workflow'), 404);
    },
  },
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
    rule: 'Endpoints: bulk cancel',
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
      same(results[0]?.error?.error, 'not_found', 'the error of the first', answer);
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
    rule: 'Endpoints: bulk cancel',
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
  {
    id: 'paused-and-resumed',
    name: 'Pausing and resuming a run are each answered 202 and recorded as an event, and the run then completes.',
    rule: PAUSE,
    needs: [scopes('runs:cancel'), fixture(DELAY)],
    async run(world) {
      const { api } = world;
      const { runId } = await startRun(world, DELAY, { inputs: { delayMs: 1500 } });
      const run = `/runs/${segment(runId)}`;
      await untilStatus(world, runId, ['running']);
      const paused = await api.post(`${run}:pause`, { reason: 'conformance', drainPolicy: 'immediate' });
      same(body(paused, 202, MOVED), { ...body(paused, 202, MOVED), runId, status: 'paused' }, 'the answer', paused);
      await untilStatus(world, runId, ['paused']);
      await world.sleep(1700);
      same((await readRun(api, runId)).status, 'paused', 'the status of a run that is held longer than it takes');
      const resumed = await api.post(`${run}:resume`, {});
      same(
        body(resumed, 202, MOVED),
        { ...body(resumed, 202, MOVED), runId, status: 'running' },
        'the answer',
        resumed,
      );
      await untilStatus(world, runId, ['completed']);
      const events = await logOf(world, runId);
      const { payload } = eventOf(events, 'run.paused');
      same(fits(payload, anObject).drainPolicy, 'immediate', 'drainPolicy in run.paused');
      eventOf(events, 'run.resumed');
    },
  },
  {
    id: 'pause-conflict-409',
    name: 'Pausing or resuming a run in the wrong status is answered 409, with its status in `details.runStatus`.',
    rule: PAUSE,
    needs: [scopes('runs:cancel'), fixture(NOOP), fixture(DELAY)],
    async run(world) {
      const { api, major } = world;
      const ended = await endedRun(world);
      for (const verb of ['pause', 'resume']) {
        const answer = await api.post(`/runs/${segment(ended.runId)}:${verb}`, {});
        if (major === 2) refused(answer, 409, 'run_terminal');
        else same(refused(answer, 409).details?.runStatus, ended.status, 'details.runStatus', answer);
      }
      const { runId } = await startRun(world, DELAY, HELD);
      await untilStatus(world, runId, ['running']);
      const going = await api.post(`/runs/${segment(runId)}:resume`, {});
      const { details } = major === 2 ? refused(going, 409, 'run_state_conflict') : refused(going, 409);
      same(details?.runStatus, 'running', 'details.runStatus', going);
    },
  },
  {
    id: 'pause-body-400',
    name: 'Pausing with an unknown member or an unknown `drainPolicy` is answered 400.',
    rule: PAUSE,
    needs: [scopes('runs:cancel'), fixture(DELAY)],
    async run(world) {
      const { runId } = await startRun(world, DELAY, HELD);
      for (const asked of [{ drainPolicy: 'conformance' }, { conformance: true }]) {
        refused(await world.api.post(`/runs/${segment(runId)}:pause`, asked), 400, 'validation_error');
      }
    },
  },
  {
    id: 'listed',
    name: 'The list of runs is sorted newest first, includes the runs just created, and has no run twice.',
    rule: LIST,
    majors: [2],
    needs: [capability('runList'), fixture(NOOP)],
    async run(world) {
      const { api } = world;
      const older = await startRun(world, NOOP);
      const newer = await startRun(world, NOOP);
      const ids: string[] = [];
      let cursor: string | undefined;
      // Others make runs at the same time, so that the two may be pages away.
      for (let page = 0; page < 20 && !(ids.includes(older.runId) && ids.includes(newer.runId)); page += 1) {
        const query = { limit: 50, ...(cursor !== undefined && { cursor }) };
        const answer = await api.get('/runs', { query });
        const { runs: listed, nextCursor } = body(answer, 200, LISTED);
        ids.push(...listed.map(({ runId }) => runId));
        cursor = nextCursor;
        if (cursor === undefined) break;
      }
      const [newerAt, olderAt] = [ids.indexOf(newer.runId), ids.indexOf(older.runId)];
      holds(newerAt !== -1 && olderAt !== -1 && newerAt < olderAt, 'both runs, the newer before the older', {
        newerAt,
        olderAt,
      });
      holds(new Set(ids).size === ids.length, 'no run on two pages', `${ids.length - new Set(ids).size} of them`);
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
    rule: LIST,
    majors: [2],
    needs: [capability('runList'), fixture(NOOP)],
    async run(world) {
      const { api } = world;
      await startRun(world, NOOP);
      await startRun(world, NOOP);
      const first = await api.get('/runs', { query: { limit: 1 } });
      const page = body(first, 200, LISTED);
      holds(page.runs.length === 1 && page.nextCursor !== undefined, 'one run and a cursor', described(first), first);
      for (const cursor of ['conformance', `${page.nextCursor}x`]) {
        refused(await api.get('/runs', { query: { cursor } }), 400, 'validation_error');
      }
      refused(await api.get('/runs', { query: { limit: 'many' } }), 400, 'validation_error');
    },
  },
  {
    id: 'list-unadvertised-404',
    name: 'A host that does not advertise `runList` answers the run list with 404 `not_found`.',
    rule: LIST,
    majors: [2],
    needs: [unadvertised('runList')],
    async run({ api }) {
      refused(await api.get('/runs'), 404, 'not_found');
    },
  },
  {
    id: 'forked-replay',
    name: 'A replay fork is answered 201 with its source and mode, and ends with the status of its source.',
    rule: FORK,
    needs: [capability('replay'), fixture(NOOP)],
    async run(world) {
      const { api, major } = world;
      const source = await endedRun(world);
      const answer = await api.post(`/runs/${segment(source.runId)}:fork`, { mode: 'replay' });
      const fork = body(answer, 201, FORKED[major]);
      same([fork.sourceRunId, fork.mode], [source.runId, 'replay'], 'sourceRunId and mode', answer);
      holds(fork.runId !== source.runId, 'a run of its own', fork.runId, answer);
      same((await untilStatus(world, fork.runId, TERMINAL)).status, source.status, 'the status of the fork');
    },
  },
  {
    id: 'fork-keeps-owner',
    name: 'A replay fork has the tenant and the subject of its source.',
    rule: ['Subject record (optional owner.subject)', 'runs.subject.copied-to-fork'],
    needs: [capability('replay'), fixture(NOOP)],
    async run(world) {
      const { api, major } = world;
      const source = await endedRun(world);
      const answer = await api.post(`/runs/${segment(source.runId)}:fork`, { mode: 'replay' });
      const fork = await readRun(api, body(answer, 201, FORKED[major]).runId);
      same(fork.owner?.tenant, source.owner?.tenant, 'owner.tenant of the fork');
      same(fork.owner?.subject, source.owner?.subject, 'owner.subject of the fork');
    },
  },
  {
    id: 'forked-branch',
    name: 'A branch is answered 201 with its `fromSeq`, and runs to its end.',
    rule: FORK,
    needs: [capability('replay'), fixture(NOOP)],
    async run(world) {
      const { api, major } = world;
      const source = await endedRun(world);
      const answer = await api.post(`/runs/${segment(source.runId)}:fork`, { mode: 'branch', fromSeq: 1 });
      const fork = body(answer, 201, FORKED[major]);
      same([fork.mode, fork.fromSeq], ['branch', 1], 'mode and fromSeq', answer);
      await untilStatus(world, fork.runId, TERMINAL);
    },
  },
  {
    id: 'fork-refused',
    name: 'A fork is answered 400 for an invalid body, 404 for an unknown run, and 422 for a `fromSeq` after the log.',
    rule: FORK,
    needs: [capability('replay'), fixture(NOOP)],
    async run(world) {
      const { api, major, target } = world;
      const { runId } = await endedRun(world);
      const fork = (asked: unknown, id = runId) => api.post(`/runs/${segment(id)}:fork`, asked);
      for (const asked of [
        {},
        { mode: 'conformance' },
        { mode: 'branch' },
        { mode: 'branch', fromSeq: -1 },
        { mode: 'branch', fromSeq: 0.5 },
        { mode: 'replay', runOptionsOverlay: { tags: ['x'] } },
        { mode: 'replay', conformance: true },
      ]) {
        refused(await fork(asked), 400, 'validation_error');
      }
      refused(await fork({ mode: 'replay' }, unknownId(major, target.tenant)), 404, 'not_found');
      const beyond = await fork({ mode: 'branch', fromSeq: 1_000_000 });
      if (major === 2) refused(beyond, 422, 'fork_point_invalid');
      else refused(beyond, 422);
    },
  },
  {
    id: 'approval-waits',
    name: 'A run that waits for an approval has the status `waiting-approval`.',
    rule: 'Endpoints: approvals',
    needs: [fixture(APPROVAL)],
    async run(world) {
      const { runId } = await startRun(world, APPROVAL);
      await untilStatus(world, runId, ['waiting-approval']);
    },
  },
]);

/** Conditional reads are announced by major 1, and a rule of major 2. */
function conditional(target: Target, major: Major): string | undefined {
  return major === 2 ? undefined : capability('restTransport', 'conditionalRunGet')(target, major);
}

const ERROR = z.looseObject({ code: z.string().min(1), message: z.string().min(1) });
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
const MOVED = z.looseObject({ runId: z.string(), status: z.string() });
const LISTED = z.looseObject({ runs: z.array(snapshot[2]), nextCursor: z.string().min(1).max(2048).optional() });

const FORKED_FIELDS = {
  mode: z.enum(['replay', 'branch']),
  fromSeq: z.int().min(0).optional(),
  status: z.string(),
  eventsUrl: z.string(),
};
const FORKED = {
  1: z.looseObject({ runId: resourceId[1], sourceRunId: resourceId[1], ...FORKED_FIELDS }),
  2: z.looseObject({ runId: resourceId[2], sourceRunId: resourceId[2], ...FORKED_FIELDS }),
} as const;
