import { type FixtureName, nodeOf } from '../fixtures.ts';
import type { Answer } from '../http/answer.ts';
import { segment } from '../shapes/id.ts';
import type { Snapshot } from '../shapes/run.ts';
import type { World } from '../world.ts';
import { startRun, untilStatus } from './runs.ts';

/** A fixture workflow whose runs wait at one node for an answer. */
export interface WaitingFixture {
  /** Starts a run, and resolves when it waits. */
  waiting(world: World): Promise<Snapshot>;
  /** Answers the node of a run. */
  answer(world: World, runId: string): Promise<Answer>;
}

/**
 * Makes the steps of a fixture workflow.
 *
 * @param wait the status of a run that waits, and the answer to its node
 */
export function waitingFixture(
  fixture: FixtureName,
  { status, resumeValue }: { readonly status: string; readonly resumeValue: object },
): WaitingFixture {
  return {
    async waiting(world) {
      const { runId } = await startRun(world, fixture);
      return await untilStatus(world, runId, [status]);
    },
    answer: ({ api, target }, runId) =>
      api.post(`/runs/${segment(runId)}/interrupts/${segment(nodeOf(target, fixture))}`, { resumeValue }),
  };
}
