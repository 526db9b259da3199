/** The work of steps that is under way in a turn. */
export class WorkUnderWay {
  readonly #working = new Set<Promise<unknown>>();
  #isOver = false;

  async track<T>(work: Promise<T>): Promise<T> {
    this.#working.add(work);
    try {
      return await work;
    } finally {
      this.#working.delete(work);
    }
  }

  /** Resolves when no work is under way: a step that the workflow left behind still records its end. */
  async settled(): Promise<void> {
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
  }

  /** Notes that the workflow has ended. A branch that it left behind waits for nothing any more. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * Resolves when the turn may end, because a wait ends it: no work is under way, which would end with it. Never resolves
   * when the end of that work has ended the workflow, whose outcome then counts.
   */
  async rest(): Promise<void> {
    do {
      await this.settled();
      // The workflow gets the results, and goes on as far as promises alone take it.
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#working.size > 0);
    if (this.#isOver) await new Promise(() => {});
  }
}
