import type { InterruptAnswer, JsonObject } from '@svc/host-kit';
import { NodeFailure, type Workflow } from './workflow.ts';

/**
 * Asks for an approval. Completes when it is granted. Fails when it is rejected, or when `timeoutMs` passes without an
 * answer.
 */
export const approval: Workflow = approvalAt('approval');

/**
 * Returns the approval workflow with another node id.
 *
 * @param nodeId the node that asks
 */
export function approvalAt(nodeId: string): Workflow {
  return {
    refuse({ title, approvers, requiredApprovals, timeoutMs }) {
      if (title !== undefined && (typeof title !== 'string' || title === '')) {
        return { field: 'inputs.title', problem: 'must be a non-empty string' };
      }
      if (approvers !== undefined && !isListOfIds(approvers)) {
        return { field: 'inputs.approvers', problem: 'must be a list of 1 to 100 principals' };
      }
      const most = isListOfIds(approvers) ? approvers.length : 100;
      if (requiredApprovals !== undefined && !isWhole(requiredApprovals, 1, most)) {
        return { field: 'inputs.requiredApprovals', problem: `must be a whole number from 1 to ${most}` };
      }
      if (timeoutMs !== undefined && !isWhole(timeoutMs, 0, LONGEST_MS)) {
        return { field: 'inputs.timeoutMs', problem: `must be a whole number of milliseconds from 0 to ${LONGEST_MS}` };
      }
      return undefined;
    },
    run: (inputs, { node }) =>
      node(
        nodeId,
        'sample.approval',
        async ({ ask }) => {
          // An answer such as `refine` is neither a grant nor a rejection: the next round asks again.
          for (let round = 1; round <= MOST_ROUNDS; round++) {
            const answer = await ask({ key: `round-${round}`, kind: 'approval', ...questionOf(inputs, round) });
            if (answer.decision === 'granted') return { answer: answer.resumeValue };
            if (answer.decision === 'rejected') throw rejected(answer);
          }
          throw rejected(undefined);
        },
        { goesOn: true },
      ),
  };
}

const LONGEST_MS = 7 * 24 * 60 * 60 * 1000;
const MOST_ROUNDS = 5;

function questionOf({ title = 'Is it good?', approvers, requiredApprovals, timeoutMs }: JsonObject, round: number) {
  return {
    data: {
      artifactId: `draft-${round}`,
      artifactType: 'draft',
      title,
      actions: ['accept', 'reject', 'refine', 'edit-accept', 'ask'],
      ...(approvers !== undefined && { approversList: approvers }),
      ...(requiredApprovals !== undefined && { requiredApprovals }),
    },
    ...(timeoutMs !== undefined && { timeoutMs: Number(timeoutMs) }),
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

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}
