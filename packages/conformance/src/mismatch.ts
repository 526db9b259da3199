import type { Answer } from './http/answer.ts';

/** The host did something else than the rule says. */
export class Mismatch extends Error {
  readonly expected: string;
  readonly seen: string;
  /** What was asked, where one request shows it. */
  readonly answer: Answer | undefined;

  constructor(expected: string, seen: string, answer?: Answer) {
    super(`expected ${expected}, and saw ${seen}`);
    this.name = 'Mismatch';
    this.expected = expected;
    this.seen = seen;
    this.answer = answer;
  }
}

/** The check found that it cannot be run after all: it is skipped with this reason. */
export class Inapplicable extends Error {}
