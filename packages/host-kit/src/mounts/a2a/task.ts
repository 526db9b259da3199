import { type Artifact, type Message, type Part, Role, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import type { RunEvent } from '../../ports/events.ts';
import type { Run, RunStatus } from '../../ports/runs.ts';
import { questionText } from '../question-text.ts';

/** The facts of a task beside its run. */
export interface TaskFacts {
  /** The last event of the run. */
  readonly last: RunEvent | undefined;
  /** The question that the run waits for, in the form of major 2. */
  readonly question: JsonObject | undefined;
  readonly artifacts: Artifact[];
}

/** Makes the task of a run. The task itself is not stored. */
export function taskOf(run: Run, facts: TaskFacts): Task {
  const { contextId, message } = conversationOf(run);
  return {
    id: run.runId,
    contextId,
    status: statusOf(run, facts),
    artifacts: facts.artifacts,
    history: message === undefined ? [] : [message],
    metadata: { workflowId: run.workflowId },
  };
}

/** The state of a task by the status of its run. */
export const STATE_OF: Readonly<Record<RunStatus, TaskState>> = {
  pending: TaskState.TASK_STATE_SUBMITTED,
  running: TaskState.TASK_STATE_WORKING,
  paused: TaskState.TASK_STATE_WORKING,
  cancelling: TaskState.TASK_STATE_WORKING,
  'waiting-approval': TaskState.TASK_STATE_INPUT_REQUIRED,
  'waiting-input': TaskState.TASK_STATE_INPUT_REQUIRED,
  'waiting-external': TaskState.TASK_STATE_WORKING,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  cancelled: TaskState.TASK_STATE_CANCELED,
};

/** The types of the events that change the state of a task. */
export const STATE_EVENTS: readonly string[] = [
  'run.started',
  'interrupt.requested',
  'interrupt.resolved',
  'run.completed',
  'run.failed',
  'run.cancelled',
];

/** The status of a task after the last event of its run. */
export function statusOf(run: Run, { last, question }: Omit<TaskFacts, 'artifacts'>): TaskStatus {
  const state = STATE_OF[run.status];
  const at = last?.timestamp ?? run.createdAt;
  const parts = MESSAGE_OF[run.status]?.(run, question);
  return {
    state,
    timestamp: new Date(at).toISOString(),
    message: parts === undefined ? undefined : agentMessage(run, last?.sequence ?? 0, parts),
  };
}

/** The message of the agent in a state: the error of a failed run, or the question of a waiting one. */
const MESSAGE_OF: Readonly<Partial<Record<RunStatus, (run: Run, question: Question) => Part[] | undefined>>> = {
  failed: ({ error }) => (error === undefined ? undefined : [textPart(error.message), dataPart({ ...error })]),
  'waiting-approval': (_, question) => questionParts(question),
  'waiting-input': (_, question) => questionParts(question),
};

type Question = JsonObject | undefined;

/** The question as a person reads it, and in full. */
function questionParts(question: Question): Part[] | undefined {
  if (question === undefined) return undefined;
  const text = questionText(question);
  return [...(text === undefined ? [] : [textPart(text)]), dataPart(question)];
}

/** The outputs of a run as an artifact of its task. Empty unless `last` completed the run with outputs. */
export function outputsArtifact(last: RunEvent | undefined): Artifact[] {
  if (last?.type !== 'run.completed' || !isJsonObject(last.payload)) return [];
  const { outputs } = last.payload;
  return outputs === undefined ? [] : [artifactOf('outputs', 'outputs', outputs)];
}

/** An artifact with one part: text for a string, data for any other content. */
export function artifactOf(artifactId: string, name: string, content: Json): Artifact {
  const part = typeof content === 'string' ? textPart(content) : dataPart(content);
  return { artifactId, name, description: '', parts: [part], metadata: undefined, extensions: [] };
}

/** The metadata that a run stores of the message that started it. */
export function conversationMetadata(contextId: string, message: Message): JsonObject {
  return { a2a: { contextId, messageId: message.messageId, parts: message.parts.map(partJson) } };
}

/**
 * The context of a run and the message that started it. A run that no message started has its own id as context id, and
 * no message.
 */
export function conversationOf(run: Run): { readonly contextId: string; readonly message: Message | undefined } {
  const stored = run.metadata?.a2a;
  if (!isJsonObject(stored) || typeof stored.contextId !== 'string' || typeof stored.messageId !== 'string') {
    return { contextId: run.runId, message: undefined };
  }
  const parts = Array.isArray(stored.parts) ? stored.parts.map(partOf) : [];
  const message = messageOf(run.runId, stored.contextId, stored.messageId, Role.ROLE_USER, parts);
  return { contextId: stored.contextId, message };
}

function agentMessage(run: Run, sequence: number, parts: Part[]): Message {
  return messageOf(run.runId, conversationOf(run).contextId, `${run.runId}.${sequence}`, Role.ROLE_AGENT, parts);
}

function messageOf(taskId: string, contextId: string, messageId: string, role: Role, parts: Part[]): Message {
  return { messageId, contextId, taskId, role, parts, metadata: undefined, extensions: [], referenceTaskIds: [] };
}

function partJson({ content }: Part): Json {
  if (content?.$case === 'text') return { text: content.value };
  if (content?.$case === 'data') return { data: JSON.parse(JSON.stringify(content.value ?? null)) };
  return {};
}

function partOf(json: Json): Part {
  if (!isJsonObject(json)) return dataPart(null);
  return typeof json.text === 'string' ? textPart(json.text) : dataPart(json.data ?? null);
}

function textPart(value: string): Part {
  return { content: { $case: 'text', value }, mediaType: 'text/plain', filename: '', metadata: undefined };
}

function dataPart(value: Json): Part {
  return { content: { $case: 'data', value }, mediaType: 'application/json', filename: '', metadata: undefined };
}
