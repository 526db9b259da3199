import type { EngineContract } from './contract.ts';
import { judged, startsAfterEnds } from './judged-run.ts';

/** Tests of a process that ends at any call of the execution, and of the next one, which has the log alone. */
export function killsContract({ onHost, assert, workflows }: EngineContract): void {
  const { nodes, change } = workflows;

  onHost('goes on after a kill before and after every append, and repeats no node that has ended', async (world) => {
    const { second, cuts } = await world.cutEverywhere(
      () => nodes,
      (process, runIds) => process.comeToCuts(runIds),
    );
    assert.deepEqual({ recordsEachNode: cuts.length > 2 * nodes.nodes.length }, { recordsEachNode: true });
    for (const { runId, at, when } of cuts) {
      const { run, completed, outputs, log } = await judged(second, assert, runId);
      assert.deepEqual(
        { at, when, status: run.status, completed, outputs, again: startsAfterEnds(log) },
        { at, when, status: 'completed', completed: nodes.nodes, outputs: nodes.outputs, again: [] },
      );
    }
    await second.stop();
  });

  if (change === 'none') return;

  onHost('fails a run that no longer fits its changed workflow', async (world) => {
    const first = await world.boot({ cuts: true });
    const undisturbed = await first.create(nodes.workflowId, nodes.inputs);
    await first.ends(undisturbed);
    // Killed when all nodes have ended, and the run has not.
    const cut = { at: first.watched.callsOf(undisturbed) - 1, when: 'before' };
    const runId = await first.create(nodes.workflowId, nodes.inputs, { metadata: { cut } });
    await first.comeToCuts([runId]);
    await first.kill();
    const second = await world.boot({ open: change.open });
    const { run } = await judged(second, assert, runId);
    assert.deepEqual({ status: run.status, code: run.error?.code }, { status: 'failed', code: change.code });
    await second.stop();
  });
}
