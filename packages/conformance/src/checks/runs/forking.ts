import { z } from 'zod';
import { area, type RunnableCheck } from '../../check.ts';
import { body, holds, refused, same } from '../../expect.ts';
import { NOOP } from '../../fixtures.ts';
import { capability, fixture, scopes } from '../../needs.ts';
import { resourceId, segment, unknownId } from '../../shapes/id.ts';
import { TERMINAL } from '../../shapes/run.ts';
import { endedRun, readRun, untilStatus } from '../../steps/runs.ts';

const FORK = 'Endpoints: run fork';

/** Replays and branches of runs. */
export const forking: readonly RunnableCheck[] = area('runs', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'forked-replay',
    name: 'A replay fork is answered 201 with its source and mode, and ends with the status of its source.',
    rule: [FORK, 'operations.forks.replay'],
    needs: [capability('replay'), fixture(NOOP)],
    async run(world) {
      const { api, major } = world;
      const source = await endedRun(world);
      const answer = await api.post(`/runs/${segment(source.runId)}:fork`, { mode: 'replay' });
      const fork = body(answer, 201, FORKED[major]);
      same([fork.sourceRunId, fork.mode], [source.runId, 'replay'], 'sourceRunId and mode', answer);
      holds(fork.runId !== source.runId, 'a runId other than that of the source', fork.runId, answer);
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
    rule: [FORK, 'operations.forks.branch'],
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
    rule: [FORK, 'operations.forks.refused'],
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
]);

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
