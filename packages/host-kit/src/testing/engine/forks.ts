import { isJsonObject } from '../../json.ts';
import type { ForkMode } from '../../ports/runs.ts';
import { type EngineContract, onProcess } from './contract.ts';
import type { HostProcess } from './host-process.ts';
import { countOf, judged } from './judged-run.ts';

/** Tests of forks, in the modes that the engine declares. The host does not serve the others. */
export function forksContract({ onHost, assert, workflows }: EngineContract): void {
  const { nodes, echo, failure, artifact, effect } = workflows;

  onHost('serves the modes of forks that it declares, and no other', (world) =>
    onProcess(world, async (process) => {
      const runId = await process.create(nodes.workflowId, nodes.inputs);
      await process.ends(runId);
      for (const mode of ['replay', 'branch'] as const) {
        const { status } = await fork(process, runId, mode, 0);
        const isDeclared = process.watched.engine.forks?.includes(mode) === true;
        assert.deepEqual({ mode, isServed: status === 201 }, { mode, isServed: isDeclared });
      }
    }),
  );

  onHost('replays runs with the outcomes of their sources, without a divergence', (world) =>
    onProcess(world, async (process) => {
      if (!declares(process, 'replay')) return;
      const sources = [
        ...[nodes, failure, { ...echo, inputs: echo.inputs({ text: 'once' }) }],
        ...(artifact === 'none' ? [] : [artifact]),
        ...(effect === 'none'
          ? []
          : [{ ...effect, inputs: effect.inputs('order', 'https://effects.example/replayed') }]),
      ];
      for (const { workflowId, inputs } of sources) {
        const source = await judged(process, assert, await process.create(workflowId, inputs));
        for (const fromSeq of [0, source.log.length - 1]) {
          const { runId } = await fork(process, source.run.runId, 'replay', fromSeq);
          const replay = await judged(process, assert, runId);
          assert.deepEqual(
            { ...partsOf(replay), diverged: countOf(replay.log, 'replay.diverged') },
            { ...partsOf(source), diverged: 0 },
          );
        }
      }
      assert.deepEqual({ calls: world.calls.length }, { calls: effect === 'none' ? 0 : 1 });
    }),
  );

  onHost('branches from every event of a run, and keeps its history', (world) =>
    onProcess(world, async (process) => {
      if (!declares(process, 'branch')) return;
      const source = await judged(process, assert, await process.create(nodes.workflowId, nodes.inputs));
      for (let fromSeq = 0; fromSeq < source.log.length; fromSeq++) {
        const { runId } = await fork(process, source.run.runId, 'branch', fromSeq);
        const branch = await judged(process, assert, runId);
        assert.deepEqual({ fromSeq, ...partsOf(branch) }, { fromSeq, ...partsOf(source) });
      }
    }),
  );
}

function declares({ watched: { engine } }: HostProcess, mode: ForkMode): boolean {
  return engine.forks?.includes(mode) === true;
}

async function fork(process: HostProcess, runId: string, mode: ForkMode, fromSeq: number) {
  const { status, body } = await process.call(`/v1/runs/${runId}:fork`, { mode, fromSeq });
  return { status, runId: isJsonObject(body) ? String(body.runId) : '' };
}

function partsOf({ run, completed, outputs }: Awaited<ReturnType<typeof judged>>) {
  return { status: run.status, code: run.error?.code, completed, outputs };
}
