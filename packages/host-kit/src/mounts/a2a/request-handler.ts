import type { AgentCard, Artifact, Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import {
  ExtendedAgentCardNotConfiguredError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { HostError } from '../../errors.ts';
import type { Json, JsonObject } from '../../json.ts';
import type { RunEvent } from '../../ports/events.ts';
import { isTerminal, type Run } from '../../ports/runs.ts';
import type { CallerRuns, MountCaller } from '../caller-runs.ts';
import type { PushConfigs } from './push-configs.ts';
import { artifactOf, conversationMetadata, conversationOf, outputsArtifact, statusOf, taskOf } from './task.ts';

export interface A2aHandlerOptions {
  readonly card: AgentCard;
  readonly runs: CallerRuns;
  readonly push: PushConfigs;
  readonly mintContextId: () => string;
  /** What a message runs that names no workflow. */
  readonly defaultWorkflowId: string | undefined;
  /** How long an answer waits for a run that has not ended. */
  readonly waitMs: number;
}

/** The operations of A2A for one caller, over the protocol's own. A task is a run, so it is as durable as one. */
export function requestHandler(options: A2aHandlerOptions, caller: MountCaller, gone: AbortSignal): A2ARequestHandler {
  const { card, runs, push } = options;

  return {
    getAgentCard: async () => card,
    async getAuthenticatedExtendedAgentCard() {
      throw new ExtendedAgentCardNotConfiguredError('This agent has no other card than the public one.');
    },
    async sendMessage(params) {
      const run = await begin(params);
      if (params.configuration?.returnImmediately === true) return task(run);
      return task(await runs.settled(caller, run, options.waitMs, gone));
    },
    async *sendMessageStream(params) {
      yield* updates(await begin(params));
    },
    getTask: async ({ id }) => task(await read(id)),
    async listTasks() {
      throw new UnsupportedOperationError('Tasks are runs: GET /runs lists them.');
    },
    async cancelTask({ id }) {
      try {
        return await task(await runs.cancel(caller, idIn(id)));
      } catch (error) {
        if (HostError.is(error) && error.code === 'run_terminal')
          throw new TaskNotCancelableError('The task has ended.');
        throw taskError(error);
      }
    },
    async createTaskPushNotificationConfig(config) {
      return push.create(caller, await read(config.taskId), config);
    },
    async getTaskPushNotificationConfig({ taskId, id }) {
      const found = (await push.list(caller, await read(taskId))).find((config) => config.id === id);
      if (found === undefined) throw new TaskNotFoundError('The task has no such push notification configuration.');
      return found;
    },
    async listTaskPushNotificationConfigs({ taskId }) {
      return { configs: await push.list(caller, await read(taskId)), nextPageToken: '' };
    },
    async deleteTaskPushNotificationConfig({ taskId, id }) {
      await push.remove(caller, await read(taskId), id);
    },
    async *resubscribe({ id }) {
      const run = await read(id);
      if (isTerminal(run.status)) throw new UnsupportedOperationError('The task has ended; tasks/get tells how.');
      yield* updates(run);
    },
  };

  async function begin({ message, metadata, configuration }: SendMessageRequest): Promise<Run> {
    if (message === undefined || message.parts.length === 0) throw new RequestMalformedError('message.parts is empty.');
    const run = message.taskId === '' ? await create(message, metadata) : await answer(message);
    const config = configuration?.taskPushNotificationConfig;
    if (config !== undefined) await push.create(caller, run, { ...config, taskId: run.runId });
    return run;
  }

  async function create(message: Message, metadata: SendMessageRequest['metadata']): Promise<Run> {
    const workflowId =
      textAt(message.metadata, 'workflowId') ?? textAt(metadata, 'workflowId') ?? options.defaultWorkflowId;
    if (workflowId === undefined) {
      throw new RequestMalformedError('message.metadata.workflowId is missing: it names the skill to run.');
    }
    const contextId = message.contextId === '' ? options.mintContextId() : message.contextId;
    if (contextId.length > MAX_ID || message.messageId.length > MAX_ID) {
      throw new RequestMalformedError(`message.contextId and message.messageId have at most ${MAX_ID} characters.`);
    }
    try {
      return await runs.create(caller, {
        workflowId,
        inputs: inputsIn(message),
        scope: undefined,
        configurable: undefined,
        tags: [],
        metadata: conversationMetadata(contextId, message),
        transport: 'a2a',
      });
    } catch (error) {
      if (HostError.is(error) && error.code === 'validation_error') throw new RequestMalformedError(error.message);
      throw error;
    }
  }

  /** A message to a task that waits for one answers its question. */
  async function answer(message: Message): Promise<Run> {
    const run = await read(message.taskId);
    if (message.contextId !== '' && message.contextId !== conversationOf(run).contextId) {
      throw new RequestMalformedError('message.contextId is not the context of that task.');
    }
    if (isTerminal(run.status)) throw new UnsupportedOperationError('The task has ended and takes no more messages.');
    try {
      return await runs.respond(caller, run.runId, inputsIn(message));
    } catch (error) {
      if (HostError.is(error) && error.code === 'validation_error') throw new RequestMalformedError(error.message);
      throw taskError(error);
    }
  }

  async function read(taskId: string): Promise<Run> {
    return runs.read(caller, idIn(taskId)).catch((error: unknown) => {
      throw taskError(error);
    });
  }

  async function task(run: Run): Promise<Task> {
    const last = await runs.last(run);
    return taskOf(run, { last, artifacts: [...(await made(run)), ...outputsArtifact(last)] });
  }

  /** The task as it is, then each change of it. */
  async function* updates(run: Run): AsyncGenerator<StreamResponse, void, undefined> {
    yield { payload: { $case: 'task', value: await task(run) } };
    const { contextId } = conversationOf(run);
    const ids = { taskId: run.runId, contextId };
    for await (const event of runs.follow(caller, run, run.lastSequence, gone)) {
      for (const artifact of await artifactsOf(run, event)) {
        const value = { ...ids, artifact, append: false, lastChunk: true, metadata: undefined };
        yield { payload: { $case: 'artifactUpdate', value } };
      }
      if (!CHANGES_STATE.has(event.type)) continue;
      const now = await runs.read(caller, run.runId);
      const value = { ...ids, status: statusOf(now, event), metadata: undefined };
      yield { payload: { $case: 'statusUpdate', value } };
      if (event.type === 'interrupt.requested') return;
    }
  }

  async function artifactsOf(run: Run, event: RunEvent): Promise<Artifact[]> {
    if (event.type === 'run.completed') return outputsArtifact(event);
    if (event.type !== 'artifact.created') return [];
    const id = isObject(event.payload) ? event.payload.artifactId : undefined;
    return (await made(run)).filter(({ artifactId }) => artifactId === id);
  }

  async function made(run: Run): Promise<Artifact[]> {
    const artifacts = await runs.artifacts(caller, run);
    return artifacts.map(({ artifactId, content }) => artifactOf(artifactId, artifactId, content));
  }
}

const MAX_ID = 256;

const CHANGES_STATE: ReadonlySet<string> = new Set([
  'run.started',
  'interrupt.requested',
  'interrupt.resolved',
  'run.completed',
  'run.failed',
  'run.cancelled',
]);

/** Data is the inputs as they are; words alone become `text`. */
function inputsIn({ parts }: Message): JsonObject {
  const texts: string[] = [];
  for (const { content } of parts) {
    if (content?.$case === 'text') texts.push(content.value);
    else if (content?.$case === 'data' && isObject(content.value)) return content.value;
    else throw new RequestMalformedError('A part of a message is text, or data that is a JSON object.');
  }
  return { text: texts.join('\n') };
}

/** What a caller cannot see and what there is not are one. */
function taskError(error: unknown): unknown {
  const hidden = HostError.is(error) && (error.code === 'not_found' || error.code === 'run_forbidden');
  return hidden ? new TaskNotFoundError('There is no such task.') : error;
}

function idIn(taskId: string): string {
  if (/^[A-Za-z0-9._~-]{1,128}$/.test(taskId)) return taskId;
  throw new TaskNotFoundError('There is no such task.');
}

function textAt(metadata: Readonly<Record<string, unknown>> | undefined, name: string): string | undefined {
  const value = metadata?.[name];
  return typeof value === 'string' ? value : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
