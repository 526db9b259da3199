import type { Run } from '../../ports/runs.ts';
import { isWaiting } from '../../ports/runs.ts';
import { type EngineContract, onProcess } from './contract.ts';
import type { ContractQuestion } from './contract-workflows.ts';
import type { HostProcess } from './host-process.ts';
import { countOf, judged, startsAfterEnds } from './judged-run.ts';

/** Tests of questions: a turn ends with a question, and the turn after the answer gets it. */
export function questionsContract({ onHost, assert, workflows: { questions } }: EngineContract): void {
  for (const [kind, question] of Object.entries(questions)) {
    const { workflowId, inputs, nodeId } = question;

    onHost(`asks a question of the kind ${kind} once, returns, and goes on with the answer`, (world) =>
      onProcess(world, async (process) => {
        const runId = await process.create(workflowId, inputs);
        await waits(process, runId);
        await process.left();
        await world.pass(5000);
        const { length } = await process.log(runId);
        assert.deepEqual(
          {
            node: (await process.read(runId)).currentNodeId,
            'calls after the question': process.watched.turns.flatMap(({ afterLeaving }) => afterLeaving),
          },
          { node: nodeId, 'calls after the question': [] },
        );
        assert.deepEqual(await answered(process, runId, question), 200);
        const { run, log } = await judged(process, assert, runId);
        assert.deepEqual(
          {
            ...{ status: run.status, asked: countOf(log, 'interrupt.requested'), again: startsAfterEnds(log) },
            isAfter: log.length > length,
          },
          { status: 'completed', asked: 1, again: [], isAfter: true },
        );
      }),
    );

    onHost(`asks a question of the kind ${kind} once when it is killed before and after every call`, async (world) => {
      const { second, cuts } = await world.cutEverywhere(() => question, driven);
      for (const { runId, at, when } of cuts) {
        const { run, log } = await judged(second, assert, runId);
        assert.deepEqual(
          { at, when, status: run.status, asked: countOf(log, 'interrupt.requested'), again: startsAfterEnds(log) },
          { at, when, status: 'completed', asked: 1, again: [] },
        );
      }
      await second.stop();
    });

    onHost(`does nothing more when a run is cancelled that waits for an answer of the kind ${kind}`, (world) =>
      onProcess(world, async (process) => {
        const runId = await process.create(workflowId, inputs);
        await waits(process, runId);
        await process.call(`/v1/runs/${runId}/cancel`, {});
        const { run, completed } = await judged(process, assert, runId);
        assert.deepEqual({ status: run.status, completed }, { status: 'cancelled', completed: [] });
      }),
    );

    /** Drives runs to their cuts or ends, with answers to those that wait. */
    async function driven(process: HostProcess, runIds: readonly string[]): Promise<void> {
      await process.comeToCuts(runIds);
      for (const runId of runIds) {
        if (!isWaiting((await process.read(runId)).status)) continue;
        await answered(process, runId, question);
      }
      await process.comeToCuts(runIds);
    }
  }
}

function waits(process: HostProcess, runId: string): Promise<Run> {
  return process.comesTo(
    runId,
    'waiting-approval',
    'waiting-input',
    'waiting-external',
    'completed',
    'failed',
    'cancelled',
  );
}

async function answered(process: HostProcess, runId: string, { nodeId, answer }: ContractQuestion): Promise<number> {
  const { status } = await process.call(`/v1/runs/${runId}/interrupts/${nodeId}`, { resumeValue: answer });
  return status;
}
