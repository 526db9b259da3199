import { type McpRequestContext, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { AuthError } from '@svc/auth';
import { z } from 'zod';
import type { JsonObject } from '../../json.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RunEvent } from '../../ports/events.ts';
import { isTerminal } from '../../ports/runs.ts';
import type { MountServices } from '../mount.ts';
import { REVISIONS } from './revisions.ts';
import { createdTask, serveTasks, takesTasks } from './tasks.ts';
import { runResult, snapshotWithResult, type ToolCall, toolResult } from './tool-call.ts';
import { toolInput } from './tool-input.ts';

/**
 * Makes a server for one request of one caller: the operations on runs as tools. Results have the form of major 2, but
 * a run id without its tenant.
 *
 * @param era `legacy`: the revision of the request has no extensions, so a run is not a task
 */
export function toolServer(call: ToolCall, era: McpRequestContext['era']): McpServer {
  const server = new McpServer(call.implementation, {
    // The tools never change, and a server without sessions could not tell its clients.
    capabilities: { tools: { listChanged: false } },
    // The SDK would serve every revision that it knows. A request of another one is refused with the names of these.
    supportedProtocolVersions: [...REVISIONS],
    instructions:
      'Starts and reads runs of workflows. create_run starts a run; read_run returns its status and result.',
  });
  registerCreate(server, call);
  registerRead(server, call);
  registerCancel(server, call);
  registerAnswer(server, call);
  if (era === 'modern') serveTasks(server, call);
  return server;
}

function registerCreate(server: McpServer, call: ToolCall): void {
  const { caller, gone, runs, clock, refusalOf } = call;
  const description =
    'Starts a run of a workflow. With waitSeconds the result waits until the run ends or asks a question. ' +
    'The run continues when the call is cancelled: cancel_run cancels it. ' +
    'A client of the Tasks extension gets a task unless the run has ended.';
  const inputSchema = toolInput({
    workflowId: z.string().min(1).max(128).describe('The id of the workflow'),
    inputs: jsonObject.optional().describe('The inputs of the workflow. Default: {}'),
    tags: z.array(z.string().max(256)).max(100).optional().describe('Labels of the run. Default: none'),
    waitSeconds: z
      .int()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .optional()
      .describe('The longest wait in seconds, 0 to 60. Default 0: the result is immediate'),
  });
  const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };
  server.registerTool(
    'create_run',
    { title: 'Create a run', description, inputSchema, annotations },
    ({ workflowId, inputs = {}, tags = [], waitSeconds = 0 }, context) =>
      withRefusals(refusalOf, async () => {
        const isTask = takesTasks(context) && (await mayRead(call));
        const run = await runs.create(caller, { ...REST_ONLY, workflowId, inputs, tags, transport: 'mcp' });
        const heard = progressOf(context.mcpReq, clock);
        const waited = waitSeconds === 0 ? run : await runs.settled(caller, run, waitSeconds * 1000, gone, heard);
        if (!isTask || isTerminal(waited.status)) return runResult(runs, waited);
        return { content: [], ...(await createdTask(call, waited)) };
      }),
  );
}

function registerRead(server: McpServer, { caller, runs, refusalOf }: ToolCall): void {
  const description = 'Returns the status of a run, with its outputs, its error or its open question.';
  server.registerTool(
    'read_run',
    { title: 'Read a run', description, inputSchema: toolInput({ runId }), annotations: { readOnlyHint: true } },
    (given) =>
      withRefusals(refusalOf, async () =>
        toolResult(await snapshotWithResult(runs, await runs.read(caller, given.runId))),
      ),
  );
}

function registerCancel(server: McpServer, { caller, runs, refusalOf }: ToolCall): void {
  const description = 'Requests the cancellation of a run. The run ends as cancelled within seconds.';
  const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: true };
  server.registerTool(
    'cancel_run',
    { title: 'Cancel a run', description, inputSchema: toolInput({ runId }), annotations },
    (given) =>
      withRefusals(refusalOf, async () =>
        toolResult(await snapshotWithResult(runs, await runs.cancel(caller, given.runId))),
      ),
  );
}

function registerAnswer(server: McpServer, { caller, runs, refusalOf }: ToolCall): void {
  const description = 'Answers the open question of a run, for example an approval with {"action":"accept"}.';
  const inputSchema = toolInput({ runId, answer: jsonObject.describe('The value with which the run resumes') });
  const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false };
  server.registerTool(
    'answer_run',
    { title: 'Answer the question of a run', description, inputSchema, annotations },
    (given) =>
      withRefusals(refusalOf, async () =>
        toolResult(await snapshotWithResult(runs, await runs.respond(caller, given.runId, given.answer))),
      ),
  );
}

/** Returns a refusal as a result with `isError`: a protocol error would not reach the calling model. */
async function withRefusals<Result>(refusalOf: MountServices['refusalOf'], work: () => Promise<Result>) {
  try {
    return await work();
  } catch (error) {
    const { code, message } = refusalOf(error);
    return { isError: true, content: [{ type: 'text' as const, text: `${code}: ${message}` }] };
  }
}

/** Whether the caller may read runs. It could not read the task of its own run otherwise, and gets a result instead. */
async function mayRead({ caller }: ToolCall): Promise<boolean> {
  try {
    await caller.permit('runs:read');
    return true;
  } catch (error) {
    if (AuthError.is(error)) return false;
    throw error;
  }
}

/**
 * Returns a listener that tells a caller with a progress token of the events of its run: the number of events so far,
 * and the type of the newest. At most two notifications leave in a second, so that a run with many events does not
 * flood its caller.
 *
 * @returns undefined for a caller without a token
 * @see MCP, progress
 */
function progressOf({ _meta, notify }: ServerContext['mcpReq'], clock: Clock): ((event: RunEvent) => void) | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let nextAt = Number.NEGATIVE_INFINITY;
  return ({ sequence, type }) => {
    if (clock.monotonic() < nextAt) return;
    nextAt = clock.monotonic() + PROGRESS_EVERY_MS;
    const params = { progressToken, progress: sequence + 1, message: type };
    // The result of the call tells everything that a lost notification would have told.
    void notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

const PROGRESS_EVERY_MS = 500;

/** The members of a creation that only REST accepts. */
const REST_ONLY = { scope: undefined, configurable: undefined, metadata: undefined };
const MAX_WAIT_SECONDS = 60;
const runId = z
  .string()
  .regex(/^[A-Za-z0-9._~-]{1,128}$/, 'must be the id of a run')
  .describe('The runId that create_run returned');
const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), z.json());
