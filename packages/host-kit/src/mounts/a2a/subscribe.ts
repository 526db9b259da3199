import { type Artifact, type StreamResponse, TaskState } from '@a2a-js/sdk';
import { UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { isJsonObject } from '../../json.ts';
import type { RunEvent } from '../../ports/events.ts';
import { isTerminal, type Run } from '../../ports/runs.ts';
import type { A2aCall } from './call.ts';
import { createdArtifacts, currentTask, readRun } from './get.ts';
import { conversationOf, outputsArtifact, STATE_EVENTS, statusOf } from './task.ts';

/**
 * Yields a task and then each change of it.
 *
 * @throws {UnsupportedOperationError} when the task has ended
 * @throws {TaskNotFoundError} when the caller cannot read it
 */
export async function* subscribeToTask(call: A2aCall, taskId: string): AsyncGenerator<StreamResponse, void, undefined> {
  const run = await readRun(call, taskId);
  if (isTerminal(run.status)) {
    throw new UnsupportedOperationError('The task has ended; it has no more updates. Get the task to read its result.');
  }
  yield* taskUpdates(call, run);
}

/** Yields the task of a run, then each artifact and each change of state, until the run ends or asks a question. */
export async function* taskUpdates(call: A2aCall, run: Run): AsyncGenerator<StreamResponse, void, undefined> {
  yield { payload: { $case: 'task', value: await currentTask(call, run) } };
  const ids = { taskId: run.runId, contextId: conversationOf(run).contextId };
  for await (const event of call.runs.follow(call.caller, run, run.lastSequence, call.gone)) {
    for (const artifact of await artifactsOf(call, run, event)) {
      const value = { ...ids, artifact, append: false, lastChunk: true, metadata: undefined };
      yield { payload: { $case: 'artifactUpdate', value } };
    }
    if (!STATE_EVENTS.includes(event.type)) continue;
    const now = await call.runs.read(call.caller, run.runId);
    const status = statusOf(now, { last: event, question: await call.runs.question(now) });
    yield { payload: { $case: 'statusUpdate', value: { ...ids, status, metadata: undefined } } };
    if (status.state === TaskState.TASK_STATE_INPUT_REQUIRED) return;
  }
}

async function artifactsOf(call: A2aCall, run: Run, event: RunEvent): Promise<Artifact[]> {
  if (event.type === 'run.completed') return outputsArtifact(event);
  if (event.type !== 'artifact.created') return [];
  const id = isJsonObject(event.payload) ? event.payload.artifactId : undefined;
  return (await createdArtifacts(call, run)).filter(({ artifactId }) => artifactId === id);
}
