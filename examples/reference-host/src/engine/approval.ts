import type { EngineRefusal, InterruptAnswer, JsonObject, Question } from '@svc/host-kit';
import { timeoutRefusal } from './timeout.ts';
import { isWhole } from './whole.ts';
import { NodeFailure, type Workflow } from './workflow.ts';

/**
 * Asks for an approval. Completes when it is granted. Fails when it is rejected, or when `timeoutMs` passes without an
 * answer.
 */
export const approval: Workflow = {
  refuse: refusalOf,
  run: (inputs, { node }) =>
    node(
      'approval',
      'sample.approval',
      async ({ ask }) => {
        // An answer such as `refine` is neither a grant nor a rejection: the next round asks again.
        for (let round = 1; round <= MOST_ROUNDS; round++) {
          const question = questionOf(inputs, round);
          const answer = await ask({ key: `round-${round}`, ...question });
          const overridden = answer.isOverride ? { isOverride: true } : {};
          if (answer.decision === 'granted') return { answer: answer.resumeValue, ...overridden };
          if (answer.decision === 'rejected') throw rejected(answer);
        }
        throw rejected(undefined);
      },
      { goesOn: true },
    ),
};

const MOST_ROUNDS = 5;

function refusalOf(inputs: JsonObject): EngineRefusal | undefined {
  const { title, approvers, requiredApprovals, timeoutMs } = inputs;
  if (title !== undefined && (typeof title !== 'string' || title === '')) {
    return { field: 'inputs.title', problem: 'must be a non-empty string' };
  }
  for (const name of APPROVERS) {
    if (inputs[name] !== undefined && !isListOfIds(inputs[name])) {
      return { field: `inputs.${name}`, problem: 'must be a list of 1 to 100 ids' };
    }
  }
  const listed =
    isListOfIds(approvers) && APPROVERS.every((name) => name === 'approvers' || inputs[name] === undefined);
  const most = listed ? new Set(approvers).size : 100;
  if (requiredApprovals !== undefined && !isWhole(requiredApprovals, 1, most)) {
    return { field: 'inputs.requiredApprovals', problem: `must be a whole number from 1 to ${most}` };
  }
  return policyRefusal(inputs) ?? timeoutRefusal(timeoutMs);
}

function policyRefusal({
  rejectionPolicy,
  overrideBypassesQuorum,
  escalateAfterMs,
  escalateTo,
  timeoutMs,
}: JsonObject) {
  if (rejectionPolicy !== undefined && rejectionPolicy !== 'single-veto' && rejectionPolicy !== 'majority') {
    return { field: 'inputs.rejectionPolicy', problem: 'must be single-veto or majority' };
  }
  if (overrideBypassesQuorum !== undefined && typeof overrideBypassesQuorum !== 'boolean') {
    return { field: 'inputs.overrideBypassesQuorum', problem: 'must be true or false' };
  }
  if (escalateAfterMs === undefined && escalateTo === undefined) return undefined;
  if (!isListOfIds(escalateTo)) {
    return { field: 'inputs.escalateTo', problem: 'must be a list of 1 to 100 ids, beside escalateAfterMs' };
  }
  if (typeof timeoutMs !== 'number' || !isWhole(escalateAfterMs, 1, timeoutMs - 1)) {
    return { field: 'inputs.escalateAfterMs', problem: 'must be a whole number of milliseconds below timeoutMs' };
  }
  return undefined;
}

const APPROVERS = ['approvers', 'approverGroups', 'approverRoles'] as const;

function questionOf(inputs: JsonObject, round: number): Question & { readonly kind: 'approval' } {
  const { title = 'Is it good?', approvers, approverGroups, approverRoles, timeoutMs } = inputs;
  const { requiredApprovals, rejectionPolicy, overrideBypassesQuorum, escalateAfterMs, escalateTo } = inputs;
  const isEscalated = escalateAfterMs !== undefined && isListOfIds(escalateTo);
  return {
    kind: 'approval',
    data: {
      artifactId: `draft-${round}`,
      artifactType: 'draft',
      title: String(title),
      actions: ['accept', 'reject', 'refine', 'edit-accept', 'ask'],
      ...(isListOfIds(approvers) && { approversList: approvers }),
      ...(isListOfIds(approverGroups) && { approverGroupRefs: approverGroups }),
      ...(isListOfIds(approverRoles) && { approverRoleRefs: approverRoles }),
      ...(requiredApprovals !== undefined && { requiredApprovals: Number(requiredApprovals) }),
      ...(rejectionPolicy !== undefined && {
        rejectionPolicy: rejectionPolicy === 'majority' ? 'majority' : 'single-veto',
      }),
      ...(overrideBypassesQuorum !== undefined && { overrideBypassesQuorum: overrideBypassesQuorum === true }),
      ...(isEscalated && { onTimeout: 'escalate' }),
    },
    ...(timeoutMs !== undefined && { timeoutMs: Number(timeoutMs) }),
    ...(isEscalated && { escalation: [{ afterMs: Number(escalateAfterMs), approversList: escalateTo }] }),
  };
}

function rejected(answer: InterruptAnswer | undefined): NodeFailure {
  const message = answer?.isTimeout === true ? 'The approval was not answered in time.' : 'The approval was rejected.';
  return new NodeFailure({ code: 'approval_rejected', message, retryable: false });
}

function isListOfIds(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= 100 &&
    value.every((id) => typeof id === 'string' && id !== '')
  );
}
