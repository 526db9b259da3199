import type { Task } from '@a2a-js/sdk';
import { TaskNotCancelableError } from '@a2a-js/sdk/errors';
import { HostError } from '../../errors.ts';
import type { A2aCall } from './call.ts';
import { currentTask, runIdIn, taskError } from './get.ts';

/**
 * Cancels the run of a task and returns the task.
 *
 * @throws {TaskNotCancelableError} when the task has ended
 * @throws {TaskNotFoundError} when the caller cannot read it
 */
export async function cancelTask(call: A2aCall, taskId: string): Promise<Task> {
  try {
    return await currentTask(call, await call.runs.cancel(call.caller, runIdIn(taskId)));
  } catch (error) {
    if (HostError.is(error) && error.code === 'run_terminal') {
      throw new TaskNotCancelableError('The task has ended; it cannot be cancelled.');
    }
    throw taskError(error);
  }
}
