/**
 * Returns a function that reads by key. Reads that arrive while a query is under way share the next query. A read is
 * never answered by a query that began before it.
 *
 * @param readAll runs the query. A key without a record has no entry in its result.
 */
export function gathered<V>(
  readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (key: string) => Promise<V | undefined> {
  /** The reads that wait for the next query, by key. */
  let waiting = new Map<string, Promise<V | undefined>>();
  /** The next query; undefined when no read waits. */
  let next: Promise<ReadonlyMap<string, V>> | undefined;
  let underWay: Promise<unknown> = Promise.resolve();

  return (key) => {
    next ??= schedule();
    const read = waiting.get(key) ?? next.then((found) => found.get(key));
    waiting.set(key, read);
    return read;
  };

  /** Runs the next query after the one under way has ended, for all reads that wait by then. */
  function schedule(): Promise<ReadonlyMap<string, V>> {
    const query = underWay.then(() => {
      const keys = [...waiting.keys()];
      waiting = new Map();
      next = undefined;
      return readAll(keys);
    });
    underWay = query.catch(() => {});
    return query;
  }
}
