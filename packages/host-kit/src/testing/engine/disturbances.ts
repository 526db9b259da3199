import { type EngineContract, onProcess } from './contract.ts';
import type { HostProcess } from './host-process.ts';
import { judged, startsAfterEnds } from './judged-run.ts';

/** Tests of a cancel, a pause and a takeover that come while the engine is about to make a call, for every call. */
export function disturbancesContract({ onHost, assert, workflows: { nodes } }: EngineContract): void {
  const wanted = { status: 'completed', completed: nodes.nodes, outputs: nodes.outputs, again: [] };

  onHost('returns when a run is cancelled before any call, and the run ends within five seconds', (world) =>
    onProcess(
      world,
      async (process) => {
        for (const runId of await heldRuns(process)) {
          const { status } = await process.call(`/v1/runs/${runId}/cancel`, {});
          process.watched.release(runId);
          await process.left();
          await world.pass(5000);
          const { run } = await judged(process, assert, runId);
          assert.deepEqual({ answer: status, status: run.status }, { answer: 200, status: 'cancelled' });
        }
      },
      { cuts: true },
    ),
  );

  onHost('returns when a run is paused before any call, and goes on after the resume', (world) =>
    onProcess(
      world,
      async (process) => {
        for (const runId of await heldRuns(process)) {
          await process.pause(runId, () => process.watched.release(runId));
          const { status } = await process.comesTo(runId, 'paused', 'completed', 'failed');
          await process.left();
          if (status === 'paused') await process.call(`/v1/runs/${runId}:resume`, {});
          const { run, completed, outputs, log } = await judged(process, assert, runId);
          assert.deepEqual({ status: run.status, completed, outputs, again: startsAfterEnds(log) }, wanted);
        }
      },
      { cuts: true },
    ),
  );

  onHost('records nothing more when another host takes a run over before any call, and returns', async (world) => {
    const first = await world.boot({ cuts: true });
    const runIds = await heldRuns(first);
    for (const runId of runIds) {
      const { length } = await first.log(runId);
      first.fence(runId);
      first.watched.release(runId);
      await world.until('the engine finds out', () => first.hasReturned(runId) || undefined);
      assert.deepEqual({ length: (await first.log(runId)).length }, { length });
    }
    await first.kill();
    const second = await world.boot();
    for (const runId of runIds) {
      const { run, completed, outputs, log } = await judged(second, assert, runId);
      assert.deepEqual({ status: run.status, completed, outputs, again: startsAfterEnds(log) }, wanted);
    }
    await second.stop();
  });

  /** Starts one run for each call of the engine, which is held there. */
  async function heldRuns(process: HostProcess): Promise<readonly string[]> {
    const undisturbed = await process.create(nodes.workflowId, nodes.inputs);
    await process.ends(undisturbed);
    const runIds: string[] = [];
    for (let at = 0; at < process.watched.callsOf(undisturbed); at++) {
      const cut = { at, when: 'held' };
      runIds.push(await process.create(nodes.workflowId, nodes.inputs, { metadata: { cut } }));
    }
    await process.comeToCuts(runIds);
    return runIds;
  }
}
