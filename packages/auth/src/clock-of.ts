/**
 * Returns the clock of an owner of options, `Date.now` when none is given. It is the same function each time, because
 * lists of one issuer are shared by the lanes that have one clock.
 *
 * @param owner the function that takes the options
 * @throws {TypeError} when the clock is not a function
 */
export function clockOf(owner: string, now: (() => number) | undefined): () => number {
  if (now === undefined) return Date.now;
  if (typeof now === 'function') return now;
  throw new TypeError(`${owner}: now must be a function. Omit it, or pass Date.now.`);
}
