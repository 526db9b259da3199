import { isTerminal } from '../../ports/runs.ts';
import type { EngineContract } from './contract.ts';
import { onProcess } from './contract.ts';
import type { HostProcess } from './host-process.ts';
import { judged, startsAfterEnds } from './judged-run.ts';
import type { World } from './world.ts';

/** Tests of child runs: a node starts one child, the turn ends while the child runs, and a later turn gets its outcome. */
export function childrenContract({ onHost, assert, workflows: { child } }: EngineContract): void {
  if (child === 'none') return;

  onHost('starts a child, leaves the run to wait for it, and completes with its outcome', (world) =>
    onProcess(world, async (process) => {
      const runId = await process.create(child.workflowId, child.inputs);
      const { run, outputs } = await judged(process, assert, runId);
      assert.deepEqual(
        {
          ...{ status: run.status, outputs, children: childrenOf(process, runId) },
          'calls after the wait': process.watched.turns.flatMap(({ afterLeaving }) => afterLeaving),
        },
        { status: 'completed', outputs: child.outputs, children: 1, 'calls after the wait': [] },
      );
    }),
  );

  onHost('starts a child once when it is killed before and after every call', async (world) => {
    const { second, cuts } = await world.cutEverywhere(
      () => child,
      (process, runIds) => toCutsOrEnds(world, process, runIds),
    );
    assert.deepEqual({ callsStartChild: cuts.length > 4 }, { callsStartChild: true });
    for (const { runId, at, when } of cuts) {
      const { run, outputs, log } = await judged(second, assert, runId);
      const children = await second.childrenOf(runId);
      assert.deepEqual(
        { at, when, status: run.status, outputs, again: startsAfterEnds(log), children: children.length },
        { at, when, status: 'completed', outputs: child.outputs, again: [], children: 1 },
      );
    }
    await second.stop();
  });
}

/** The number of children of a run that a process has driven. */
function childrenOf(process: HostProcess, runId: string): number {
  const children = process.watched.turns.filter(({ run }) => run.parent?.runId === runId);
  return new Set(children.map(({ run }) => run.runId)).size;
}

async function toCutsOrEnds(world: World, process: HostProcess, runIds: readonly string[]): Promise<void> {
  for (const runId of runIds) {
    await world.until('a cut or an end', async () => {
      const { status } = await process.read(runId);
      return isTerminal(status) || process.isCut(runId) || undefined;
    });
  }
}
