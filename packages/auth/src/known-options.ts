/** The names of an options type. As a type annotation, it makes the compiler demand each name exactly once. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Rejects an options object with a name that its type does not have. Otherwise a mistyped option would have no effect,
 * and no sign of that.
 *
 * @param owner the function or class that takes the options
 * @throws {TypeError} when the options are not an object, or have an unknown name
 */
export function requireKnown(owner: string, options: object, names: Readonly<Record<string, true>>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(`${owner}: its options must be an object.`);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const meant = known.find((other) => isWithin(1, name, other)) ?? known.find((other) => isWithin(2, name, other));
    const advice = meant === undefined ? `Its options are ${known.join(', ')}.` : `Did you mean ${meant}?`;
    throw new TypeError(`${owner}: unknown option ${name}. ${advice}`);
  }
}

/** Whether a text becomes another by at most so many insertions, deletions and replacements of one character. */
function isWithin(edits: number, one: string, other: string): boolean {
  if (one === other) return true;
  const [rest, otherRest] = [one.slice(1), other.slice(1)];
  if (one[0] === other[0]) return isWithin(edits, rest, otherRest);
  if (edits === 0) return false;
  const left = edits - 1;
  return isWithin(left, rest, other) || isWithin(left, one, otherRest) || isWithin(left, rest, otherRest);
}
