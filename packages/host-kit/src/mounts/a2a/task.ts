import { type Artifact, type Message, type Part, Role, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import type { RunEvent } from '../../ports/events.ts';
import type { Run, RunStatus } from '../../ports/runs.ts';

/** A run as a task. Nothing of a task is stored: whoever can read the run can make it again. */
export function taskOf(run: Run, facts: { readonly last: RunEvent | undefined; readonly artifacts: Artifact[] }): Task {
  const { contextId, message } = conversationOf(run);
  return {
    id: run.runId,
    contextId,
    status: statusOf(run, facts.last),
    artifacts: facts.artifacts,
    history: message === undefined ? [] : [message],
    metadata: { workflowId: run.workflowId },
  };
}

const STATE_OF: Readonly<Record<RunStatus, TaskState>> = {
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

export function statusOf(run: Run, last: RunEvent | undefined): TaskStatus {
  const state = STATE_OF[run.status];
  const at = last?.timestamp ?? run.createdAt;
  const said = saying[run.status]?.(run, last);
  return {
    state,
    timestamp: new Date(at).toISOString(),
    message: said === undefined ? undefined : agentMessage(run, last?.sequence ?? 0, said),
  };
}

/** What the agent says beside the state. */
const saying: Readonly<Partial<Record<RunStatus, (run: Run, last: RunEvent | undefined) => Part[] | undefined>>> = {
  failed: ({ error }) => (error === undefined ? undefined : [textPart(error.message), dataPart({ ...error })]),
  'waiting-approval': (_, last) => requestIn(last),
  'waiting-input': (_, last) => requestIn(last),
};

function requestIn(last: RunEvent | undefined): Part[] | undefined {
  return last?.type === 'interrupt.requested' ? [dataPart(last.payload)] : undefined;
}

/** The outputs of a run that has completed, as an artifact of its task. */
export function outputsArtifact(last: RunEvent | undefined): Artifact[] {
  if (last?.type !== 'run.completed' || !isJsonObject(last.payload)) return [];
  const { outputs } = last.payload;
  return outputs === undefined ? [] : [artifactOf('outputs', 'outputs', outputs)];
}

export function artifactOf(artifactId: string, name: string, content: Json): Artifact {
  const part = typeof content === 'string' ? textPart(content) : dataPart(content);
  return { artifactId, name, description: '', parts: [part], metadata: undefined, extensions: [] };
}

/** What is kept of the message that asked for a run, in the run's metadata. */
export function conversationMetadata(contextId: string, message: Message): JsonObject {
  return { a2a: { contextId, messageId: message.messageId, parts: message.parts.map(partJson) } };
}

/** A run that was not asked for by a message is a context of its own. */
export function conversationOf(run: Run): { readonly contextId: string; readonly message: Message | undefined } {
  const kept = run.metadata?.a2a;
  if (!isJsonObject(kept) || typeof kept.contextId !== 'string' || typeof kept.messageId !== 'string') {
    return { contextId: run.runId, message: undefined };
  }
  const parts = Array.isArray(kept.parts) ? kept.parts.map(partOf) : [];
  const message = messageOf(run.runId, kept.contextId, kept.messageId, Role.ROLE_USER, parts);
  return { contextId: kept.contextId, message };
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

export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, mediaType: 'text/plain', filename: '', metadata: undefined };
}

export function dataPart(value: Json): Part {
  return { content: { $case: 'data', value }, mediaType: 'application/json', filename: '', metadata: undefined };
}
