import { AgentCard } from '@a2a-js/sdk';
import { mintId } from '@svc/versioning/ids';
import { REFERENCE_INTEROP } from '../../discovery/reference-interop.ts';
import { EVENT_STREAM_HEADERS } from '../../http/event-stream.ts';
import { type MountCall, mountRoute, type Reply } from '../../http/route.ts';
import type { Json, JsonObject } from '../../json.ts';
import { INVALID_REQUEST, jsonRpcError, RPC_CODE, SERVER_ERROR } from '../json-rpc.ts';
import type { MountDefinition, MountServices } from '../mount.ts';
import { type AgentDescription, agentCard } from './agent-card.ts';
import { A2A_DESCRIPTION } from './description.ts';
import { answerJsonRpc, type JsonRpcResponse, METHODS, versionOf } from './json-rpc.ts';
import { A2A_PUSH_FORMATS, pushConfigs } from './push-configs.ts';
import { requestHandler } from './request-handler.ts';
import { serverSentEvents } from './server-sent-events.ts';

export type { AgentDescription } from './agent-card.ts';

/** The options of {@link a2aMount}. */
export interface A2aMountOptions {
  /** The agent as its public card describes it. */
  readonly agent: AgentDescription;
  /** The workflow of a message that names none in `metadata.workflowId`. Default: such a message is rejected. */
  readonly defaultWorkflowId?: string;
  /**
   * The longest time that the response to a message waits for its run to end or to ask a question, in ms. After it the
   * response has the task in its current state. Default 30 000.
   */
  readonly waitMs?: number;
}

/**
 * Serves runs as tasks of the A2A protocol, versions 1.0 and 0.3, over JSON-RPC at `/host/<org>/a2a`. The agent card at
 * `/host/<org>/a2a/.well-known/agent-card.json` is public.
 *
 * @throws {TypeError} from `createHost`, when it has no `baseUrl`: the card names it
 * @example
 * const agent = {
 *   name: 'Acme assistant',
 *   description: 'Answers questions about orders.',
 *   version: '1.0.0',
 *   skills: [{ id: 'assistant', name: 'Assistant', description: 'Answers one question.' }],
 * };
 * const host = createHost({
 *   ...options,
 *   baseUrl: 'https://svc.example.com',
 *   mounts: [a2aMount({ agent, defaultWorkflowId: 'assistant' })],
 * });
 * @see Interface: Endpoints, host-specific mounts; Version axes, 11
 */
export function a2aMount(options: A2aMountOptions): MountDefinition {
  return (services) => {
    const { baseUrl, org } = services;
    if (baseUrl === undefined)
      throw new TypeError('baseUrl: is required by a2aMount. Pass the public origin of the host to createHost.');
    const card = agentCard(`${baseUrl.replace(/\/$/, '')}/host/${org}/a2a`, options.agent);
    return {
      name: 'a2a',
      path: '/a2a',
      families: { a2a: REFERENCE_INTEROP.a2a },
      pushFormats: A2A_PUSH_FORMATS,
      documents: new Map([['/a2a/.well-known/agent-card.json', cardReply(AgentCard.toJSON(card))]]),
      routes: [
        mountRoute({
          method: 'POST',
          path: '/a2a',
          takesBody: true,
          describes: A2A_DESCRIPTION,
          refusalBody: ({ code, message }) =>
            jsonRpcError(null, RPC_CODE[code] ?? SERVER_ERROR, message, { error: code }),
          serve: (call) => serve(call, services, { card, ...options }),
        }),
      ],
    };
  };
}

async function serve(
  call: MountCall,
  services: MountServices,
  { card, defaultWorkflowId, waitMs = WAIT_MS }: Omit<A2aMountOptions, 'agent'> & { readonly card: AgentCard },
): Promise<Reply> {
  const { json, headers } = call;
  if (!isRequest(json))
    return rpcReply(
      jsonRpcError(null, INVALID_REQUEST, 'The body must be a JSON-RPC 2.0 request: an object with a method.'),
    );
  const version = versionOf(headers.get('a2a-version'), json.method);
  if (version === undefined) {
    return rpcReply(
      jsonRpcError(json.id, VERSION_NOT_SUPPORTED, 'This A2A-Version is not supported. Send 1.0 or 0.3.'),
    );
  }
  const scope = METHODS[version][json.method];
  const principal = scope === undefined ? call.principal : await call.permit(scope);
  const gone = call.gone();
  const { runs, clock, random } = services;
  const handler = requestHandler({
    card,
    caller: { ...call, principal },
    runs,
    push: pushConfigs(services, version),
    mintContextId: () => mintId('ctx', clock.now, random),
    defaultWorkflowId,
    waitMs,
    gone,
  });
  const answer = await answerJsonRpc(handler, version, json);
  if (!isStream(answer)) return rpcReply(answer);
  return { status: 200, headers: EVENT_STREAM_HEADERS, body: serverSentEvents(answer, { clock, gone }) };
}

const WAIT_MS = 30_000;

/** @see A2A, error code mappings */
const VERSION_NOT_SUPPORTED = -32009;

function cardReply(card: unknown): Reply {
  const body = new TextEncoder().encode(JSON.stringify(card));
  return { status: 200, headers: { 'cache-control': 'public, max-age=300' }, body };
}

function rpcReply(answer: Json | JsonRpcResponse): Reply {
  const body = new TextEncoder().encode(JSON.stringify(answer));
  return { status: 200, headers: { 'cache-control': 'no-store' }, body };
}

function isRequest(json: unknown): json is JsonObject & { readonly method: string } {
  return typeof json === 'object' && json !== null && 'method' in json && typeof json.method === 'string';
}

function isStream(answer: object): answer is AsyncGenerator<JsonRpcResponse, void, undefined> {
  return Symbol.asyncIterator in answer;
}
