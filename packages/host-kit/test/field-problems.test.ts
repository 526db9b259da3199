import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { problemIn } from '../src/http/problem-in.ts';
import { newKeyBody } from '../src/wire/api-key.ts';

const good = { name: 'k', scopes: ['runs:read'] };

describe('each bad field of a new key has a sentence with its remedy', () => {
  test.each([
    [{ scopes: ['runs:read'] }, 'name: is required, and must be a string'],
    [{ ...good, name: '' }, 'name: must have at least 1 character'],
    [{ ...good, name: 5 }, 'name: must be a string, not a number'],
    [{ ...good, name: 'x'.repeat(129) }, 'name: must have at most 128 characters'],
    [{ ...good, name: 'a\u0000' }, 'name: must have no control characters'],
    [{ ...good, scopes: 'runs:read' }, 'scopes: must be a list, not a string'],
    [{ ...good, scopes: [] }, 'scopes: must have at least 1 item'],
    [{ ...good, scopes: ['a b'] }, 'scopes.0: must be a scope such as runs:read or runs:*'],
    [{ ...good, workspaces: [] }, 'workspaces: must have at least 1 item'],
    [{ ...good, workspaces: ['*', 'a'] }, 'workspaces: must be either ["*"] or names'],
    [{ ...good, principalKind: 'robot' }, 'principalKind: must be "user" or "agent"'],
    [{ ...good, expiresAt: 'soon' }, 'expiresAt: must be a time such as 2030-01-31T08:00:00Z'],
    [{ ...good, expiresAt: 5 }, 'expiresAt: must be a string, not a number'],
    [{ ...good, rateLimit: 5 }, 'rateLimit: must be an object, not a number'],
    [{ ...good, rateLimit: { limit: 5 } }, 'rateLimit.windowSeconds: is required, and must be a number'],
    [{ ...good, rateLimit: { limit: 0, windowSeconds: 1 } }, 'rateLimit.limit: must be at least 1'],
    [{ ...good, rateLimit: { limit: 1, windowSeconds: 1e6 } }, 'rateLimit.windowSeconds: must be at most 86400'],
    [{ ...good, rateLimit: { limit: 1.5, windowSeconds: 1 } }, 'rateLimit.limit: must be a whole number'],
    [{ ...good, metadata: 'x' }, 'metadata: must be an object, not a string'],
    [{ ...good, metadata: { a: 1 } }, 'metadata.a: must be a string, not a number'],
    [{ ...good, metadata: { 'a b': 'x' } }, 'metadata.a b: must have names of 1 to 64 letters, digits or ._-'],
    [{ ...good, allowedAddresses: [] }, 'allowedAddresses: must have at least 1 item'],
    [{ ...good, nmae: 'k' }, ': has no field "nmae". Check its spelling'],
    [{ ...good, ['x'.repeat(500)]: 1 }, `: has no field "${'x'.repeat(64)}…". Check its spelling`],
    [[], ': must be an object, not a list'],
    [null, ': must be an object, not null'],
  ])('%j', (body, problem) => {
    expect(problemsOf(newKeyBody, body)).toEqual([problem]);
  });
});

test.each([
  [z.int(), true, ': must be a number, not true or false'],
  [z.literal([1, 2]), 3, ': must be 1 or 2'],
  [z.number().gt(3), 3, ': must be more than 3'],
  [z.union([z.string(), z.int()]), {}, ': must have one of the forms of the API description'],
  [z.string().regex(/^a$/), 'b', ': must have another form. The API description has its pattern'],
  [z.string('must be a name'), 5, ': must be a name'],
])('schema %#', (schema, value, problem) => {
  expect(problemsOf(schema, value)).toEqual([problem]);
});

function problemsOf(schema: z.ZodType, value: unknown): readonly string[] {
  const { error } = schema.safeParse(value);
  return (error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${problemIn(issue)}`);
}
