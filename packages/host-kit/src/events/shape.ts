import type { Json, JsonObject } from '../json.ts';

/** The description of a JSON value: its JSON Schema, and the same rules as a function. */
export interface PayloadShape<out T = unknown> {
  /** JSON Schema 2020-12 in the keywords that ajv accepts in strict mode. */
  readonly schema: JsonObject;
  /** Returns the first rule that a value breaks; undefined when it breaks none. */
  readonly problem: (value: unknown) => PayloadProblem | undefined;
  /** The type of the described values. Never set: it exists for the compiler alone. */
  readonly described?: T;
}

/** A broken rule. */
export interface PayloadProblem {
  /** The members that lead to the value at fault, the outermost first. Empty: the value itself. */
  readonly path: readonly string[];
  /** The rest of a sentence that begins with the path, for example `must be text`. */
  readonly rule: string;
}

/** A member that may be absent. */
export interface Optional<out T = unknown> {
  readonly optional: PayloadShape<T>;
}

/** Marks a member that may be absent. */
export function optional<T>(shape: PayloadShape<T>): Optional<T> {
  return { optional: shape };
}

/** Any JSON value. */
export const any: PayloadShape<Json> = { schema: {}, problem: () => undefined };

/** Any JSON object. */
export const open: PayloadShape<JsonObject> = {
  schema: { type: 'object' },
  problem: (value) => (isObject(value) ? undefined : NOT_AN_OBJECT),
};

/** A text, with the rules that a string in JSON Schema may have. */
export function text(
  rules: { readonly minLength?: number; readonly maxLength?: number; readonly pattern?: string } = {},
): PayloadShape<string> {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = rules;
  const matching = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const most = Number.isFinite(maxLength) ? ` and at most ${maxLength}` : '';
  const broken = problemOf(
    pattern === undefined ? `must be text of at least ${minLength}${most} characters` : `must match ${pattern}`,
  );
  return {
    schema: { type: 'string', ...rules },
    problem(value) {
      if (typeof value !== 'string') return NOT_TEXT;
      if (value.length < minLength || value.length > maxLength) return broken;
      return matching === undefined || matching.test(value) ? undefined : broken;
    },
  };
}

/** One of several texts. */
export function oneOf<const T extends string>(...texts: readonly T[]): PayloadShape<T> {
  const known: ReadonlySet<unknown> = new Set(texts);
  const broken = problemOf(`must be one of ${texts.join(', ')}`);
  return { schema: { type: 'string', enum: texts }, problem: (value) => (known.has(value) ? undefined : broken) };
}

/** A finite number of at least `minimum`. Default: no lower limit. */
export function number(minimum = Number.NEGATIVE_INFINITY): PayloadShape<number> {
  const broken = problemOf(Number.isFinite(minimum) ? `must be a number of at least ${minimum}` : 'must be a number');
  return {
    schema: { type: 'number', ...(Number.isFinite(minimum) && { minimum }) },
    problem: (value) => (Number.isFinite(value) && Number(value) >= minimum ? undefined : broken),
  };
}

/** A whole number of at least `minimum`. */
export function whole(minimum: number): PayloadShape<number> {
  const broken = problemOf(`must be a whole number of at least ${minimum}`);
  return {
    schema: { type: 'integer', minimum },
    problem: (value) => (Number.isInteger(value) && Number(value) >= minimum ? undefined : broken),
  };
}

/** True or false. */
export const flag: PayloadShape<boolean> = {
  schema: { type: 'boolean' },
  problem: (value) => (typeof value === 'boolean' ? undefined : NOT_A_FLAG),
};

/** A list of values of one shape. */
export function list<T>(item: PayloadShape<T>): PayloadShape<readonly T[]> {
  return {
    schema: { type: 'array', items: item.schema },
    problem(value) {
      if (!Array.isArray(value)) return NOT_A_LIST;
      for (let index = 0; index < value.length; index += 1) {
        const found = item.problem(value[index]);
        if (found !== undefined) return within(String(index), found);
      }
      return undefined;
    },
  };
}

/** A value of one of two shapes, for example a version that is a number or a text. */
export function either<A, B>(one: PayloadShape<A>, other: PayloadShape<B>): PayloadShape<A | B> {
  return {
    schema: { anyOf: [one.schema, other.schema] },
    problem: (value) => one.problem(value) && other.problem(value),
  };
}

/** The members of an object, by name. */
export type Members = Readonly<Record<string, PayloadShape | Optional>>;

/** An object with these members and any others. */
export function object<const M extends Members>(members: M): PayloadShape<ObjectOf<M> & JsonObject> {
  return objectOf(members, undefined);
}

/**
 * An object with these members and no others, except for extensions: members whose names begin with `svc-`, `x-` or
 * `vendor.` are carried as they are.
 */
export function closed<const M extends Members>(members: M): PayloadShape<ObjectOf<M> & Extensions> {
  return objectOf(members, EXTENSION);
}

/** An object with these members and no others, without exception. */
export function exact<const M extends Members>(members: M): PayloadShape<ObjectOf<M>> {
  return objectOf(members, NOTHING);
}

/** Members of a closed object that belong to the sender. */
export interface Extensions {
  readonly [name: `svc-${string}` | `x-${string}` | `vendor.${string}`]: Json | undefined;
}

/** The type of the objects with these members. */
export type ObjectOf<M extends Members> = {
  readonly [K in keyof M as M[K] extends Optional ? never : K]: M[K] extends PayloadShape<infer T> ? T : never;
} & {
  readonly [K in keyof M as M[K] extends Optional ? K : never]?: M[K] extends Optional<infer T> ? T | undefined : never;
};

const EXTENSION = '^(?:svc-|x-|vendor\\.)';
const NOTHING = '';

/** @param extension a pattern of further members; undefined: any others; empty: no others */
function objectOf<T>(members: Members, extension: string | undefined): PayloadShape<T> {
  const shapes = new Map<string, PayloadShape>();
  const required: string[] = [];
  for (const [name, member] of Object.entries(members)) {
    if ('optional' in member) shapes.set(name, member.optional);
    else {
      shapes.set(name, member);
      required.push(name);
    }
  }
  const mayHave = extension === undefined || extension === NOTHING ? undefined : new RegExp(extension, 'u');
  const properties = Object.fromEntries([...shapes].map(([name, { schema }]) => [name, schema]));
  return {
    schema: {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      ...(mayHave !== undefined && { patternProperties: { [EXTENSION]: {} } }),
      ...(extension !== undefined && { additionalProperties: false }),
    },
    problem(value) {
      if (!isObject(value)) return NOT_AN_OBJECT;
      for (const name of required) if (value[name] === undefined) return within(name, MISSING);
      for (const name of Object.keys(value)) {
        const member = value[name];
        // JSON leaves such a member out.
        if (member === undefined) continue;
        const shape = shapes.get(name);
        const found = shape === undefined ? undefined : shape.problem(member);
        if (found !== undefined) return within(name, found);
        if (shape === undefined && extension !== undefined && mayHave?.test(name) !== true)
          return within(name, UNKNOWN);
      }
      return undefined;
    },
  };
}

/** An object that JSON writes as an object: a date, for example, would become a text. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !('toJSON' in value && typeof value.toJSON === 'function')
  );
}

function within(name: string, { path, rule }: PayloadProblem): PayloadProblem {
  return { path: [name, ...path], rule };
}

function problemOf(rule: string): PayloadProblem {
  return { path: [], rule };
}

const NOT_AN_OBJECT = problemOf('must be an object');
const NOT_TEXT = problemOf('must be text');
const NOT_A_FLAG = problemOf('must be true or false');
const NOT_A_LIST = problemOf('must be a list');
const MISSING = problemOf('is missing');
const UNKNOWN = problemOf('is no member of this payload; begin the name of a member of your own with x-');
