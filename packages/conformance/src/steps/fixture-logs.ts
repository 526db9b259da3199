import { status } from '../expect.ts';
import type { RunEvent } from '../shapes/event.ts';
import { segment } from '../shapes/id.ts';
import { TERMINAL } from '../shapes/run.ts';
import { fixturesOf } from '../target.ts';
import type { World } from '../world.ts';
import { APPROVAL, CANCELLABLE, FAILURE, GATE, logOf, NOOP, startRun, untilStatus } from './runs.ts';

/** Runs the fixtures to their ends, and returns the events of all logs. */
export async function fixtureLogs(world: World): Promise<readonly RunEvent[]> {
  const logs: RunEvent[] = [];
  for (const [name, { scope, inputs = {}, end }] of Object.entries(ENDINGS)) {
    if (!fixturesOf(world.target).includes(name) || world.target.lacking.has(scope)) continue;
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

const ENDINGS: Readonly<Record<string, Ending>> = {
  [NOOP]: { scope: 'runs:create' },
  [FAILURE]: { scope: 'runs:create' },
  [CANCELLABLE]: {
    scope: 'runs:cancel',
    inputs: { delayMs: 20_000 },
    async end(world, runId) {
      await untilStatus(world, runId, ['running']);
      status(await world.api.post(`/runs/${segment(runId)}/cancel`, {}), 200);
    },
  },
  [APPROVAL]: {
    scope: 'approvals:respond',
    async end(world, runId) {
      await untilStatus(world, runId, ['waiting-approval']);
      const resumeValue = { action: 'accept', decidedAt: new Date().toISOString() };
      status(await world.api.post(`/runs/${segment(runId)}/interrupts/${GATE}`, { resumeValue }), 200);
    },
  },
};
