import type { z } from 'zod';

/**
 * Returns the problem of a field in the words of this kit: a sentence without its subject, such as `must be a string`. A
 * schema with a sentence of its own keeps it.
 */
export function problemIn(issue: z.core.$ZodIssue): string {
  return WORDS_OF_ZOD.test(issue.message) ? (sentenceOf(issue) ?? issue.message) : issue.message;
}

/** The beginnings of the sentences that zod makes itself. */
const WORDS_OF_ZOD = /^(?:Invalid |Too (?:big|small): |Unrecognized keys?: )/;

function sentenceOf(issue: z.core.$ZodIssue): string | undefined {
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
      return `has no field ${issue.keys.slice(0, SHOWN_KEYS).map(shown).join(', ')}. Check its spelling`;
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

function shown(key: string): string {
  return JSON.stringify(key.length > SHOWN_CHARACTERS ? `${key.slice(0, SHOWN_CHARACTERS)}…` : key);
}

function typeProblem(expected: string, message: string): string {
  const wanted = TYPES.get(expected) ?? `a value of the type ${expected}`;
  if (message.endsWith('received undefined')) return `is required, and must be ${wanted}`;
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
