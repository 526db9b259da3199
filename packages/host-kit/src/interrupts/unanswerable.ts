/** Why a question takes no answer. Each major has its own words for it. */
export type UnanswerableReason =
  /** There is none. */
  | 'not-found'
  /** Somebody, or the time, has answered it. */
  | 'resolved'
  /** The run was cancelled. */
  | 'cancelled'
  /** The token is good no longer. */
  | 'expired';

/** A question that takes no answer. */
export class Unanswerable extends Error {
  override readonly name = 'Unanswerable';
  readonly reason: UnanswerableReason;

  constructor(reason: UnanswerableReason) {
    super(`The question takes no answer: ${reason}.`);
    this.reason = reason;
  }
}
