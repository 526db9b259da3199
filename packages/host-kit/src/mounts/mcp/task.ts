import { isJsonObject, type JsonObject } from '../../json.ts';
import type { RunEvent } from '../../ports/events.ts';
import { isTerminal, type Run, type RunStatus } from '../../ports/runs.ts';
import { questionText } from '../question-text.ts';
import { type AnswerForm, answerForm } from './answer-form.ts';

/** The id of the extension, in the capabilities of client and server. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The statuses of a task. @see MCP Tasks 2026-07-28, Task Status */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** The facts of a task beside its run. */
export interface TaskFacts {
  /** The last event of the run. */
  readonly last: RunEvent | undefined;
  /** The question that the run waits for, in the form of major 2. */
  readonly question: JsonObject | undefined;
  /** The suggested time between two reads of the task, in ms. */
  readonly pollIntervalMs: number;
  /** The time for which an ended run is kept, in ms. Undefined: for ever. */
  readonly retentionMs: number | undefined;
}

/** The task of a run, as the answer to the call that creates it. The task itself is not stored. */
export function taskOf(run: Run, facts: TaskFacts): JsonObject {
  const { last, pollIntervalMs } = facts;
  const statusMessage = messageOf(run, facts);
  return {
    taskId: run.runId,
    status: STATUS_OF[run.status],
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(run.createdAt).toISOString(),
    lastUpdatedAt: new Date(last?.timestamp ?? run.createdAt).toISOString(),
    ttlMs: ttlOf(run, facts),
    pollIntervalMs,
  };
}

/**
 * The status of a task by the status of its run. No run becomes `failed`: this status is that of a call which a JSON-RPC
 * error ended, and a failed run is a completed call with `isError`.
 *
 * @see MCP Tasks 2026-07-28, Task Execution Errors
 */
export const STATUS_OF: Readonly<Record<RunStatus, TaskStatus>> = {
  pending: 'working',
  running: 'working',
  paused: 'working',
  cancelling: 'working',
  'waiting-approval': 'input_required',
  'waiting-input': 'input_required',
  'waiting-external': 'working',
  completed: 'completed',
  failed: 'completed',
  cancelled: 'cancelled',
};

/** An open question of a run as a request of its task. */
export interface InputRequest extends AnswerForm {
  /** Identifies the question for the life of the run: a node asks each of its keys once. */
  readonly id: string;
  readonly nodeId: string;
  readonly key: string;
}

/** The request for the question of a run. Undefined when it has none that fits a form. */
export function inputRequestOf(
  { status, currentNodeId: nodeId }: Run,
  question: JsonObject | undefined,
): InputRequest | undefined {
  if (STATUS_OF[status] !== 'input_required' || question === undefined || nodeId === undefined) return undefined;
  const form = answerForm(question);
  const key = String(question.key);
  return form && { ...form, id: `${nodeId}/${key}`, nodeId, key };
}

/** The requests of a task in the form of the protocol. */
export function inputRequestsBody(request: InputRequest | undefined): JsonObject {
  if (request === undefined) return {};
  const { id, message, requestedSchema } = request;
  return { [id]: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } } };
}

/** Counts from the creation, and may change: while a run goes on, the host keeps it without a limit. */
function ttlOf({ status, createdAt }: Run, { last, retentionMs }: TaskFacts): number | null {
  if (retentionMs === undefined || last === undefined || !isTerminal(status)) return null;
  return Math.max(0, Math.ceil(last.timestamp - createdAt)) + retentionMs;
}

function messageOf({ status, error }: Run, { question, last }: TaskFacts): string | undefined {
  if (status === 'failed') return error?.message;
  if (status === 'cancelled') return reasonOf(last);
  if (question === undefined || STATUS_OF[status] !== 'input_required') return MESSAGES[status];
  const asked = questionText(question) ?? `The run asks for ${String(question.kind)}.`;
  return `${asked} Answer the request of the task, or use the tool answer_run.`;
}

function reasonOf(last: RunEvent | undefined): string | undefined {
  const reason = isJsonObject(last?.payload) ? last.payload.reason : undefined;
  return typeof reason === 'string' ? reason : undefined;
}

const MESSAGES: Readonly<Partial<Record<RunStatus, string>>> = {
  paused: 'The run is paused.',
  cancelling: 'The run is being cancelled.',
  'waiting-external': 'The run waits for another system.',
};
