import { ExtendedAgentCardNotConfiguredError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { A2aCall } from './call.ts';
import { cancelTask } from './cancel.ts';
import { getTask } from './get.ts';
import { listTasks } from './list.ts';
import { createPushConfig, deletePushConfig, getPushConfig, listPushConfigs } from './push.ts';
import { sendMessage, sendMessageStream } from './send.ts';
import { subscribeToTask } from './subscribe.ts';

/**
 * The methods of A2A for one request. A task is a run, so it survives a restart of the host like every run.
 */
export function requestHandler(call: A2aCall): A2ARequestHandler {
  return {
    getAgentCard: async () => call.card,
    async getAuthenticatedExtendedAgentCard() {
      throw new ExtendedAgentCardNotConfiguredError('This agent has no extended card. Read the public agent card.');
    },
    sendMessage: (params) => sendMessage(call, params),
    sendMessageStream: (params) => sendMessageStream(call, params),
    getTask: (params) => getTask(call, params),
    listTasks: (params) => listTasks(call, params),
    cancelTask: ({ id }) => cancelTask(call, id),
    resubscribe: ({ id }) => subscribeToTask(call, id),
    createTaskPushNotificationConfig: (config) => createPushConfig(call, config),
    getTaskPushNotificationConfig: (config) => getPushConfig(call, config),
    listTaskPushNotificationConfigs: ({ taskId }) => listPushConfigs(call, taskId),
    deleteTaskPushNotificationConfig: (config) => deletePushConfig(call, config),
  };
}
