import type { Principal } from '@svc/auth';
import { HostError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { Standing } from '../ports/approvers.ts';
import type { ApproverRefs, Interrupt } from '../ports/interrupts.ts';
import { approvalData } from './request.ts';

/**
 * Rejects a principal that may not answer a question: an approval that names approvers accepts the principals on its
 * list, the members of its groups and the holders of its roles.
 *
 * @throws {HostError} `forbidden`
 */
export function requireApprover(interrupt: Interrupt, { id }: Pick<Principal, 'id'>, standing: Standing): void {
  if (interrupt.kind !== 'approval') return;
  const { approversList, approverGroupRefs, approverRoleRefs } = approvalData(presentData(interrupt));
  if (approversList === undefined && approverGroupRefs === undefined && approverRoleRefs === undefined) return;
  if (approversList?.includes(id) === true) return;
  if (approverGroupRefs?.some((group) => standing.groups.has(group)) === true) return;
  if (approverRoleRefs?.some((role) => standing.roles.has(role)) === true) return;
  throw new HostError('forbidden', 'This principal is not an approver of the question.', { details: undefined });
}

/** Returns the data of a question as it stands: the approvers of an escalated approval include those of its steps. */
export function presentData(interrupt: Interrupt): JsonObject {
  const steps = (interrupt.escalation ?? []).slice(0, stepsTaken(interrupt));
  if (steps.length === 0) return interrupt.data;
  const refs = [approvalData(interrupt.data), ...steps];
  return {
    ...interrupt.data,
    ...named(refs, 'approversList'),
    ...named(refs, 'approverGroupRefs'),
    ...named(refs, 'approverRoleRefs'),
  };
}

function named(refs: readonly ApproverRefs[], name: keyof ApproverRefs): JsonObject {
  const all = [...new Set(refs.flatMap((ref) => ref[name] ?? []))];
  return all.length === 0 ? {} : { [name]: all };
}

/** Returns the number of escalation steps that a question has taken: those that are due before its next timer. */
export function stepsTaken({ escalation = [], requestedAt, dueAt, status }: Interrupt): number {
  if (status !== 'pending' || dueAt === undefined) return 0;
  return escalation.filter(({ afterMs }) => requestedAt + afterMs < dueAt).length;
}

/** Returns the end of the timeout of a question, in ms since the epoch. Undefined: it has none. */
export function deadlineOf({ requestedAt, timeoutMs = 0, dueAt }: Interrupt): number | undefined {
  return timeoutMs > 0 ? requestedAt + timeoutMs : dueAt;
}

/**
 * Returns the next time at which the timer of a question acts, after `now`: the next step of its escalation, or the end
 * of its timeout.
 */
export function nextTimer(
  { escalation = [], timeoutMs = 0, requestedAt }: Omit<Interrupt, 'status' | 'votes'>,
  now: number,
): number | undefined {
  const step = escalation.map(({ afterMs }) => requestedAt + afterMs).find((at) => at > now);
  return step ?? (timeoutMs > 0 ? requestedAt + timeoutMs : undefined);
}
