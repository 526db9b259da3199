import type { Artifact, GetTaskRequest, Task } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import { HostError } from '../../errors.ts';
import type { Run } from '../../ports/runs.ts';
import type { A2aCall } from './call.ts';
import { artifactOf, outputsArtifact, taskOf } from './task.ts';

/** Returns a task in its current state. @throws {TaskNotFoundError} when the caller cannot read it */
export async function getTask(
  call: A2aCall,
  { id, historyLength }: Pick<GetTaskRequest, 'id' | 'historyLength'>,
): Promise<Task> {
  return withHistory(await currentTask(call, await readRun(call, id)), historyLength);
}

/** Reads the run of a task. @throws {TaskNotFoundError} when the caller cannot read it */
export async function readRun(call: A2aCall, taskId: string): Promise<Run> {
  return call.runs.read(call.caller, runIdIn(taskId)).catch((error: unknown) => {
    throw taskError(error);
  });
}

/** The task of a run, with its open question, the run's last event and all artifacts that the caller may read. */
export async function currentTask(call: A2aCall, run: Run, { includeArtifacts = true } = {}): Promise<Task> {
  const [last, question] = await Promise.all([call.runs.last(run), call.runs.question(run)]);
  const artifacts = includeArtifacts ? [...(await createdArtifacts(call, run)), ...outputsArtifact(last)] : [];
  return taskOf(run, { last, question, artifacts });
}

/**
 * A task with the newest `length` messages of its history.
 *
 * @param length undefined for all
 * @throws {RequestMalformedError} when it is not a whole number
 */
export function withHistory(task: Task, length: number | undefined): Task {
  if (length === undefined) return task;
  if (!Number.isInteger(length) || length < 0)
    throw new RequestMalformedError('historyLength: must be a whole number from 0.');
  return { ...task, history: length === 0 ? [] : task.history.slice(-length) };
}

/** The artifacts that the run has created so far, without its outputs. */
export async function createdArtifacts(call: A2aCall, run: Run): Promise<Artifact[]> {
  const artifacts = await call.runs.artifacts(call.caller, run);
  return artifacts.map(({ artifactId, content }) => artifactOf(artifactId, artifactId, content));
}

/** The id of the run of a task. @throws {TaskNotFoundError} when no run can have this id */
export function runIdIn(taskId: string): string {
  if (/^[A-Za-z0-9._~-]{1,128}$/.test(taskId)) return taskId;
  throw new TaskNotFoundError(NOT_FOUND);
}

/** Replaces the refusals of a hidden run and of a missing run by one error, so that a caller cannot tell them apart. */
export function taskError(error: unknown): unknown {
  const isHidden = HostError.is(error) && (error.code === 'not_found' || error.code === 'run_forbidden');
  return isHidden ? new TaskNotFoundError(NOT_FOUND) : error;
}

const NOT_FOUND = 'There is no such task.';
