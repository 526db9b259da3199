import { z } from 'zod';
import type { FieldProblem } from './errors.ts';
import { nearestName } from './known-options.ts';

/**
 * Returns the problem of each field that a schema refuses, in the words of this kit: a sentence without its subject, such as
 * `must be a string`. A schema with a sentence of its own keeps it. Of more than ten problems the first ten are returned, and a
 * last one that counts the others: a caller with a long list would otherwise get one for each item.
 *
 * @param value the refused value, which tells a missing member from a wrong one
 * @param error the refusal of `schema`
 */
export function fieldProblems(
  schema: z.ZodType,
  value: unknown,
  { issues }: z.ZodError,
  { root = '', remedies = {} }: Naming = {},
): readonly FieldProblem[] {
  const told = issues.slice(0, MOST_PROBLEMS).map((issue) => {
    const field = fieldOf(root, issue.path);
    if (!isMissing(value, issue)) return { field, problem: problemIn(issue, membersAt(schema, issue.path)) };
    const remedy = Object.hasOwn(remedies, field) ? remedies[field] : choiceOf(issue);
    return { field, problem: remedy === undefined ? 'is required' : `is required. ${remedy}` };
  });
  const more = issues.length - told.length;
  return more === 0
    ? told
    : [...told, { field: root || 'body', problem: `has ${more} more ${more === 1 ? 'problem' : 'problems'}` }];
}

const MOST_PROBLEMS = 10;

/** A caller that lacks a member of few values wants to know them. */
function choiceOf(issue: z.core.$ZodIssue): string | undefined {
  return issue.code === 'invalid_value' ? `It ${problemIn(issue, [])}` : undefined;
}

interface Naming {
  /** The path of the value in its request. Default: the value is the body. */
  readonly root?: string;
  /** A sentence for a member that is missing, by its field. Default: none. */
  readonly remedies?: Readonly<Record<string, string>>;
}

function fieldOf(root: string, path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return `${root}${steps}`.replace(/^\./, '') || 'body';
}

/** JSON has no undefined. A rule of several members, which zod calls custom, keeps its sentence. */
function isMissing(value: unknown, { code, path }: z.core.$ZodIssue): boolean {
  return code !== 'custom' && path.reduce(memberOf, value) === undefined;
}

function memberOf(value: unknown, step: PropertyKey): unknown {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined;
}

/** Returns the members that a schema knows at a path; none if it has no object there. */
function membersAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodPipe) return membersAt(schema.in, path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => membersAt(option, path));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return membersAt(schema.unwrap(), path);
  }
  const [step, ...rest] = path;
  if (schema instanceof z.ZodArray) return membersAt(schema.element, rest);
  if (schema instanceof z.ZodRecord) return membersAt(schema.valueType, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  return step === undefined ? Object.keys(schema.shape) : membersAt(memberOf(schema.shape, step), rest);
}

function problemIn(issue: z.core.$ZodIssue, members: readonly string[]): string {
  return WORDS_OF_ZOD.test(issue.message) ? (sentenceOf(issue, members) ?? issue.message) : issue.message;
}

/** The beginnings of the sentences that zod makes itself. */
const WORDS_OF_ZOD = /^(?:Invalid |Too (?:big|small): |Unrecognized keys?: )/;

function sentenceOf(issue: z.core.$ZodIssue, members: readonly string[]): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return typeProblem(issue.expected, issue.message);
    case 'too_small':
      return `must ${issue.origin === 'number' || issue.origin === 'int' ? 'be' : 'have'} ${issue.inclusive === false ? 'more than' : 'at least'} ${counted(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must ${issue.origin === 'number' || issue.origin === 'int' ? 'be' : 'have'} ${issue.inclusive === false ? 'less than' : 'at most'} ${counted(issue.maximum, issue.origin)}`;
    case 'invalid_format':
      return FORMATS.get(issue.format) ?? 'must have another form. The API description has its pattern';
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'unrecognized_keys':
      return `has no field ${listed(issue.keys)}. ${meant(issue.keys, members)}`;
    case 'invalid_union':
      return 'must have one of the forms of the API description';
    case 'invalid_key':
      return 'must have names of 1 to 64 letters, digits or ._-';
    default:
      return undefined;
  }
}

const SHOWN_KEYS = 5;
const SHOWN_CHARACTERS = 64;

function listed(keys: readonly string[]): string {
  const more = keys.length - SHOWN_KEYS;
  return `${keys.slice(0, SHOWN_KEYS).map(shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function shown(key: string): string {
  return JSON.stringify(key.length > SHOWN_CHARACTERS ? `${key.slice(0, SHOWN_CHARACTERS)}…` : key);
}

function meant([key = '', ...others]: readonly string[], members: readonly string[]): string {
  // A long key is no misspelling, and would cost time to compare.
  const nearest = others.length > 0 || key.length > SHOWN_CHARACTERS ? undefined : nearestName(key, members);
  return nearest === undefined ? 'Check its spelling' : `Did you mean ${nearest}?`;
}

function typeProblem(expected: string, message: string): string {
  const wanted = TYPES.get(expected) ?? `a value of the type ${expected}`;
  const [, found = ''] = /received (\w+)$/.exec(message) ?? [];
  const given = TYPES.get(found);
  // A fraction is a number, too.
  return given === undefined || (expected === 'int' && found === 'number')
    ? `must be ${wanted}`
    : `must be ${wanted}, not ${given}`;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'an object'],
  ['record', 'an object'],
  ['null', 'null'],
]);

const FORMATS: ReadonlyMap<string, string> = new Map([
  ['datetime', 'must be a time such as 2030-01-31T08:00:00Z'],
  ['url', 'must be a URL'],
  ['uuid', 'must be a UUID'],
]);

function counted(count: number | bigint, origin: string): string {
  const [one, many] = UNITS.get(origin) ?? ['', ''];
  return `${count} ${Number(count) === 1 ? one : many}`.trim();
}

const UNITS: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['string', ['character', 'characters']],
  ['array', ['item', 'items']],
  ['set', ['item', 'items']],
  ['map', ['entry', 'entries']],
]);
