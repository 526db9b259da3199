import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fieldProblems } from '../src/field-problems.ts';
import { newKeyBody } from '../src/wire/api-key.ts';

const good = { name: 'k', scopes: ['runs:read'] };

describe('each bad field of a new key has a sentence with its remedy', () => {
  test.each<[unknown, ...string[]]>([
    [{ scopes: ['runs:read'] }, 'name: is required'],
    [{ ...good, name: '' }, 'name: must have at least 1 character'],
    [{ ...good, name: 5 }, 'name: must be a string, not a number'],
    [{ ...good, name: 'x'.repeat(129) }, 'name: must have at most 128 characters'],
    [{ ...good, name: 'a\u0000' }, 'name: must have no control characters'],
    [{ ...good, scopes: 'runs:read' }, 'scopes: must be a list, not a string'],
    [{ ...good, scopes: [] }, 'scopes: must have at least 1 item'],
    [{ ...good, scopes: ['a b'] }, 'scopes[0]: must be a scope such as runs:read or runs:*'],
    [{ ...good, workspaces: [] }, 'workspaces: must have at least 1 item'],
    [{ ...good, workspaces: ['*', 'a'] }, 'workspaces: must be either ["*"] or names'],
    [{ ...good, principalKind: 'robot' }, 'principalKind: must be "user" or "agent"'],
    [{ ...good, expiresAt: 'soon' }, 'expiresAt: must be a time such as 2030-01-31T08:00:00Z'],
    [{ ...good, expiresAt: 5 }, 'expiresAt: must be a string, not a number'],
    [{ ...good, rateLimit: 5 }, 'rateLimit: must be an object, not a number'],
    [{ ...good, rateLimit: { limit: 5 } }, 'rateLimit.windowSeconds: is required'],
    [{ ...good, rateLimit: { limit: 0, windowSeconds: 1 } }, 'rateLimit.limit: must be at least 1'],
    [{ ...good, rateLimit: { limit: 1, windowSeconds: 1e6 } }, 'rateLimit.windowSeconds: must be at most 86400'],
    [{ ...good, rateLimit: { limit: 1.5, windowSeconds: 1 } }, 'rateLimit.limit: must be a whole number'],
    [{ ...good, metadata: 'x' }, 'metadata: must be an object, not a string'],
    [{ ...good, metadata: { a: 1 } }, 'metadata.a: must be a string, not a number'],
    [{ ...good, metadata: { 'a b': 'x' } }, 'metadata.a b: must have names of 1 to 64 letters, digits or ._-'],
    [{ ...good, allowedAddresses: [] }, 'allowedAddresses: must have at least 1 item'],
    [{ ...good, nmae: 'k' }, 'body: has no field "nmae". Did you mean name?'],
    [{ ...good, colour: 'k' }, 'body: has no field "colour". Check its spelling'],
    [{ ...good, nmae: 'k', colour: 'k' }, 'body: has no field "nmae", "colour". Check its spelling'],
    [
      { ...good, rateLimit: { limit: 1, windowSecond: 1 } },
      'rateLimit.windowSeconds: is required',
      'rateLimit: has no field "windowSecond". Did you mean windowSeconds?',
    ],
    [{ ...good, ['x'.repeat(500)]: 1 }, `body: has no field "${'x'.repeat(64)}…". Check its spelling`],
    [[], 'body: must be an object, not a list'],
    [null, 'body: must be an object, not null'],
  ])('%j', (body, ...problems) => {
    expect(problemsOf(newKeyBody, body)).toEqual(problems);
  });
});

test.each([
  [z.int(), true, 'body: must be a number, not true or false'],
  [z.literal([1, 2]), 3, 'body: must be 1 or 2'],
  [z.number().gt(3), 3, 'body: must be more than 3'],
  [z.union([z.string(), z.int()]), {}, 'body: must have one of the forms of the API description'],
  [z.string().regex(/^a$/), 'b', 'body: must have another form. The API description has its pattern'],
  [z.string('must be a name'), 5, 'body: must be a name'],
])('schema %#', (schema, value, problem) => {
  expect(problemsOf(schema, value)).toEqual([problem]);
});

test('a missing member is required, whatever its schema says of other values', () => {
  const schema = z.strictObject({
    kind: z.enum(['a', 'b']),
    code: z.enum(['v1'], { error: 'must be v1' }),
    either: z.union([z.string(), z.int()]),
    at: z.array(z.strictObject({ x: z.literal(1) })),
  });
  expect(problemsOf(schema, { at: [{}] })).toEqual([
    'kind: is required. It must be "a" or "b"',
    'code: is required. It must be v1',
    'either: is required',
    'at[0].x: is required. It must be 1',
  ]);
});

test('a missing member gets the remedy of its field, and a rule of several members keeps its sentence', () => {
  const schema = z
    .object({ workspace: z.string().optional(), inner: z.object({ workspace: z.string() }) })
    .refine(({ workspace }) => workspace !== undefined, { path: ['workspace'], error: 'must be given with inner' });
  const remedies = { 'inner.workspace': 'It names a workspace of your credential: main' };
  expect(problemsOf(schema, { inner: {} }, remedies)).toEqual([
    'inner.workspace: is required. It names a workspace of your credential: main',
  ]);
  expect(problemsOf(schema, { inner: { workspace: 'main' } }, remedies)).toEqual([
    'workspace: must be given with inner',
  ]);
});

describe('of many problems ten are told, and the number of the others', () => {
  const schema = z.strictObject({ names: z.array(z.string()) });
  const first = Array.from({ length: 10 }, (_, index) => `names[${index}]: must be a string, not a number`);

  test.each([
    [10, []],
    [11, ['body: has 1 more problem']],
    [5000, ['body: has 4990 more problems']],
  ])('%i', (count, others) => {
    expect(problemsOf(schema, { names: Array.from({ length: count }, () => 5) })).toEqual([...first, ...others]);
  });

  test('below their root', () => {
    const { error } = schema.safeParse({ names: Array.from({ length: 12 }, () => 5) });
    const problems = error === undefined ? [] : fieldProblems(schema, {}, error, { root: 'answer' });
    expect(problems.at(-1)).toEqual({ field: 'answer', problem: 'has 2 more problems' });
  });

  test('and of many unknown fields five', () => {
    const unknown = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`x${index}`, 1]));
    expect(problemsOf(schema, { names: [], ...unknown })).toEqual([
      'body: has no field "x0", "x1", "x2", "x3", "x4" and 2 more. Check its spelling',
    ]);
  });
});

function problemsOf(schema: z.ZodType, value: unknown, remedies = {}): readonly string[] {
  const { error } = schema.safeParse(value);
  if (error === undefined) return [];
  return fieldProblems(schema, value, error, { remedies }).map(({ field, problem }) => `${field}: ${problem}`);
}
