/** The reasons for which a message starts no run, as the audit log names them. */
export type EmailRefusal =
  | 'malformed'
  | 'recipient-not-listed'
  | 'sender-not-listed'
  | 'dmarc-none'
  | 'dmarc-fail'
  | 'dmarc-permerror'
  | 'dmarc-temperror'
  | 'beyond-limits';

/** Thrown when a message of an authentic relay starts no run. Nothing is stored then. */
export class EmailRefused extends Error {
  readonly reason: EmailRefusal;
  /** A predicate about the message, without its content. */
  readonly problem: string;

  constructor(reason: EmailRefusal, problem: string) {
    super(`The message ${problem}.`);
    this.reason = reason;
    this.problem = problem;
  }
}
