import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { NewEvent } from '../ports/engine.ts';
import type { Interrupt, Resolution, ResolverRecord } from '../ports/interrupts.ts';
import type { Quorum } from './approval.ts';
import { presentData } from './approvers.ts';
import type { ApprovalAnswer } from './resume-value.ts';

/**
 * Makes the events of a question. Their payloads hold the members of both majors; `wire/interrupt-event.ts` projects
 * them to one.
 */
export function askedEvents(interrupt: Interrupt): readonly NewEvent[] {
  const { nodeId, interruptId, kind, key } = interrupt;
  const payload = questionPayload(interrupt);
  return [
    { type: 'node.suspended', nodeId, payload: { nodeId, interruptId, kind, key, reason: 'interrupt' } },
    { type: 'interrupt.requested', nodeId, payload },
    ...(kind === 'approval' || kind === 'clarification' ? [{ type: `${kind}.requested`, nodeId, payload }] : []),
  ];
}

/**
 * Makes the events of an escalation: a line of the log, and the request once more with the approvers that it has now.
 *
 * @param step the number of steps that are taken, this one included
 */
export function escalatedEvents(interrupt: Interrupt, step: number): readonly NewEvent[] {
  const { nodeId, interruptId, escalation = [] } = interrupt;
  const message = `The approval was escalated: step ${step} of ${escalation.length}.`;
  const fields = { interruptId, step, steps: escalation.length };
  return [
    { type: 'log.appended', nodeId, payload: { level: 'warn', message, nodeId, fields } },
    { type: 'approval.requested', nodeId, payload: questionPayload(interrupt) },
  ];
}

function questionPayload(interrupt: Interrupt): JsonObject {
  const { nodeId, interruptId, kind, key, resumeSchema, timeoutMs, requestedAt } = interrupt;
  return {
    ...{ nodeId, interruptId, kind, key, data: presentData(interrupt), requestedAt },
    ...(resumeSchema !== undefined && { resumeSchema }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

/** Makes the event of any answer to an approval. */
export function receivedEvent(interrupt: Interrupt, answer: ApprovalAnswer, by: ResolverRecord): NewEvent {
  const { nodeId, interruptId, kind } = interrupt;
  return {
    type: 'approval.received',
    nodeId,
    payload: { nodeId, interruptId, kind, resumeValue: answer, resolvedBy: json(by) },
  };
}

/** Makes the event of a vote that grants or rejects, also of one of several required votes. */
export function votedEvent(
  interrupt: Interrupt,
  { action }: ApprovalAnswer,
  quorum: Quorum,
  by: ResolverRecord,
): NewEvent {
  const { nodeId, interruptId, kind } = interrupt;
  const { approvals, rejections, required } = quorum;
  const type = action === 'reject' ? 'approval.rejected' : 'approval.granted';
  const quorumProgress = { approvals, rejections, required };
  return { type, nodeId, payload: { nodeId, interruptId, kind, quorumProgress, resolvedBy: json(by) } };
}

/** Makes the event of an override. Its feedback is the reason that the caller gave. */
export function overriddenEvent(
  interrupt: Interrupt,
  answer: ApprovalAnswer,
  { approvals, rejections, required }: Quorum,
  by: ResolverRecord,
): NewEvent {
  const { nodeId, interruptId, kind } = interrupt;
  const said = { resumeValue: answer, reason: 'override', quorumProgress: { approvals, rejections, required } };
  return { type: 'approval.overridden', nodeId, payload: { nodeId, interruptId, kind, ...said, resolvedBy: json(by) } };
}

/** Makes the event of a question that an approver asks back. The run keeps waiting. */
export function askedBackEvent({ nodeId, interruptId }: Interrupt, answer: ApprovalAnswer): NewEvent {
  const { feedback = 'A question was asked back.', ...said } = answer;
  return {
    type: 'log.appended',
    nodeId,
    payload: { level: 'info', message: feedback, nodeId, fields: { ...said, interruptId } },
  };
}

/** Makes the events of a question that an answer or its timeout resolved. */
export function resolvedEvents(interrupt: Interrupt, resolution: Resolution): readonly NewEvent[] {
  const { nodeId, interruptId, kind } = interrupt;
  const { resumeValue, at, decision, isTimeout, isOverride, by } = resolution;
  const action = actionIn(resumeValue);
  const payload = {
    ...{ nodeId, interruptId, kind, resumeValue, resolvedAt: at },
    ...(by !== undefined && { resolvedBy: json(by) }),
    ...(decision !== undefined && { decision: isOverride === true ? 'overridden' : decision }),
    ...(kind === 'approval' && action !== undefined && { action }),
    ...(isTimeout === true && { reason: 'timeout' }),
    ...(isOverride === true && { reason: 'override' }),
  };
  return [
    { type: 'interrupt.resolved', nodeId, payload },
    ...(kind === 'clarification' ? [{ type: 'clarification.resolved', nodeId, payload }] : []),
    { type: 'node.resumed', nodeId, payload: { nodeId, interruptId, resumeValue } },
  ];
}

function actionIn(resumeValue: Json): Json | undefined {
  return isJsonObject(resumeValue) ? resumeValue.action : undefined;
}

function json(by: ResolverRecord): JsonObject {
  return JSON.parse(JSON.stringify(by));
}
