import { type EngineContract, onProcess } from './contract.ts';
import { judged, startsAfterEnds } from './judged-run.ts';

/** Tests of appends that reject: because the store failed, with or without the events, or because another host drives the run. */
export function rejectedAppendsContract({ onHost, assert, workflows: { nodes } }: EngineContract): void {
  const wanted = { status: 'completed', completed: nodes.nodes, outputs: nodes.outputs, again: [] };

  onHost('leaves a run when an append rejects, recorded or not, and goes on in the next turn', (world) =>
    onProcess(world, async (process) => {
      const appends = appendsOf(
        (await judged(process, assert, await process.create(nodes.workflowId, nodes.inputs))).log,
      );
      for (let after = 0; after < appends; after++) {
        for (const kind of ['rejected', 'answer-lost'] as const) {
          process.plan({ after, kind });
          const runId = await process.create(nodes.workflowId, nodes.inputs);
          await process.fails();
          // The kit drives the run again after a second.
          await world.until('the end of the run', async () => {
            await world.pass(1000);
            return (await process.read(runId)).completedAt;
          });
          const { run, completed, outputs, log } = await judged(process, assert, runId);
          assert.deepEqual(
            { after, kind, status: run.status, completed, outputs, again: startsAfterEnds(log) },
            { after, kind, ...wanted },
          );
        }
      }
    }),
  );

  onHost('records nothing more when another host has taken the run over, and returns', async (world) => {
    const first = await world.boot();
    first.plan({ after: 1, kind: 'answer-lost' });
    const runId = await first.create(nodes.workflowId, nodes.inputs);
    await first.fails();
    first.fence(runId);
    const before = (await first.log(runId)).length;
    await world.pass(5000);
    await first.left();
    assert.deepEqual({ recorded: (await first.log(runId)).length }, { recorded: before });
    await first.kill();
    const second = await world.boot();
    const { run, completed, outputs, log } = await judged(second, assert, runId);
    assert.deepEqual({ status: run.status, completed, outputs, again: startsAfterEnds(log) }, wanted);
    await second.stop();
  });
}

/** At most one transaction for each event, and at least one for each node and for the start and the end of the run. */
function appendsOf(log: readonly unknown[]): number {
  return log.length;
}
