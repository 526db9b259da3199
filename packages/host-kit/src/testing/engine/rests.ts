import { type EngineContract, onProcess } from './contract.ts';
import { countOf, judged } from './judged-run.ts';

/** Tests of nodes that wait for a time, and of their pauses. */
export function restsContract({ onHost, assert, workflows: { rest } }: EngineContract): void {
  if (rest === 'none') return;
  const { workflowId, inputs, ms } = rest;

  onHost('rests until its time, and no longer after a restart', async (world) => {
    const first = await world.boot();
    const runId = await first.create(workflowId, inputs);
    await first.rests(runId);
    await world.pass(ms / 2);
    assert.deepEqual((await first.rests(runId)).status, 'running');
    await first.kill();
    const second = await world.boot();
    await second.rests(runId);
    await world.pass(ms / 2 - 1000);
    assert.deepEqual((await second.rests(runId)).status, 'running');
    await world.pass(1000);
    const { run, log } = await judged(second, assert, runId);
    assert.deepEqual(
      { status: run.status, starts: countOf(log, 'node.completed') },
      { status: 'completed', starts: 1 },
    );
    await second.stop();
  });

  onHost('is paused while it rests, and rests for the time that is left after the resume', (world) =>
    onProcess(world, async (process) => {
      const runId = await process.create(workflowId, inputs);
      await process.rests(runId);
      await world.pass(ms / 2);
      assert.deepEqual(await process.pause(runId), 202);
      await process.comesTo(runId, 'paused');
      await process.left();
      await world.pass(ms);
      assert.deepEqual((await process.read(runId)).status, 'paused');
      const resumed = await process.call(`/v1/runs/${runId}:resume`, {});
      assert.deepEqual(resumed.status, 202);
      await process.rests(runId);
      await world.pass(ms / 2 - 1000);
      assert.deepEqual((await process.rests(runId)).status, 'running');
      await world.pass(1000);
      const { run } = await judged(process, assert, runId);
      assert.deepEqual(run.status, 'completed');
    }),
  );
}
