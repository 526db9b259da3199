import { compensationStatus } from '../../runs/compensation.ts';
import type { EngineContract } from './contract.ts';
import { judged, memberOf, startsAfterEnds } from './judged-run.ts';

/** Tests of an engine that compensates: a failed run undoes its nodes, the last one first, also across kills. */
export function compensationsContract({ onHost, assert, workflows: { compensation } }: EngineContract): void {
  if (compensation === 'none') return;
  const { nodes, code } = compensation;

  onHost(
    'compensates the nodes of a failed run in reverse, also when it is killed before and after every call',
    async (world) => {
      const { second, cuts } = await world.cutEverywhere(
        () => compensation,
        (process, runIds) => process.comeToCuts(runIds),
      );
      for (const { runId, at, when } of cuts) {
        const { run, log } = await judged(second, assert, runId);
        const undone = log.flatMap(({ type, payload }) =>
          type === 'compensation.completed' ? [memberOf(payload, 'nodeId')] : [],
        );
        assert.deepEqual(
          {
            ...{ at, when, status: run.status, code: run.error?.code, compensation: compensationStatus(run) },
            ...{ undone, again: startsAfterEnds(log) },
            requests: log.filter(({ type }) => type === 'compensation.requested').length,
          },
          {
            ...{ at, when, status: 'failed', code, compensation: 'completed' },
            ...{ undone: [...nodes].reverse(), again: [], requests: 1 },
          },
        );
      }
      await second.stop();
    },
  );
}
