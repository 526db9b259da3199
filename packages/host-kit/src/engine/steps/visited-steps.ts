import { AsyncLocalStorage } from 'node:async_hooks';
import type { Journal, StepRecord } from './journal.ts';
import { StepFailure } from './step-failure.ts';
import { KINDS } from './step-kind.ts';

/** The steps that a workflow has come to in a turn, beside those that its run has recorded. */
export class VisitedSteps {
  readonly #journal: Journal;
  readonly #names = new Set<string>();
  /** The name of the step whose work calls. A question within it would wait for the end of that work, for ever. */
  readonly #within = new AsyncLocalStorage<string>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** The number of steps. */
  get size(): number {
    return this.#names.size;
  }

  /** Notes that the workflow has come to a step, and returns the record of it. */
  enter(name: string, typeId: string): StepRecord | undefined {
    if (typeof name !== 'string' || name === '' || name.length > MOST_NAME) {
      throw new TypeError(`The name of a step must be a text of 1 to ${MOST_NAME} characters.`);
    }
    const outer = this.#within.getStore();
    if (outer !== undefined) {
      throw new TypeError(`step ${name}: is used within the step ${outer}. Use it after ${outer}, or side by side.`);
    }
    if (this.#names.has(name)) {
      throw new TypeError(`step ${name}: is used twice. Give each step of a run a name of its own, such as ${name}-2.`);
    }
    this.#names.add(name);
    const record = this.#journal.steps.get(name);
    if (record === undefined || record.typeId === typeId) return record;
    const was = KINDS[record.typeId] ?? record.typeId;
    const message = `The run has recorded ${name} as ${was}, and its workflow now uses it as ${KINDS[typeId]}.`;
    throw new StepFailure(MISMATCH, message, { step: name });
  }

  /** Does the work of a step. A step that it uses is rejected. */
  within<T>(name: string, work: () => T): T {
    return this.#within.run(name, work);
  }

  /** A step that the log has and the workflow has not come to in this turn. */
  unvisited(): string | undefined {
    const isLeft = ([name, { typeId }]: readonly [string, StepRecord]) =>
      typeId !== 'steps.compensation' && !this.#names.has(name);
    return [...this.#journal.steps].find(isLeft)?.[0];
  }

  /**
   * A recorded step that the workflow leaves out. A workflow that has ended may have left a branch behind, by
   * `Promise.race` or a failure of another branch. The branch still comes to its recorded steps, without waiting for
   * anything but promises.
   */
  async leftOut(): Promise<string | undefined> {
    for (let turns = this.#journal.steps.size * TURNS_PER_STEP; turns > 0; turns--) {
      if (this.unvisited() === undefined) return undefined;
      await undefined;
    }
    return this.unvisited();
  }
}

/** The code of a run whose workflow no longer fits its log. */
export const MISMATCH = 'journal_mismatch';

/** More than the promises that a recorded step passes on its way. */
const TURNS_PER_STEP = 50;
const MOST_NAME = 128;
