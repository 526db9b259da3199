import type { Principal } from '@svc/auth';
import { factAbout } from '../audit/fact.ts';
import { type Save, saveNothing } from '../ports/idempotency.ts';
import type { RunServices } from '../runs/change-run.ts';
import { runForChange } from '../runs/find-run.ts';
import { quorumOf, withVote } from './approval.ts';
import { overriddenEvent, receivedEvent } from './interrupt-events.ts';
import { approvalData } from './request.ts';
import { type InterruptAddress, pendingInterrupt, type Resolved, settle } from './resolve.ts';
import { Unanswerable } from './unanswerable.ts';

/**
 * Accepts an approval for a caller that need not be one of its approvers. It grants the approval if the question has
 * `overrideBypassesQuorum`; otherwise it counts as one vote. The reason is recorded in the log of the run, and the
 * override in the audit log.
 *
 * @param save is called in the transaction of the change
 * @throws {HostError} `not_found`, `run_forbidden`
 * @throws {Unanswerable} when the question is no pending approval
 */
export async function overrideApproval(
  options: RunServices,
  principal: Principal,
  address: InterruptAddress,
  reason: string,
  save: Save<Resolved> = saveNothing,
): Promise<Resolved> {
  const { store, clock, events, executor, recordAudit } = options;
  const found = runForChange(store.runs, principal.tenancy, address.runId);
  const run = await events.change(found, async (open) => {
    const interrupt = await pendingInterrupt(options, open, address);
    if (interrupt.kind !== 'approval') throw new Unanswerable('not-found');
    const isRepeated = interrupt.votes.some((vote) => vote.principal === principal.id && vote.isOverride === true);
    if (isRepeated) return open.run;
    const data = approvalData(interrupt.data);
    const at = clock.now();
    const by = { principal: principal.id, subject: principal.subject };
    const decidedAt = new Date(at).toISOString();
    const answer = { action: 'accept' as const, feedback: reason, decidedBy: principal.id, decidedAt };
    const votes = withVote(interrupt.votes, { principal: principal.id, action: 'accept', isOverride: true });
    const quorum = quorumOf(data, votes);
    await open.append(receivedEvent(interrupt, answer, by), overriddenEvent(interrupt, answer, quorum, by));
    const voted = { ...interrupt, votes };
    const bypasses = data.overrideBypassesQuorum === true;
    if (bypasses || quorum.decision === 'granted') {
      const resolution = { resumeValue: answer, at, decision: 'granted', by } as const;
      await settle(options, open, voted, { ...resolution, ...(bypasses && { isOverride: true }) });
    } else await store.interrupts.update(voted, open.transaction);
    await save({ run: open.run, nodeId: interrupt.nodeId }, open.transaction);
    const fact = factAbout(principal, {
      action: 'interrupt.override',
      target: `${open.run.tenant}/${address.runId}`,
      at,
      workspace: open.run.workspace,
      details: { node: interrupt.nodeId, interrupt: interrupt.interruptId, bypassesQuorum: bypasses },
    });
    await recordAudit(fact, open.transaction);
    return open.run;
  });
  executor.onRequest(run);
  return { run, nodeId: address.nodeId };
}
