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
import { askedBackEvent, receivedEvent, resolvedEvents, votedEvent } from './interrupt-events.ts';
import { approvalData } from './request.ts';
import { checkedAnswer, checkedApproval } from './resume-value.ts';
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
 * question asked back, leaves it waiting.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `validation_error`, `not_found`, `run_forbidden`; `forbidden` when the caller is not among the
 * approvers
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
  const found = runForChange(store.runs, principal.tenancy, address.runId);
  const run = await events.change(found, async (open) => {
    const interrupt = await pendingInterrupt(options, open, address);
    requireApprover(interrupt, principal);
    const by = { principal: principal.id, subject: principal.subject };
    if (interrupt.kind === 'approval') await approve(options, open, interrupt, resumeValue, by);
    else {
      const answer = checkedAnswer(interrupt, resumeValue);
      await settle(options, open, interrupt, { resumeValue: answer, at: clock.now(), by });
    }
    const target = `${open.run.tenant}/${address.runId}`;
    const details = { node: interrupt.nodeId, interrupt: interrupt.interruptId };
    await save({ run: open.run, nodeId: address.nodeId }, open.transaction);
    await recordAudit(
      factAbout(principal, { action: 'interrupt.resolve', target, at: clock.now(), details }),
      open.transaction,
    );
    return open.run;
  });
  executor.notice(run);
  return { run, nodeId: address.nodeId };
}

/** Resolves a question whose timeout has passed. An approval is rejected by it, never granted. */
export async function timeOut(options: RunServices, { runId, nodeId, interruptId }: Interrupt): Promise<void> {
  const { store, clock, events, executor } = options;
  const run = await events.change(events.hosted(runId), async (open) => {
    // Since the question was found due, an answer may have come or the run may have ended.
    const interrupt = await store.interrupts.byId(runId, interruptId, open.transaction);
    if (interrupt?.status !== 'pending' || !isWaiting(open.run.status)) return open.run;
    const at = clock.now();
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
  executor.notice(run);
}

/**
 * Finds a question that accepts an answer.
 *
 * @throws {Unanswerable} when there is none, or it is not pending
 */
export async function pendingInterrupt(
  { store }: Pick<RunServices, 'store'>,
  { run, transaction }: Pick<OpenRun, 'run' | 'transaction'>,
  { runId, nodeId, interruptId }: InterruptAddress,
): Promise<Interrupt> {
  const interrupt =
    interruptId === undefined
      ? await store.interrupts.ofNode(runId, nodeId, transaction)
      : await store.interrupts.byId(runId, interruptId, transaction);
  if (interrupt === undefined) throw new Unanswerable('not-found');
  if (interrupt.status === 'pending' && isWaiting(run.status)) return interrupt;
  const isCancelled = interrupt.status !== 'resolved' && (run.status === 'cancelled' || run.status === 'cancelling');
  throw new Unanswerable(isCancelled ? 'cancelled' : 'resolved');
}

/**
 * Rejects a principal that is not on the question's list of approvers, if it has one.
 *
 * @throws {HostError} `forbidden`
 */
export function requireApprover({ kind, data }: Interrupt, { id }: Pick<Principal, 'id'>): void {
  const { approversList } = kind === 'approval' ? approvalData(data) : {};
  if (approversList === undefined || approversList.includes(id)) return;
  throw new HostError('forbidden', 'This principal is not an approver of the question.', {
    details: undefined,
  });
}

async function approve(
  options: RunServices,
  open: OpenRun,
  interrupt: Interrupt,
  resumeValue: Json,
  by: ResolverRecord,
): Promise<void> {
  const { store, clock } = options;
  const data = approvalData(interrupt.data);
  const at = clock.now();
  const answer = checkedApproval(interrupt, data, resumeValue, { by: by.principal, at });
  if (answer.action === 'ask') {
    await open.append(askedBackEvent(interrupt, answer));
    return;
  }
  await open.append(receivedEvent(interrupt, answer, by));
  if (answer.action === 'refine') return await settle(options, open, interrupt, { resumeValue: answer, at, by });
  const votes = withVote(interrupt.votes, { principal: by.principal, action: answer.action });
  const quorum = quorumOf(data, votes);
  await open.append(votedEvent(interrupt, answer, quorum, by));
  const voted = { ...interrupt, votes };
  if (quorum.decision === 'open') return await store.interrupts.update(voted, open.transaction);
  await settle(options, open, voted, { resumeValue: answer, at, decision: quorum.decision, by });
}

async function settle(
  { store }: RunServices,
  open: OpenRun,
  interrupt: Interrupt,
  resolution: Resolution,
): Promise<void> {
  const { dueAt: _dueAt, ...kept } = interrupt;
  await store.interrupts.update({ ...kept, status: 'resolved', resolution }, open.transaction);
  open.set(await store.runs.claim(open.run, open.transaction));
  await open.append(...resolvedEvents(interrupt, resolution));
}
