import { AgentCard } from '@a2a-js/sdk';
import { mintId } from '@svc/versioning/ids';
import { REFERENCE_INTEROP } from '../../discovery/reference-interop.ts';
import { type MountCall, mountRoute, type Reply } from '../../http/route.ts';
import { eventStreamReply } from '../event-stream.ts';
import { INVALID_REQUEST, jsonRpcError, RPC_CODE, SERVER_ERROR } from '../json-rpc.ts';
import type { MountDefinition, MountServices } from '../mount.ts';
import { type AgentDescription, agentCard } from './agent-card.ts';
import { A2A_DESCRIPTION } from './description.ts';
import { answerJsonRpc, isRpcRequest, type JsonRpcAnswer, scopeOf, versionOf } from './json-rpc.ts';
import { A2A_PUSH_FORMATS, pushConfigs } from './push-configs.ts';
import { requestHandler } from './request-handler.ts';
import { errorResponse } from './rpc-error.ts';

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
 * `/host/<org>/a2a/.well-known/agent-card.json` is public. It is also at `/host/<org>/.well-known/agent-card.json` and
 * at `/.well-known/agent-card.json` of the origin, where clients look that know the URL or the origin alone.
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
    const published = cardReply(AgentCard.toJSON(card));
    return {
      name: 'a2a',
      path: '/a2a',
      families: { a2a: REFERENCE_INTEROP.a2a },
      pushFormats: A2A_PUSH_FORMATS,
      documents: new Map([
        [`/a2a${CARD_PATH}`, () => published],
        // A client that resolves the path against the URL of the mount without a slash at its end looks here.
        [CARD_PATH, () => published],
      ]),
      originDocuments: new Map([[CARD_PATH, () => published]]),
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
  if (!isRpcRequest(json)) return rpcReply(jsonRpcError(idIn(json), INVALID_REQUEST, NO_REQUEST));
  const version = versionOf(headers.get('a2a-version'), json.method);
  if (version === undefined) {
    return rpcReply(
      jsonRpcError(json.id, VERSION_NOT_SUPPORTED, 'This A2A-Version is not supported. Send 1.0 or 0.3.'),
    );
  }
  const scope = scopeOf(version, json.method);
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
  const answer = await answerJsonRpc(handler, version, json, services.refusalOf);
  const failure = (error: unknown) => errorResponse(version, json.id, error, services.refusalOf);
  if (!('id' in json)) return notified(answer, failure);
  if (!isStream(answer)) return rpcReply(answer);
  const failed = (error: unknown) => messageOf(failure(error));
  const options = { clock, log: services.log, gone, failed };
  return eventStreamReply(messagesOf(answer), options).catch((error: unknown) => rpcReply(failure(error)));
}

const WAIT_MS = 30_000;
const NO_REQUEST =
  'The body must be a JSON-RPC 2.0 request: an object with "jsonrpc": "2.0", a method, an id that is a string or a ' +
  'whole number, and params that are an object or a list.';
const CARD_PATH = '/.well-known/agent-card.json';

/**
 * Answers a notification, whose sender gets no response, not even an error. A stream is begun for its effect.
 *
 * @see JSON-RPC 2.0, section 4.1
 */
async function notified(answer: JsonRpcAnswer, failure: (error: unknown) => unknown): Promise<Reply> {
  if (isStream(answer)) {
    await answer.next().catch(failure);
    await answer.return();
  }
  return { status: 204 };
}

async function* messagesOf(
  responses: AsyncGenerator<object, void, undefined>,
): AsyncGenerator<string, void, undefined> {
  for await (const response of responses) yield messageOf(response);
}

function messageOf(response: object): string {
  return `data: ${JSON.stringify(response)}\n\n`;
}

/** @see A2A, error code mappings */
const VERSION_NOT_SUPPORTED = -32009;

function cardReply(card: unknown): Reply {
  const body = new TextEncoder().encode(JSON.stringify(card));
  return { status: 200, headers: { 'cache-control': 'public, max-age=300' }, body };
}

function rpcReply(answer: object): Reply {
  const body = new TextEncoder().encode(JSON.stringify(answer));
  return { status: 200, headers: { 'cache-control': 'no-store' }, body };
}

function idIn(json: unknown): unknown {
  return typeof json === 'object' && json !== null && 'id' in json ? json.id : null;
}

function isStream(answer: JsonRpcAnswer): answer is AsyncGenerator<object, void, undefined> {
  return Symbol.asyncIterator in answer;
}
