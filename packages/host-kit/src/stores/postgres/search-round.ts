/**
 * A search that looks at one part after another of a circle of names, and whether it has been round. Names are compared
 * by their bytes, as PostgreSQL does with `COLLATE "C"`.
 */
export class SearchRound {
  #from: string | undefined;
  #isOver = false;

  /** Everything has been looked at once. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Notes a look at all names after `after`, up to and including `until`. Both are the same after a look at everything. */
  looked(after: string, until: string): this {
    this.#from ??= after;
    if (after === until || isWithin(this.#from, after, until)) this.#isOver = true;
    return this;
  }
}

function isWithin(name: string, after: string, until: string): boolean {
  const isPast = isBefore(after, name);
  const isReached = !isBefore(until, name);
  return isBefore(after, until) ? isPast && isReached : isPast || isReached;
}

function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}
