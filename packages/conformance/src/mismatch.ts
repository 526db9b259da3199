import type { Answer } from './http/answer.ts';

/** Thrown when the host breaks the rule of a check. */
export class Mismatch extends Error {
  /** Behaviour that the rule demands. */
  readonly expected: string;
  /** Behaviour of the host. */
  readonly seen: string;
  /** Response that shows the mismatch, when one response does. */
  readonly answer: Answer | undefined;

  constructor(expected: string, seen: string, answer?: Answer) {
    super(`expected ${expected}, seen ${seen}`);
    this.name = 'Mismatch';
    this.expected = expected;
    this.seen = seen;
    this.answer = answer;
  }
}

/** Thrown when a check finds that it cannot be run. It is skipped, with the message as the reason and the cause `host`. */
export class Inapplicable extends Error {}
