import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { JsonObject } from '../../json.ts';
import { A2A_VERSIONS, type A2aVersion } from './agent-card.ts';

/** The methods of each version, with the scope that the caller must hold. */
export const METHODS: Readonly<Record<A2aVersion, Readonly<Record<string, string>>>> = {
  '1.0': {
    SendMessage: 'runs:create',
    SendStreamingMessage: 'runs:create',
    GetTask: 'runs:read',
    ListTasks: 'runs:read',
    CancelTask: 'runs:cancel',
    SubscribeToTask: 'runs:read',
    CreateTaskPushNotificationConfig: 'webhooks:manage',
    GetTaskPushNotificationConfig: 'webhooks:manage',
    ListTaskPushNotificationConfigs: 'webhooks:manage',
    DeleteTaskPushNotificationConfig: 'webhooks:manage',
    GetExtendedAgentCard: 'runs:read',
  },
  '0.3': {
    'message/send': 'runs:create',
    'message/stream': 'runs:create',
    'tasks/get': 'runs:read',
    'tasks/cancel': 'runs:cancel',
    'tasks/resubscribe': 'runs:read',
    'tasks/pushNotificationConfig/set': 'webhooks:manage',
    'tasks/pushNotificationConfig/get': 'webhooks:manage',
    'tasks/pushNotificationConfig/list': 'webhooks:manage',
    'tasks/pushNotificationConfig/delete': 'webhooks:manage',
    'agent/getAuthenticatedExtendedCard': 'runs:read',
  },
};

/**
 * Returns the protocol version of a request, from its `A2A-Version` header. Without the header the name of the method
 * decides, because no name is in both versions.
 *
 * @returns undefined when the header names a version that is not served
 */
export function versionOf(header: string | null, method: unknown): A2aVersion | undefined {
  if (header === null || header === '') return typeof method === 'string' && method in METHODS['1.0'] ? '1.0' : '0.3';
  return A2A_VERSIONS.find((version) => version === header);
}

export type JsonRpcAnswer = JsonRpcResponse | AsyncGenerator<JsonRpcResponse, void, undefined>;
export interface JsonRpcResponse {
  readonly jsonrpc: string;
  readonly id?: string | number | null;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Passes a request to the SDK's handler of its version. Resolves with one response, or with a stream of them. */
export async function answerJsonRpc(
  handler: A2ARequestHandler,
  version: A2aVersion,
  request: JsonObject,
): Promise<JsonRpcAnswer> {
  const context = new ServerCallContext({ requestedVersion: version });
  const transport =
    version === '1.0' ? new JsonRpcTransportHandler(handler) : new LegacyJsonRpcTransportHandler(handler);
  return transport.handle({ ...request }, context);
}
