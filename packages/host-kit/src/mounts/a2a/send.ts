import type { Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import { RequestMalformedError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { HostError } from '../../errors.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { isTerminal, type Run } from '../../ports/runs.ts';
import type { A2aCall } from './call.ts';
import { currentTask, readRun, taskError } from './get.ts';
import { taskUpdates } from './subscribe.ts';
import { conversationMetadata, conversationOf } from './task.ts';

/**
 * Starts a run with a message, or answers the question of a waiting run, and returns the task. Unless the request sets
 * `returnImmediately`, it waits up to `waitMs` milliseconds for the run to end or to ask a question.
 *
 * @throws {RequestMalformedError} when the message has no usable parts, ids or workflow
 * @throws {TaskNotFoundError} when the message names a task that the caller cannot read
 * @throws {UnsupportedOperationError} when that task has ended
 */
export async function sendMessage(call: A2aCall, params: SendMessageRequest): Promise<Task> {
  const run = await startOrAnswer(call, params);
  if (params.configuration?.returnImmediately === true) return currentTask(call, run);
  return currentTask(call, await call.runs.settled(call.caller, run, call.waitMs, call.gone));
}

/** Like `sendMessage`, but yields the task at once and then each change of it. */
export async function* sendMessageStream(
  call: A2aCall,
  params: SendMessageRequest,
): AsyncGenerator<StreamResponse, void, undefined> {
  yield* taskUpdates(call, await startOrAnswer(call, params));
}

async function startOrAnswer(call: A2aCall, { message, metadata, configuration }: SendMessageRequest): Promise<Run> {
  if (message === undefined || message.parts.length === 0) {
    throw new RequestMalformedError('message.parts: must not be empty. Send at least one text or data part.');
  }
  const run = message.taskId === '' ? await start(call, message, metadata) : await answer(call, message);
  const config = configuration?.taskPushNotificationConfig;
  if (config !== undefined) await call.push.create(call.caller, run, { ...config, taskId: run.runId });
  return run;
}

async function start(call: A2aCall, message: Message, metadata: SendMessageRequest['metadata']): Promise<Run> {
  const workflowId = textAt(message.metadata, 'workflowId') ?? textAt(metadata, 'workflowId') ?? call.defaultWorkflowId;
  if (workflowId === undefined) {
    throw new RequestMalformedError('message.metadata.workflowId: is missing. Set it to the id of the skill to run.');
  }
  const contextId = message.contextId === '' ? call.mintContextId() : message.contextId;
  if (contextId.length > MAX_ID || message.messageId.length > MAX_ID) {
    throw new RequestMalformedError(
      `message.contextId and message.messageId: must have at most ${MAX_ID} characters each.`,
    );
  }
  const request = {
    workflowId,
    inputs: inputsIn(message),
    scope: undefined,
    configurable: undefined,
    tags: [],
    metadata: conversationMetadata(contextId, message),
    transport: 'a2a',
  } as const;
  return call.runs.create(call.caller, request).catch((error: unknown) => {
    throw malformed(error) ?? error;
  });
}

/** Answers the interrupt that the run of the named task waits for. */
async function answer(call: A2aCall, message: Message): Promise<Run> {
  const run = await readRun(call, message.taskId);
  if (message.contextId !== '' && message.contextId !== conversationOf(run).contextId) {
    throw new RequestMalformedError(
      'message.contextId: is not the context of this task. Send that of the task, or none.',
    );
  }
  if (isTerminal(run.status)) {
    throw new UnsupportedOperationError('The task has ended; it accepts no more messages. Send one without a taskId.');
  }
  const resumeValue = inputsIn(message);
  return call.runs.respond(call.caller, run.runId, resumeValue).catch((error: unknown) => {
    throw malformed(error) ?? taskError(error);
  });
}

const MAX_ID = 256;

/** The object of the first data part. In a message without data, all text parts, joined by line breaks, as `text`. */
function inputsIn({ parts }: Message): JsonObject {
  const texts: string[] = [];
  for (const { content } of parts) {
    if (content?.$case === 'text') texts.push(content.value);
    else if (content?.$case === 'data' && isJsonObject(content.value)) return content.value;
    else throw new RequestMalformedError('message.parts: each part must be text, or data that is a JSON object.');
  }
  return { text: texts.join('\n') };
}

function malformed(error: unknown): RequestMalformedError | undefined {
  const isInvalid = HostError.is(error) && error.code === 'validation_error';
  return isInvalid ? new RequestMalformedError(error.message) : undefined;
}

function textAt(metadata: Readonly<Record<string, unknown>> | undefined, name: string): string | undefined {
  const value = metadata?.[name];
  return typeof value === 'string' ? value : undefined;
}
