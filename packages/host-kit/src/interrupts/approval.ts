import type { Vote } from '../ports/interrupts.ts';
import type { ApprovalData } from './request.ts';

/** Where an approval stands. */
export interface Quorum {
  readonly approvals: number;
  readonly rejections: number;
  readonly required: number;
  readonly decision: 'open' | 'granted' | 'rejected';
}

/**
 * Counts the votes at an approval. It is granted by as many as it asks for. One rejection rejects it; where it goes by majority, only
 * when too few are left to grant it, or, if nobody says who may vote, when as many reject as could have granted.
 */
export function quorumOf(
  { requiredApprovals: required = 1, rejectionPolicy, approversList }: ApprovalData,
  votes: readonly Vote[],
): Quorum {
  const rejections = votes.filter(({ action }) => action === 'reject').length;
  const approvals = votes.length - rejections;
  const tolerated =
    rejectionPolicy !== 'majority' ? 0 : approversList === undefined ? required - 1 : approversList.length - required;
  const decision = rejections > tolerated ? 'rejected' : approvals >= required ? 'granted' : 'open';
  return { approvals, rejections, required, decision };
}

/** The votes with one more: everybody has one, the last that they gave. */
export function withVote(votes: readonly Vote[], vote: Vote): readonly Vote[] {
  return [...votes.filter(({ principal }) => principal !== vote.principal), vote];
}
