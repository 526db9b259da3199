import { type EngineContract, onProcess } from './contract.ts';
import { judged } from './judged-run.ts';

/** Tests of the reasons to leave a run that is under way: a cancel, a stop of the host, and a takeover. */
export function leavingContract({ onHost, assert, workflows: { rest } }: EngineContract): void {
  if (rest === 'none') return;
  const { workflowId, inputs, ms } = rest;

  onHost('returns when a run is cancelled, which ends within five seconds', (world) =>
    onProcess(world, async (process) => {
      const runId = await process.create(workflowId, inputs);
      await process.rests(runId);
      await world.pass(1000);
      const { status } = await process.call(`/v1/runs/${runId}/cancel`, { reason: 'no longer wanted' });
      assert.deepEqual(status, 200);
      await process.left();
      await world.pass(5000);
      const { run } = await judged(process, assert, runId);
      assert.deepEqual(run.status, 'cancelled');
      const { length } = await process.log(runId);
      await world.pass(ms);
      assert.deepEqual({ length: (await process.log(runId)).length }, { length });
    }),
  );

  onHost('returns when the host stops, and goes on in the next process', async (world) => {
    const first = await world.boot();
    const runId = await first.create(workflowId, inputs);
    await first.rests(runId);
    await world.pass(1000);
    await first.stop();
    const second = await world.boot();
    await second.rests(runId);
    await world.pass(ms);
    const { run } = await judged(second, assert, runId);
    assert.deepEqual(run.status, 'completed');
    await second.stop();
  });

  onHost('returns when another host takes a resting run over, and records nothing more', async (world) => {
    const first = await world.boot();
    const runId = await first.create(workflowId, inputs);
    await first.rests(runId);
    await world.pass(1000);
    first.fence(runId);
    const before = (await first.log(runId)).length;
    await world.pass(ms);
    await world.until('the engine finds out', () =>
      first.watched.turns.every((turn) => turn.isSettled) ? true : undefined,
    );
    const after = await first.log(runId);
    assert.deepEqual({ length: after.length }, { length: before });
    await first.kill();
    const second = await world.boot();
    const { run } = await judged(second, assert, runId);
    assert.deepEqual(run.status, 'completed');
    await second.stop();
  });
}
