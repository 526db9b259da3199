/**
 * Lets reads by key that are asked for at about the same time share a round trip: those that come while one is on its way wait for the next,
 * and none is answered with what was read before it was asked for.
 *
 * @param readAll what there is under these keys; a key without an entry has nothing
 */
export function gathered<V>(
  readAll: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (key: string) => Promise<V | undefined> {
  let asked = new Map<string, Promise<V | undefined>>();
  let next: Promise<ReadonlyMap<string, V>> | undefined;
  let underWay: Promise<unknown> = Promise.resolve();

  return (key) => {
    next ??= begin();
    const known = asked.get(key) ?? next.then((found) => found.get(key));
    asked.set(key, known);
    return known;
  };

  /** Takes off when the one before has landed, with all who are there by then. */
  function begin(): Promise<ReadonlyMap<string, V>> {
    const landed = underWay.then(() => {
      const keys = [...asked.keys()];
      asked = new Map();
      next = undefined;
      return readAll(keys);
    });
    underWay = landed.catch(() => {});
    return landed;
  }
}
