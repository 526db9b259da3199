import { area, type RunnableCheck } from '../../check.ts';
import { body, holds, refused, same, status } from '../../expect.ts';
import { workflowId as idOf, NOOP } from '../../fixtures.ts';
import { fixture, scopes } from '../../needs.ts';
import { createdRun, snapshot } from '../../shapes/run.ts';
import { endedRun, startRun } from '../../steps/runs.ts';

const CREATE = 'Endpoints: POST /v1/runs, /runs';
const READ = 'Endpoints: GET /v1/runs/{runId}, /runs/{runId}';

/** Creation of runs. */
export const creation: readonly RunnableCheck[] = area('runs', { needs: [scopes('runs:create', 'runs:read')] }, [
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
    async run({ api, target }) {
      const workflowId = idOf(target, NOOP);
      const bad: readonly unknown[] = [
        {},
        [],
        'null',
        { workflowId: '' },
        { workflowId: 7 },
        { workflowId, inputs: 'text' },
        { workflowId, tags: 'text' },
        { workflowId, tags: Array.from({ length: 101 }, (_, index) => `t${index}`) },
        { workflowId, tags: ['x'.repeat(257)] },
        { workflowId, conformanceUnknownMember: true },
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
    async run({ api, target }) {
      const workflowId = idOf(target, NOOP);
      const bad = [
        {},
        { version: 2 },
        { version: 1, conformance: {} },
        { version: 1, run: { conformance: 1 } },
        { version: 1, 'run.recursionLimit': 5 },
      ];
      for (const configurable of bad) {
        refused(await api.post('/runs', { workflowId, configurable }), 400, 'validation_error');
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
]);
