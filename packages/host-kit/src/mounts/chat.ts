import { mintId } from '@svc/versioning/ids';
import { z } from 'zod';
import { type MountCall, mountRoute, parse, type Reply } from '../http/route.ts';
import type { Json, JsonObject } from '../json.ts';
import type { RunEvent } from '../ports/events.ts';
import { isTerminal, type Run } from '../ports/runs.ts';
import type { MountDefinition, MountServices } from './mount.ts';

export interface ChatMountOptions {
  /** The workflow that answers a message. It is given `{ message, conversationId }`. */
  readonly workflowId: string;
  /** What its outputs say to the caller. Default: their `reply`. */
  readonly reply?: (outputs: JsonObject) => Json | undefined;
  /** How long an answer waits for the end of its run, in ms. Default 30 000. */
  readonly waitMs?: number;
}

/**
 * A conversation as runs: each message under `/host/<org>/chat` is one run, and its reply what the run ends with. One that takes longer
 * answers without a reply, and is read like any other run.
 *
 * @example
 * createHost({ …, mounts: [chatMount({ workflowId: 'assistant' })] });
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
    .regex(/^[A-Za-z0-9._~-]{1,128}$/, 'must be as an earlier answer gave it')
    .optional(),
});

async function serve(
  call: MountCall,
  { runs, clock, random }: MountServices,
  { workflowId, reply = ({ reply: said }) => said, waitMs = WAIT_MS }: ChatMountOptions,
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
    body: { conversationId, runId: run.runId, status: ended.status, ...saidBy(ended, last, reply) },
  };
}

function saidBy({ error }: Run, last: RunEvent | undefined, reply: NonNullable<ChatMountOptions['reply']>): JsonObject {
  if (error !== undefined) return { error: { code: error.code, message: error.message } };
  const outputs = last?.type === 'run.completed' && isObject(last.payload) ? last.payload.outputs : undefined;
  const said = isObject(outputs) ? reply(outputs) : undefined;
  return said === undefined ? {} : { reply: said };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
