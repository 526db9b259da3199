/**
 * The names of an options type. As a type annotation, it makes the compiler demand each name exactly once. An option
 * that is an object of options itself has their names in place of `true`.
 */
export type OptionNames<Options> = {
  readonly [Name in keyof Options]-?: true | OptionNames<NonNullable<Options[Name]>>;
};

/** The names without the type that they belong to. */
interface Names {
  readonly [name: string]: true | Names;
}

/**
 * Rejects options with a name that their type does not have. Otherwise a mistyped option would have no effect, and no
 * sign of that.
 *
 * @param owner the function that takes the options
 * @param path the path of `options` within them, with a dot at its end
 * @throws {TypeError} when options are not an object, or have an unknown name
 */
export function requireKnown(owner: string, options: unknown, names: Names, path = ''): void {
  if (typeof options !== 'object' || options === null) {
    const subject = path === '' ? `${owner}: its options` : `${owner}: ${path.slice(0, -1)}`;
    throw new TypeError(`${subject} must be an object.`);
  }
  for (const [name, value] of Object.entries(options)) {
    const known = Object.hasOwn(names, name) ? names[name] : undefined;
    if (known === undefined) throw unknown(owner, path, name, Object.keys(names));
    if (known !== true && value !== undefined) requireKnown(owner, value, known, `${path}${name}.`);
  }
}

function unknown(owner: string, path: string, name: string, names: readonly string[]): TypeError {
  const meant = names.find((other) => isWithin(1, name, other)) ?? names.find((other) => isWithin(2, name, other));
  const advice = meant === undefined ? `The options there are ${names.join(', ')}.` : `Did you mean ${path}${meant}?`;
  return new TypeError(`${owner}: unknown option ${path}${name}. ${advice}`);
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
