import type { ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { A2aCall } from './call.ts';
import { readRun } from './get.ts';

/** The address of one push notification configuration. */
interface ConfigAddress {
  readonly taskId: string;
  readonly id: string;
}

/**
 * Pushes each change of a task to a URL.
 *
 * @throws {RequestMalformedError} when a field of the configuration is not valid
 * @throws {HostError} `webhook_url_rejected` when the egress rules reject the URL
 * @throws {TaskNotFoundError} when the caller cannot read the task
 */
export async function createPushConfig(
  call: A2aCall,
  config: TaskPushNotificationConfig,
): Promise<TaskPushNotificationConfig> {
  return call.push.create(call.caller, await readRun(call, config.taskId), config);
}

/** Returns one configuration without its secrets. @throws {TaskNotFoundError} when the task does not have it */
export async function getPushConfig(call: A2aCall, { taskId, id }: ConfigAddress): Promise<TaskPushNotificationConfig> {
  const configs = await call.push.list(call.caller, await readRun(call, taskId));
  const found = configs.find((config) => config.id === id);
  if (found === undefined) throw new TaskNotFoundError('The task has no push notification configuration with this id.');
  return found;
}

/** Returns all configurations of a task, without their secrets, on one page. */
export async function listPushConfigs(call: A2aCall, taskId: string): Promise<ListTaskPushNotificationConfigsResponse> {
  return { configs: await call.push.list(call.caller, await readRun(call, taskId)), nextPageToken: '' };
}

/** Deletes a configuration. Does nothing when the task does not have it. */
export async function deletePushConfig(call: A2aCall, { taskId, id }: ConfigAddress): Promise<void> {
  await call.push.remove(call.caller, await readRun(call, taskId), id);
}
