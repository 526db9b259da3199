import type { EngineContract } from './contract.ts';
import type { HostProcess } from './host-process.ts';
import { countOf, judged } from './judged-run.ts';

/** Tests of artifacts, which are made once, and of effects, which a repeated attempt asks for under the same id. */
export function effectsAndArtifactsContract({ onHost, assert, workflows: { artifact, effect } }: EngineContract): void {
  if (artifact !== 'none') {
    onHost('makes an artifact once when it is killed before and after every call', async (world) => {
      const { second, cuts } = await world.cutEverywhere(() => artifact, toCuts);
      for (const { runId, at, when } of cuts) {
        const { run, log } = await judged(second, assert, runId);
        assert.deepEqual(
          { at, when, status: run.status, made: countOf(log, 'artifact.created') },
          { at, when, status: 'completed', made: 1 },
        );
      }
      await second.stop();
    });
  }
  if (effect === 'none') return;
  const { workflowId, inputs } = effect;

  onHost('makes an effect under one id when it is killed before and after every call', async (world) => {
    const order = (index: number) => ({ workflowId, inputs: inputs(`order-${index}`, `${EFFECTS}/${index}`) });
    const { second, cuts } = await world.cutEverywhere(order, toCuts);
    for (const [index, { runId, at, when }] of cuts.entries()) {
      const { run } = await judged(second, assert, runId);
      const ids = world.calls.filter(({ url }) => url === `${EFFECTS}/${index + 1}`).map(({ key }) => key);
      assert.deepEqual(
        {
          at,
          when,
          status: run.status,
          ids: new Set(ids).size,
          hasId: !ids.includes(null),
          isBounded: ids.length <= 2,
        },
        { at, when, status: 'completed', ids: 1, hasId: true, isBounded: true },
      );
    }
    await second.stop();
  });
}

function toCuts(process: HostProcess, runIds: readonly string[]): Promise<void> {
  return process.comeToCuts(runIds);
}

const EFFECTS = 'https://effects.example/orders';
