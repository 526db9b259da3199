import type { Answer } from './http/answer.ts';
import { Inapplicable, Mismatch } from './mismatch.ts';
import { type Addressed, addressed } from './protocol-path.ts';
import type { Major } from './rule.ts';
import type { Target } from './target.ts';

/** Looks at one answer of the run. Returns false when its rule says nothing about that answer. @throws {Mismatch} */
export type Look = (answer: Answer, about: Addressed) => boolean;

/** A rule about every answer, with the majors that have it. `watch` makes the function for one run. */
export interface Watching {
  readonly id: string;
  readonly majors: readonly Major[];
  readonly watch?: (() => Look) | undefined;
}

interface Verdict {
  looked: number;
  mismatch: Mismatch | undefined;
}

/** Holds every answer of one run to the rules about all answers, and keeps the first mismatch of each rule and major. */
export class Witness {
  readonly #rules: readonly { readonly id: string; readonly majors: readonly Major[]; readonly look: Look }[];
  readonly #verdicts = new Map<string, Verdict>();
  /** Answers before the versions of the host were known: those of the exploration. */
  readonly #early: Answer[] = [];
  #target: Target | undefined;

  constructor(checks: readonly Watching[]) {
    this.#rules = checks.flatMap(({ id, majors, watch }) =>
      watch === undefined ? [] : [{ id, majors, look: watch() }],
    );
  }

  /** Takes an answer. */
  saw(answer: Answer): void {
    if (this.#target === undefined) this.#early.push(answer);
    else this.#judge(answer, this.#target);
  }

  /** Judges the answers that came before, and from now on each one at once. */
  begin(target: Target): void {
    this.#target = target;
    for (const answer of this.#early.splice(0)) this.#judge(answer, target);
  }

  /**
   * Tells the verdict of a rule.
   *
   * @throws {Mismatch} when an answer broke it
   * @throws {Inapplicable} when it applied to no answer
   */
  verdictOf(id: string, major: Major): void {
    const { looked, mismatch } = this.#verdictOf(id, major);
    if (mismatch !== undefined) throw mismatch;
    if (looked === 0) throw new Inapplicable('the rule applied to no answer of this run');
  }

  #judge(answer: Answer, target: Target): void {
    const about = addressed(answer.sent, target);
    if (about === undefined) return;
    for (const { id, majors, look } of this.#rules) {
      if (!majors.includes(about.major)) continue;
      const verdict = this.#verdictOf(id, about.major);
      if (verdict.mismatch !== undefined) continue;
      try {
        if (look(answer, about)) verdict.looked += 1;
      } catch (error) {
        if (!(error instanceof Mismatch)) throw error;
        verdict.mismatch = error;
      }
    }
  }

  #verdictOf(id: string, major: Major): Verdict {
    const key = `${id} ${major}`;
    const verdict = this.#verdicts.get(key) ?? { looked: 0, mismatch: undefined };
    this.#verdicts.set(key, verdict);
    return verdict;
  }
}
