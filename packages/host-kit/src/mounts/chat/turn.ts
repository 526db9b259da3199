import { mintId } from '@svc/versioning/ids';
import { HostError, invalid } from '../../errors.ts';
import { asksForEventStream, messageText } from '../../http/event-stream.ts';
import { type MountCall, parse, type Reply } from '../../http/route.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { isTerminal, type Run } from '../../ports/runs.ts';
import { isTerminalEvent } from '../../runs/transitions.ts';
import { questionBody } from '../../wire/interrupt-event.ts';
import { eventStreamReply } from '../event-stream.ts';
import type { MountServices } from '../mount.ts';
import {
  conversationIdOf,
  conversationName,
  endOf,
  historyOf,
  type MemoryLimits,
  type PickReply,
  replyIn,
} from './conversation.ts';
import { chatRequest } from './description.ts';

/** The services and options of one chat. */
export interface Chat {
  readonly services: MountServices;
  /** The path of the mount. Conversations of different mounts are apart. */
  readonly path: string;
  readonly workflowId: string;
  readonly reply: PickReply;
  readonly waitMs: number;
  readonly memory: MemoryLimits;
}

/**
 * Starts the run of a message, once under its idempotency key, and answers with its result: a stream for a caller that
 * asks for one, otherwise the reply as soon as there is one.
 */
export async function say(chat: Chat, call: MountCall): Promise<Reply> {
  const { message, conversationId: given } = parse(chatRequest, call.json);
  // Judged before the run is created: its reply could not be read without the scope.
  await call.permit('runs:read');
  const { runs, clock, random } = chat.services;
  return call.once<{ runId: string }>(
    async (save) => {
      const conversationId = given ?? mintId('cnv', clock.now, random);
      const conversation = conversationName(chat.path, call.principal.id, conversationId);
      const history = await historyOf(runs, call, conversation, { limits: chat.memory, reply: chat.reply });
      const request = {
        workflowId: chat.workflowId,
        inputs: { message, conversationId, history: history.map(({ role, content }) => ({ role, content })) },
        scope: undefined,
        configurable: undefined,
        tags: [],
        metadata: { chat: { conversationId } },
        conversation,
        transport: 'ui',
      } as const;
      const run = await runs.create(call, request, ({ runId }, transaction) => save({ runId }, transaction));
      return { runId: run.runId };
    },
    async ({ runId }) => {
      const run = await runs.read(call, runId);
      if (asksForEventStream(call.headers.get('accept'))) return streamOf(chat, call, run, -1);
      return jsonReply(await turnBody(chat, await runs.settled(call, run, chat.waitMs, call.gone())));
    },
  );
}

/** Answers with the present state of a turn, or with the rest of its stream after `Last-Event-ID`. */
export async function read(chat: Chat, call: MountCall): Promise<Reply> {
  const run = await chat.services.runs.read(call, runIdIn(call));
  const conversationId = conversationIdOf(run);
  const isOwn =
    conversationId !== undefined && run.conversation === conversationName(chat.path, call.principal.id, conversationId);
  if (!isOwn) throw absent();
  if (!asksForEventStream(call.headers.get('accept'))) return jsonReply(await turnBody(chat, run));
  const after = lastEventIdIn(call.headers);
  // An EventSource connects again until it is answered 204.
  if (isTerminal(run.status) && after >= run.lastSequence) return { status: 204 };
  return streamOf(chat, call, run, after);
}

function jsonReply(body: JsonObject): Reply {
  return { status: 200, headers: { 'cache-control': 'private, no-store' }, body };
}

async function turnBody({ services: { runs }, reply }: Chat, run: Run): Promise<JsonObject> {
  const { runId, status, error } = run;
  const picked = replyIn(await endOf(runs, run), reply);
  const question = await runs.question(run);
  return {
    conversationId: conversationIdOf(run) ?? null,
    ...{ runId, status },
    ...(picked !== undefined && { reply: picked }),
    ...(question !== undefined && { question }),
    ...(error !== undefined && { error: { code: error.code, message: error.message } }),
  };
}

function streamOf(chat: Chat, call: MountCall, run: Run, after: number): Promise<Reply> {
  const { clock, log, refusalOf } = chat.services;
  const failed = (error: unknown) => {
    const { code, message } = refusalOf(error);
    return messageText({ event: 'error', data: JSON.stringify({ error: code, message }) });
  };
  return eventStreamReply(messagesOf(chat, call, run, after), { clock, log, gone: call.gone(), failed });
}

/** The messages of a turn. Each has the sequence of its event as id, but the first, which a resumed stream repeats. */
async function* messagesOf(
  chat: Chat,
  call: MountCall,
  run: Run,
  after: number,
): AsyncGenerator<string, void, undefined> {
  const { runs } = chat.services;
  const { runId, status } = run;
  yield textOf('turn', { conversationId: conversationIdOf(run) ?? null, runId, status });
  for await (const event of runs.follow(call, run, after, call.gone())) {
    const { type, sequence, payload } = event;
    if (type === 'output.chunk' && isJsonObject(payload)) yield textOf('delta', deltaOf(payload), sequence);
    if (type === 'interrupt.requested' && isJsonObject(payload))
      yield textOf('question', questionBody(2, payload), sequence);
    if (isTerminalEvent(type)) yield textOf('reply', await turnBody(chat, await runs.read(call, runId)), sequence);
  }
}

function deltaOf({ chunk, channel }: JsonObject): JsonObject {
  return { chunk: chunk ?? '', ...(channel !== undefined && { channel }) };
}

function textOf(event: string, data: JsonObject, id?: number): string {
  return messageText({ event, data: JSON.stringify(data), ...(id !== undefined && { id }) });
}

function runIdIn({ params }: MountCall): string {
  const { runId = '' } = params;
  if (/^[A-Za-z0-9._~-]{1,128}$/.test(runId)) return runId;
  throw absent();
}

function lastEventIdIn(headers: Headers): number {
  const text = headers.get('last-event-id') ?? '';
  if (text === '') return -1;
  if (/^[0-9]{1,15}$/.test(text)) return Number(text);
  throw invalid({ field: 'headers.last-event-id', problem: 'must be the id of an event of this stream' });
}

function absent(): HostError {
  return new HostError('not_found', 'There is no such turn.', { details: undefined });
}
