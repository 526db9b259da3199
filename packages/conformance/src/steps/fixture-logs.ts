import { status } from '../expect.ts';
import {
  APPROVAL,
  CANCELLABLE,
  CLARIFICATION,
  EXTERNAL_EVENT,
  FAILURE,
  type FixtureName,
  NOOP,
  nodeOf,
} from '../fixtures.ts';
import type { RunEvent } from '../shapes/event.ts';
import { segment } from '../shapes/id.ts';
import { TERMINAL } from '../shapes/run.ts';
import { hasFixture } from '../target.ts';
import type { World } from '../world.ts';
import { logOf, startRun, untilStatus } from './runs.ts';

/** Runs the fixtures to their ends, and returns the events of all logs. */
export async function fixtureLogs(world: World): Promise<readonly RunEvent[]> {
  const logs: RunEvent[] = [];
  for (const [name, { scope, inputs = {}, end }] of ENDINGS) {
    if (!hasFixture(world.target, name) || world.target.lacking.has(scope)) continue;
    const { runId } = await startRun(world, name, { inputs });
    await end?.(world, runId);
    await untilStatus(world, runId, TERMINAL);
    logs.push(...(await logOf(world, runId)));
  }
  return logs;
}

interface Ending {
  /** The scope that the fixture needs besides those of the area. */
  readonly scope: string;
  readonly inputs?: object;
  /** Asks the host to end a run that does not end by itself. */
  readonly end?: (world: World, runId: string) => Promise<void>;
}

const ENDINGS: readonly (readonly [FixtureName, Ending])[] = [
  [NOOP, { scope: 'runs:create' }],
  [FAILURE, { scope: 'runs:create' }],
  [
    CANCELLABLE,
    {
      scope: 'runs:cancel',
      inputs: { delayMs: 20_000 },
      async end(world, runId) {
        await untilStatus(world, runId, ['running']);
        status(await world.api.post(`/runs/${segment(runId)}/cancel`, {}), 200);
      },
    },
  ],
  [APPROVAL, answered(APPROVAL, 'waiting-approval', () => ({ action: 'accept', decidedAt: new Date().toISOString() }))],
  [CLARIFICATION, answered(CLARIFICATION, 'waiting-input', () => ({ answers: { q1: 'blue' } }))],
  [EXTERNAL_EVENT, answered(EXTERNAL_EVENT, 'waiting-external', () => ({ conformance: 'arrived' }))],
];

function answered(fixture: FixtureName, waiting: string, resumeValue: () => object): Ending {
  return {
    scope: 'approvals:respond',
    async end(world, runId) {
      await untilStatus(world, runId, [waiting]);
      const answer = { resumeValue: resumeValue() };
      status(
        await world.api.post(`/runs/${segment(runId)}/interrupts/${segment(nodeOf(world.target, fixture))}`, answer),
        200,
      );
    },
  };
}
