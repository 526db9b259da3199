/** The reason why a question does not accept an answer. Each major has its own error for it. */
export type UnanswerableReason =
  /** There is no such question. */
  | 'not-found'
  /** An answer or the timeout resolved it. */
  | 'resolved'
  /** The run was cancelled. */
  | 'cancelled'
  /** The token has expired. */
  | 'expired';

/** Thrown for a question that does not accept an answer. */
export class Unanswerable extends Error {
  override readonly name = 'Unanswerable';
  readonly reason: UnanswerableReason;

  constructor(reason: UnanswerableReason) {
    super(`The question does not accept an answer: ${reason}.`);
    this.reason = reason;
  }
}
