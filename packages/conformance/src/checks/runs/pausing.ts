import { z } from 'zod';
import { area, type RunnableCheck } from '../../check.ts';
import { anObject, body, fits, refused, same } from '../../expect.ts';
import { DELAY, NOOP } from '../../fixtures.ts';
import { fixture, scopes } from '../../needs.ts';
import { segment } from '../../shapes/id.ts';
import { endedRun, eventOf, logOf, readRun, startRun, untilStatus } from '../../steps/runs.ts';
import { HELD } from './held.ts';

const PAUSE = 'Endpoints: run pause and resume';

/** Pause and resumption of runs. */
export const pausing: readonly RunnableCheck[] = area('runs', { needs: [scopes('runs:create', 'runs:read')] }, [
  {
    id: 'paused-and-resumed',
    name: 'Pausing and resuming a run are each answered 202 and recorded as an event, and the run then completes.',
    rule: [PAUSE, 'operations.runs.pause'],
    needs: [scopes('runs:cancel'), fixture(DELAY)],
    async run(world) {
      const { api } = world;
      const { runId } = await startRun(world, DELAY, { inputs: { delayMs: DELAY_MS } });
      const end = performance.now() + DELAY_MS;
      const run = `/runs/${segment(runId)}`;
      await untilStatus(world, runId, ['running']);
      const paused = await api.post(`${run}:pause`, { reason: 'conformance', drainPolicy: 'immediate' });
      same(body(paused, 202, MOVED), { ...body(paused, 202, MOVED), runId, status: 'paused' }, 'the body', paused);
      await untilStatus(world, runId, ['paused']);
      await world.sleep(Math.max(0, end - performance.now()) + PASSED_MS);
      same((await readRun(api, runId)).status, 'paused', 'the status of the paused run after its delay has passed');
      const resumed = await api.post(`${run}:resume`, {});
      same(body(resumed, 202, MOVED), { ...body(resumed, 202, MOVED), runId, status: 'running' }, 'the body', resumed);
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
    rule: [PAUSE, 'operations.runs.pause-conflict'],
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
    rule: [PAUSE, 'operations.runs.pause'],
    needs: [scopes('runs:cancel'), fixture(DELAY)],
    async run(world) {
      const { runId } = await startRun(world, DELAY, HELD);
      for (const asked of [{ drainPolicy: 'conformance' }, { conformance: true }]) {
        refused(await world.api.post(`/runs/${segment(runId)}:pause`, asked), 400, 'validation_error');
      }
    },
  },
]);

/** Delay of the run that is paused, in ms. A busy machine takes seconds from its creation to the pause. */
const DELAY_MS = 6000;
/** Time after the end of the delay in which a run that was not paused would end, in ms. */
const PASSED_MS = 500;
const MOVED = z.looseObject({ runId: z.string(), status: z.string() });
