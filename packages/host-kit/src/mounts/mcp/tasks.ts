import {
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { HostError } from '../../errors.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import type { Run } from '../../ports/runs.ts';
import { SERVER_ERROR } from '../json-rpc.ts';
import { inputRequestOf, inputRequestsBody, STATUS_OF, TASKS_EXTENSION, type TaskFacts, taskOf } from './task.ts';
import { runResult, type ToolCall } from './tool-call.ts';

/**
 * Serves the Tasks extension, in which a run is a task: `tasks/get`, `tasks/update` and `tasks/cancel`. The id of a
 * task is the id of its run. Each request is judged by the credential of its caller, and a task that the caller cannot
 * read is one that does not exist.
 *
 * @see MCP Tasks 2026-07-28
 */
export function serveTasks({ server }: McpServer, call: ToolCall): void {
  server.registerCapabilities({ extensions: { [TASKS_EXTENSION]: {} } });
  const params = z.looseObject({ taskId: z.string() });
  const serve = (method: string, work: (taskId: string, context: ServerContext) => Promise<JsonObject>) =>
    server.setRequestHandler(method, { params }, async ({ taskId }, context) => {
      requireExtension(context);
      return work(runIdIn(taskId), context).catch((error: unknown) => {
        throw taskError(call, error);
      });
    });
  serve('tasks/get', async (taskId, context) => detailedTask(call, await call.runs.read(call.caller, taskId), context));
  serve('tasks/update', (taskId, { mcpReq }) => update(call, taskId, mcpReq.inputResponses ?? {}));
  serve('tasks/cancel', (taskId) => cancel(call, taskId));
}

/**
 * Returns whether the client of a request takes a task instead of a result. It says so on each request.
 *
 * @see MCP Tasks 2026-07-28, Capability Negotiation
 */
export function takesTasks(context: ServerContext): boolean {
  const { extensions } = capabilitiesOf(context);
  return isJsonObject(extensions) && isJsonObject(extensions[TASKS_EXTENSION]);
}

/** The answer to a tool call whose run goes on: the task that the client reads from now on. */
export async function createdTask(call: ToolCall, run: Run): Promise<JsonObject> {
  return { resultType: 'task', ...taskOf(run, await factsOf(call, run)) };
}

async function detailedTask(call: ToolCall, run: Run, context: ServerContext): Promise<JsonObject> {
  const facts = await factsOf(call, run);
  const task = taskOf(run, facts);
  switch (STATUS_OF[run.status]) {
    case 'input_required': {
      const request = takesForms(context) ? inputRequestOf(run, facts.question) : undefined;
      return { ...task, inputRequests: inputRequestsBody(request) };
    }
    case 'completed':
      return { ...task, result: { resultType: 'complete', ...(await runResult(call.runs, run)) } };
    default:
      return task;
  }
}

async function factsOf({ runs, pollIntervalMs, retentionMs }: ToolCall, run: Run): Promise<TaskFacts> {
  const [last, question] = await Promise.all([runs.last(run), runs.question(run)]);
  return { last, question, pollIntervalMs, retentionMs };
}

/**
 * Answers the open question of a run with the form that a person has sent. A form that was declined or cancelled leaves
 * the question open, for others and for the tool `answer_run`. A response to no open question is ignored.
 */
async function update({ runs, caller }: ToolCall, taskId: string, responses: Responses): Promise<JsonObject> {
  const run = await runs.read(caller, taskId);
  const request = inputRequestOf(run, await runs.question(run));
  const response = request && Object.hasOwn(responses, request.id) ? responses[request.id] : undefined;
  if (request === undefined || response === undefined) return {};
  const parsed = ELICITED.safeParse(response);
  if (!parsed.success) throw invalidParams(`inputResponses: ${request.id}: is not the result of an elicitation.`);
  const { action, content = {} } = parsed.data;
  if (action !== 'accept') return {};
  await runs.respond(caller, taskId, request.resumeValue(content), request).catch((error: unknown) => {
    // Another answer came first: the request is no longer outstanding.
    if (!HostError.is(error) || error.code !== 'interrupt_already_resolved') throw error;
  });
  return {};
}

type Responses = Readonly<Record<string, unknown>>;

const ELICITED = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).optional(),
});

/** A task that has ended stays as it is, and its cancellation is acknowledged too. */
async function cancel({ runs, caller }: ToolCall, taskId: string): Promise<JsonObject> {
  await runs.cancel(caller, taskId).catch((error: unknown) => {
    if (!HostError.is(error) || error.code !== 'run_terminal') throw error;
  });
  return {};
}

function requireExtension(context: ServerContext): void {
  if (takesTasks(context)) return;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
}

function takesForms(context: ServerContext): boolean {
  const { elicitation } = capabilitiesOf(context);
  if (!isJsonObject(elicitation)) return false;
  return 'form' in elicitation || Object.keys(elicitation).length === 0;
}

function capabilitiesOf({ mcpReq }: ServerContext): JsonObject {
  const parsed = ENVELOPE.safeParse(mcpReq.envelope);
  return parsed.success ? parsed.data['io.modelcontextprotocol/clientCapabilities'] : {};
}

const ENVELOPE = z.looseObject({ 'io.modelcontextprotocol/clientCapabilities': z.record(z.string(), z.json()) });

/** @throws {ProtocolError} when no run can have this id */
function runIdIn(taskId: string): string {
  if (/^[A-Za-z0-9._~-]{1,128}$/.test(taskId)) return taskId;
  throw invalidParams(UNKNOWN);
}

/** Replaces the refusals of a hidden run and of a missing run by one error, so that a caller cannot tell them apart. */
function taskError({ refusalOf }: ToolCall, error: unknown): unknown {
  if (error instanceof ProtocolError) return error;
  const { code, message } = refusalOf(error);
  if (code === 'not_found' || code === 'run_forbidden') return invalidParams(UNKNOWN);
  if (code === 'validation_error') return invalidParams(message);
  if (code === 'internal_error') return new ProtocolError(ProtocolErrorCode.InternalError, message, { error: code });
  return new ProtocolError(SERVER_ERROR, message, { error: code });
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

const UNKNOWN = 'taskId: There is no such task.';
