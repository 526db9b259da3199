import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { type A2ARequestHandler, JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { z } from 'zod';
import type { RefusedRequest } from '../../http/refusal.ts';
import type { JsonObject } from '../../json.ts';
import { jsonRpcError, METHOD_NOT_FOUND } from '../json-rpc.ts';
import { A2A_VERSIONS, type A2aVersion } from './agent-card.ts';
import { errorResponse } from './rpc-error.ts';

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

/** Returns the scope of a method; undefined when the version has no such method. */
export function scopeOf(version: A2aVersion, method: string): string | undefined {
  return Object.hasOwn(METHODS[version], method) ? METHODS[version][method] : undefined;
}

/**
 * Returns the protocol version of a request, from its `A2A-Version` header. Without the header the name of the method
 * decides, because no name is in both versions.
 *
 * @returns undefined when the header names a version that is not served
 */
export function versionOf(header: string | null, method: string): A2aVersion | undefined {
  if (header === null || header === '') return scopeOf('1.0', method) === undefined ? '0.3' : '1.0';
  return A2A_VERSIONS.find((version) => version === header);
}

/** A JSON-RPC request or notification. A notification has no `id`. */
export type RpcRequest = JsonObject & { readonly method: string };

/** Whether a value is a request or a notification. @see JSON-RPC 2.0, section 4 */
export function isRpcRequest(value: unknown): value is RpcRequest {
  return REQUEST.safeParse(value).success;
}

const REQUEST = z.looseObject({
  jsonrpc: z.literal('2.0'),
  method: z.string(),
  id: z.union([z.string(), z.number().refine(Number.isInteger), z.null()]).optional(),
  params: z.union([z.looseObject({}), z.array(z.unknown())]).optional(),
});

/** One JSON-RPC response, or a stream of them that has not begun. */
export type JsonRpcAnswer = object | AsyncGenerator<object, void, undefined>;

/** Passes a request to the SDK's handler of its version. Errors of `handler` become JSON-RPC errors. */
export async function answerJsonRpc(
  handler: A2ARequestHandler,
  version: A2aVersion,
  request: RpcRequest,
  refusalOf: (error: unknown) => RefusedRequest,
): Promise<JsonRpcAnswer> {
  const { id, method } = request;
  if (scopeOf(version, method) === undefined)
    return jsonRpcError(id, METHOD_NOT_FOUND, `A2A ${version} has no such method.`);
  const noted = notingFailures(handler);
  const context = new ServerCallContext({ requestedVersion: version });
  const transport =
    version === '1.0' ? new JsonRpcTransportHandler(noted.handler) : new LegacyJsonRpcTransportHandler(noted.handler);
  const answer = await transport.handle({ ...request }, context);
  const failure = noted.failure();
  return failure === undefined ? answer : errorResponse(version, id, failure.error, refusalOf);
}

/**
 * Wraps a handler to note the error that a method rejects with: the SDK would send the message of any error to the
 * caller, and log none.
 */
function notingFailures(handler: A2ARequestHandler) {
  let failure: { readonly error: unknown } | undefined;
  const noting =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    (...args: Args): Promise<Result> =>
      method(...args).catch((error: unknown) => {
        failure = { error };
        throw error;
      });
  const noted: A2ARequestHandler = {
    ...handler,
    getAuthenticatedExtendedAgentCard: noting(handler.getAuthenticatedExtendedAgentCard),
    sendMessage: noting(handler.sendMessage),
    getTask: noting(handler.getTask),
    listTasks: noting(handler.listTasks),
    cancelTask: noting(handler.cancelTask),
    createTaskPushNotificationConfig: noting(handler.createTaskPushNotificationConfig),
    getTaskPushNotificationConfig: noting(handler.getTaskPushNotificationConfig),
    listTaskPushNotificationConfigs: noting(handler.listTaskPushNotificationConfigs),
    deleteTaskPushNotificationConfig: noting(handler.deleteTaskPushNotificationConfig),
  };
  return { handler: noted, failure: () => failure };
}
