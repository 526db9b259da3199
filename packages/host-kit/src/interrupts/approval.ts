import type { Vote } from '../ports/interrupts.ts';
import type { ApprovalData } from './request.ts';

/** The state of an approval. */
export interface Quorum {
  readonly approvals: number;
  readonly rejections: number;
  readonly required: number;
  readonly decision: 'open' | 'granted' | 'rejected';
}

/**
 * Counts the votes on an approval. `requiredApprovals` votes grant it. By default one rejection rejects it. With the
 * policy `majority` it is rejected by more rejections than half of `requiredApprovals`.
 */
export function quorumOf(
  { requiredApprovals: required = 1, rejectionPolicy }: ApprovalData,
  votes: readonly Vote[],
): Quorum {
  const rejections = votes.filter(({ action }) => action === 'reject').length;
  const approvals = votes.length - rejections;
  const tolerated = rejectionPolicy === 'majority' ? required / 2 : 0;
  const decision = rejections > tolerated ? 'rejected' : approvals >= required ? 'granted' : 'open';
  return { approvals, rejections, required, decision };
}

/** Adds a vote. It replaces an earlier vote of the same principal. */
export function withVote(votes: readonly Vote[], vote: Vote): readonly Vote[] {
  return [...votes.filter(({ principal }) => principal !== vote.principal), vote];
}
