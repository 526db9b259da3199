import { mintId } from '@svc/versioning/ids';
import { z } from 'zod';
import { json } from '../http/description.ts';
import { type MountCall, mountRoute, parse, type Reply } from '../http/route.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { jsonValue } from '../json-schema.ts';
import type { RunEvent } from '../ports/events.ts';
import { isTerminal, type Run } from '../ports/runs.ts';
import type { MountDefinition, MountServices } from './mount.ts';

/** The options of {@link chatMount}. */
export interface ChatMountOptions {
  /** The id of the workflow that answers a message. Its inputs are `{ message, conversationId }`. */
  readonly workflowId: string;
  /** Picks the reply from the outputs of the run; undefined sends none. Default: the member `reply` of the outputs. */
  readonly reply?: (outputs: JsonObject) => Json | undefined;
  /**
   * The longest time that a response waits for its run to end, in ms. After it the response has the status of the run
   * and no reply. Default 30 000.
   */
  readonly waitMs?: number;
}

/**
 * Serves a conversation at `POST /host/<org>/chat`. Each message `{ message, conversationId? }` starts one run. The
 * response is `{ conversationId, runId, status, reply?, error? }`. A run that outlasts the wait is read like any other
 * run.
 *
 * @example
 * const host = createHost({ ...options, mounts: [chatMount({ workflowId: 'assistant' })] });
 * @see Interface: Endpoints, host-specific mounts
 */
export function chatMount(options: ChatMountOptions): MountDefinition {
  return (services) => ({
    name: 'chat',
    path: '/chat',
    routes: [
      mountRoute({
        method: 'POST',
        path: '/chat',
        scope: 'runs:create',
        takesBody: true,
        describes: {
          operationId: 'sendChatMessage',
          summary: 'Send a message',
          description:
            'Starts a run with the message, and waits for its reply. A run that takes longer is read as any run.',
          body: chatRequest,
          example: { message: 'hello' },
          answers: { 200: json('The reply, or the status of the run.', chatAnswer, { headers: ['Cache-Control'] }) },
        },
        serve: (call) => serve(call, services, options),
      }),
    ],
  });
}

const WAIT_MS = 30_000;

const chatRequest: z.ZodType<{ message: string; conversationId?: string | undefined }> = z.strictObject({
  message: z.string().min(1).max(32_768),
  conversationId: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{1,128}$/, 'must be the conversationId of an earlier response')
    .optional(),
});

const chatAnswer = z
  .object({
    conversationId: z.string().describe('Sent with the next message of the conversation.'),
    runId: z.string(),
    status: z.string().describe('The status of the run.'),
    reply: jsonValue.optional().describe('Present when the run has completed.'),
    error: z.object({ code: z.string(), message: z.string() }).optional().describe('Present when the run has failed.'),
  })
  .meta({ id: 'ChatAnswer' });

async function serve(
  call: MountCall,
  { runs, clock, random }: MountServices,
  { workflowId, reply = (outputs) => outputs.reply, waitMs = WAIT_MS }: ChatMountOptions,
): Promise<Reply> {
  const { message, conversationId = mintId('cnv', clock.now, random) } = parse(chatRequest, call.json);
  const run = await runs.create(call, {
    workflowId,
    inputs: { message, conversationId },
    scope: undefined,
    configurable: undefined,
    tags: [],
    metadata: { chat: { conversationId } },
    transport: 'ui',
  });
  const ended = await runs.settled(call, run, waitMs, call.gone());
  const last = isTerminal(ended.status) ? await runs.last(ended) : undefined;
  return {
    status: 200,
    headers: { 'cache-control': 'private, no-store' },
    body: { conversationId, runId: run.runId, status: ended.status, ...resultOf(ended, last, reply) },
  };
}

function resultOf(
  { error }: Run,
  last: RunEvent | undefined,
  reply: NonNullable<ChatMountOptions['reply']>,
): JsonObject {
  if (error !== undefined) return { error: { code: error.code, message: error.message } };
  const outputs = last?.type === 'run.completed' && isJsonObject(last.payload) ? last.payload.outputs : undefined;
  const picked = isJsonObject(outputs) ? reply(outputs) : undefined;
  return picked === undefined ? {} : { reply: picked };
}
