import type { z } from 'zod';

/**
 * Returns the sentences for a problem that its schema has none for: `<fault>. <remedy>.` They contain no value
 * of the file, because a value may be a secret.
 */
export function expectation(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `${issue.input === undefined ? 'is missing' : 'has the wrong type'}. Set it to ${typeName(issue.expected)}.`;
    case 'too_small':
      return `${sized('too small', 'too short', issue.origin)}. ${bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}.`;
    case 'too_big':
      return `${sized('too large', 'too long', issue.origin)}. ${bound(issue.origin, 'at most', issue.maximum)}.`;
    case 'invalid_value':
      return `is not an accepted value. Set it to ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}.`;
    default:
      return 'is not accepted. config.schema.json says which values are.';
  }
}

/** Returns one line for each key that a problem is about. */
export function problemsOf(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(
      (key) =>
        `${pathOf([...issue.path, key])}: is not a key of this configuration. Remove it, or correct it: config.schema.json lists the keys.`,
    );
  }
  return [`${pathOf(issue.path)}: ${issue.message}`];
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function typeName(expected: string): string {
  return TYPE_NAMES[expected] ?? expected;
}

function sized(ofNumbers: string, ofOthers: string, origin: string): string {
  return `is ${isNumber(origin) ? ofNumbers : ofOthers}`;
}

function bound(origin: string, limit: string, value: number | bigint): string {
  if (isNumber(origin)) return `Set it to ${limit} ${value}`;
  const unit = origin === 'array' ? 'entries' : 'characters';
  return `Give ${limit} ${value} ${value === 1 ? unit.replace(/ies$/, 'y').replace(/s$/, '') : unit}`;
}

function isNumber(origin: string): boolean {
  return origin === 'number' || origin === 'int';
}

/** Writes a path as `apiKeys[0].scopes`. */
export function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return text.replace(/^\./, '') || 'the file';
}
