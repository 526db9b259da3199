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
  const subject = path === '' ? `${owner}: its options` : `${owner}: ${path.slice(0, -1)}`;
  if (typeof options !== 'object' || options === null) throw new TypeError(`${subject} must be an object.`);
  if (Array.isArray(options))
    throw new TypeError(
      `${subject} must be an object, not a list. The options there are ${Object.keys(names).join(', ')}.`,
    );
  for (const [name, value] of Object.entries(options)) {
    const known = Object.hasOwn(names, name) ? names[name] : undefined;
    if (known === undefined) throw unknown(owner, path, name, names);
    if (known !== true && value !== undefined) requireKnown(owner, value, known, `${path}${name}.`);
  }
}

/** The form that an option must have. */
export interface Demand {
  /** The form in words, as they follow `must be`: `a function`. */
  readonly form: string;
  /** Returns whether a value has this form. */
  readonly fits: (value: unknown) => boolean;
  /** The sentence that says how to get such a value. */
  readonly remedy: string;
  /** Whether it may be left out. Default: false. */
  readonly isOptional?: boolean;
}

/**
 * Rejects options that lack a required one, or have one of a wrong form. A program in JavaScript, or one whose types are
 * stripped, is checked by no compiler, and would fail later in a function that its author does not know.
 *
 * @param owner the function that takes the options
 * @param demands by the path of the option: `engine.version` is asked after `engine`
 * @throws {TypeError} for the first option that is missing, is a promise, or has another form
 */
export function requireForms(owner: string, options: unknown, demands: Readonly<Record<string, Demand>>): void {
  for (const [path, { form, fits, remedy, isOptional = false }] of Object.entries(demands)) {
    const value = path.split('.').reduce(memberOf, options);
    if (isOptional ? value === undefined || fits(value) : fits(value)) continue;
    if (typeof memberOf(value, 'then') === 'function')
      throw new TypeError(`${owner}: ${path} is a promise. Await it before you pass it.`);
    throw new TypeError(`${owner}: ${path} ${value === undefined ? 'is required' : `must be ${form}`}. ${remedy}`);
  }
}

/** Returns a member of a value; undefined when it has none. */
export function memberOf(value: unknown, name: string): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  return Reflect.get(value, name);
}

/** Whether a value is an object with these functions. */
export function hasFunctions(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => typeof memberOf(value, name) === 'function');
}

/** The demand on an optional limiter of requests. */
export const A_RATE_LIMITER: Demand = {
  form: 'a rate limiter',
  fits: (value) => hasFunctions(value, 'consume', 'peek'),
  remedy: 'Pass memoryRateLimiter({ limit, windowSeconds }) of @svc/auth/rate-limit.',
  isOptional: true,
};

/** The demand on an option that is a function. */
export function functionThat(remedy: string, isOptional = false): Demand {
  return { form: 'a function', fits: (value) => typeof value === 'function', remedy, isOptional };
}

/** The demand on an option that is a store of the kit. */
export const A_STORE: Demand = {
  form: 'a store',
  fits: (value) => hasFunctions(value, 'transaction', 'close'),
  remedy: "Pass one such as sqliteStore('svc.db').",
};

function unknown(owner: string, path: string, name: string, names: Names): TypeError {
  const meant = groupWith(name, names) ?? nearestName(name, Object.keys(names));
  const advice =
    meant === undefined ? `The options there are ${Object.keys(names).join(', ')}.` : `Did you mean ${path}${meant}?`;
  return new TypeError(`${owner}: unknown option ${path}${name}. ${advice}`);
}

/** Returns the path of a name that stands in one of the groups. */
function groupWith(name: string, names: Names): string | undefined {
  const group = Object.keys(names).find(
    (group) => typeof names[group] === 'object' && Object.hasOwn(names[group], name),
  );
  return group && `${group}.${name}`;
}

/** Returns the name that a text most likely misspells, in at most two characters; undefined if there is none. */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  return names.find((name) => isWithin(1, text, name)) ?? names.find((name) => isWithin(2, text, name));
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
