import type { Principal } from '@svc/auth';
import { factAbout } from '../audit/fact.ts';
import { HostError } from '../errors.ts';
import type { Json } from '../json.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { Interrupt, Resolution, ResolverRecord } from '../ports/interrupts.ts';
import { isWaiting, type Run } from '../ports/runs.ts';
import type { RunServices } from '../runs/change-run.ts';
import type { OpenRun } from '../runs/event-log.ts';
import { runForChange } from '../runs/find-run.ts';
import { quorumOf, withVote } from './approval.ts';
import { deadlineOf, nextTimer, requireApprover, stepsTaken } from './approvers.ts';
import { childKey } from './child-question.ts';
import { askedBackEvent, escalatedEvents, receivedEvent, resolvedEvents, votedEvent } from './interrupt-events.ts';
import { approvalData } from './request.ts';
import { checkedAnswer, checkedApproval } from './resume-value.ts';
import { standingFor } from './standing.ts';
import { Unanswerable } from './unanswerable.ts';

/** Names a question: the newest one of a node, or the one with `interruptId`. */
export interface InterruptAddress {
  readonly runId: string;
  readonly nodeId: string;
  readonly interruptId?: string;
}

/** The run after an answer to one of its questions, and the node that asked it. */
export interface Resolved {
  readonly run: Run;
  readonly nodeId: string;
}

/**
 * Answers a question for a caller. A deciding answer resumes the run on this host. One of several required votes, or a
 * question asked back, leaves it waiting. The same vote again changes nothing; another vote replaces the first.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `validation_error`, `not_found`, `run_forbidden`; `forbidden` when the caller is not among the
 * approvers; `run_state_conflict` when the run waits for a child
 * @throws {Unanswerable} when the question is not pending
 */
export async function resolveInterrupt(
  options: RunServices,
  principal: Principal,
  address: InterruptAddress,
  resumeValue: Json,
  save: Save<Resolved> = saveNothing,
): Promise<Resolved> {
  const { store, clock, events, executor, recordAudit } = options;
  const standing = await standingFor(options, principal, address.runId);
  const found = runForChange(store.runs, principal.tenancy, address.runId);
  const run = await events.change(found, async (open) => {
    const interrupt = await pendingInterrupt(options, open, address);
    await requireNoChild(options, open, interrupt);
    requireApprover(interrupt, principal, standing);
    const by = { principal: principal.id, subject: principal.subject };
    let outcome: 'recorded' | 'repeated' = 'recorded';
    if (interrupt.kind === 'approval') outcome = await approve(options, open, interrupt, resumeValue, by);
    else {
      const answer = checkedAnswer(interrupt, resumeValue);
      await settle(options, open, interrupt, { resumeValue: answer, at: clock.now(), by });
    }
    const target = `${open.run.tenant}/${address.runId}`;
    const repeated = outcome === 'repeated' ? { repeated: true } : {};
    const details = { node: interrupt.nodeId, interrupt: interrupt.interruptId, ...repeated };
    await save({ run: open.run, nodeId: address.nodeId }, open.transaction);
    const { workspace } = open.run;
    const fact = factAbout(principal, { action: 'interrupt.resolve', target, at: clock.now(), workspace, details });
    await recordAudit(fact, open.transaction);
    return open.run;
  });
  executor.onRequest(run);
  return { run, nodeId: address.nodeId };
}

/**
 * Takes the steps of a question's escalation that are due. Resolves a question whose timeout has passed: an approval is
 * rejected by it, never granted.
 */
export async function timeOut(options: RunServices, { runId, nodeId, interruptId }: Interrupt): Promise<void> {
  const { store, clock, events, executor } = options;
  const run = await events.change(events.hosted(runId), async (open) => {
    // Since the question was found due, an answer may have come or the run may have ended.
    const interrupt = await store.interrupts.byId(runId, interruptId, open.transaction);
    if (interrupt?.status !== 'pending' || !isWaiting(open.run.status)) return open.run;
    const at = clock.now();
    if (at < (deadlineOf(interrupt) ?? at)) {
      await escalate(options, open, interrupt, at);
      return open.run;
    }
    const decidedAt = new Date(at).toISOString();
    const isApproval = interrupt.kind === 'approval';
    const resumeValue = isApproval ? { action: 'timeout', decidedAt } : null;
    if (isApproval) {
      const payload = { nodeId, interruptId, kind: interrupt.kind, resumeValue };
      await open.append({ type: 'approval.received', nodeId, payload });
    }
    const decision = isApproval ? ({ decision: 'rejected' } as const) : {};
    await settle(options, open, interrupt, { resumeValue, at, isTimeout: true, ...decision });
    return open.run;
  });
  executor.onRequest(run);
}

/**
 * Finds a question that accepts an answer. One whose timeout has passed accepts none, also before the periodic task
 * resolves it.
 *
 * @throws {Unanswerable} when there is none, or it is not pending
 */
export async function pendingInterrupt(
  { store, clock }: Pick<RunServices, 'store' | 'clock'>,
  { run, transaction }: Pick<OpenRun, 'run' | 'transaction'>,
  { runId, nodeId, interruptId }: InterruptAddress,
): Promise<Interrupt> {
  const interrupt =
    interruptId === undefined
      ? await store.interrupts.ofNode(runId, nodeId, transaction)
      : await store.interrupts.byId(runId, interruptId, transaction);
  if (interrupt === undefined) throw new Unanswerable('not-found');
  if (interrupt.status === 'pending' && isWaiting(run.status)) {
    const deadline = deadlineOf(interrupt);
    if (deadline === undefined || clock.now() < deadline) return interrupt;
    throw new Unanswerable('resolved');
  }
  const isCancelled = interrupt.status !== 'resolved' && (run.status === 'cancelled' || run.status === 'cancelling');
  throw new Unanswerable(isCancelled ? 'cancelled' : 'resolved');
}

/** @throws {HostError} `run_state_conflict` when the run waits for the end of its child, which no caller can tell */
async function requireNoChild(
  { store }: Pick<RunServices, 'store'>,
  { run, transaction }: Pick<OpenRun, 'run' | 'transaction'>,
  { runId, nodeId, kind, key }: Interrupt,
): Promise<void> {
  if (kind !== 'external-event') return;
  const child = await store.runs.childOf({ runId, nodeId }, transaction);
  if (child === undefined || key !== childKey(child.runId)) return;
  const message = `The run waits for the end of its child ${child.runId}. Answer the questions of the child instead.`;
  throw new HostError('run_state_conflict', message, { details: { runStatus: run.status } });
}

/** Opens a question to the approvers of every step that is due, and tells that once. */
async function escalate({ store }: RunServices, open: OpenRun, interrupt: Interrupt, now: number): Promise<void> {
  const dueAt = nextTimer(interrupt, now);
  const escalated: Interrupt = { ...interrupt, ...(dueAt !== undefined && { dueAt }) };
  const step = stepsTaken(escalated);
  if (step === stepsTaken(interrupt)) return;
  await store.interrupts.update(escalated, open.transaction);
  await open.append(...escalatedEvents(escalated, step));
}

async function approve(
  options: RunServices,
  open: OpenRun,
  interrupt: Interrupt,
  resumeValue: Json,
  by: ResolverRecord,
): Promise<'recorded' | 'repeated'> {
  const { store, clock } = options;
  const data = approvalData(interrupt.data);
  const at = clock.now();
  const answer = checkedApproval(interrupt, data, resumeValue, { by: by.principal, at });
  if (answer.action === 'ask') {
    await open.append(askedBackEvent(interrupt, answer));
    return 'recorded';
  }
  const { action } = answer;
  const isRepeated = interrupt.votes.some((vote) => vote.principal === by.principal && vote.action === action);
  if (isRepeated && action !== 'edit-accept') return 'repeated';
  await open.append(receivedEvent(interrupt, answer, by));
  if (action === 'refine') {
    await settle(options, open, interrupt, { resumeValue: answer, at, by });
    return 'recorded';
  }
  const votes = withVote(interrupt.votes, { principal: by.principal, action });
  const quorum = quorumOf(data, votes);
  await open.append(votedEvent(interrupt, answer, quorum, by));
  const voted = { ...interrupt, votes };
  const { decision } = quorum;
  if (decision === 'open') await store.interrupts.update(voted, open.transaction);
  else await settle(options, open, voted, { resumeValue: answer, at, decision, by });
  return 'recorded';
}

/** Resolves a question, and resumes its run. */
export async function settle(
  { store }: Pick<RunServices, 'store'>,
  open: OpenRun,
  interrupt: Interrupt,
  resolution: Resolution,
): Promise<void> {
  const { dueAt: _dueAt, ...kept } = interrupt;
  await store.interrupts.update({ ...kept, status: 'resolved', resolution }, open.transaction);
  open.set(await store.runs.claim(open.run, open.transaction));
  await open.append(...resolvedEvents(interrupt, resolution));
}
