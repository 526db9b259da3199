import { describe, expect, test } from 'vitest';
import { presentedCredential } from './credential.ts';

const read = (authorization: string | string[] | undefined) => presentedCredential({ headers: { authorization } });

describe('presentedCredential', () => {
  test('reads the scheme in lower case, and the token unchanged', () => {
    const credential = { scheme: 'dpop', token: 'aB.c-d_e~f+g/h==' };
    expect(read('DPoP aB.c-d_e~f+g/h==')).toEqual({ kind: 'one', credential });
    expect(read("!#$%&'*+.^_`|~0-Aa x")).toEqual({
      kind: 'one',
      credential: { scheme: "!#$%&'*+.^_`|~0-aa", token: 'x' },
    });
  });

  test('finds none without the header', () => {
    expect(read(undefined)).toEqual({ kind: 'none' });
  });

  test.each([
    ['nothing', ''],
    ['a scheme alone', 'Bearer'],
    ['a scheme and a space', 'Bearer '],
    ['a token alone', ' x'],
    ['two spaces', 'Bearer  x'],
    ['a tab', 'Bearer\tx'],
    ['a space before it', ' Bearer x'],
    ['a space behind it', 'Bearer x '],
    ['a line break behind it', 'Bearer x\n'],
    ['a second token', 'Bearer x y'],
    ['a joined header', 'Bearer x, Bearer y'],
    ['a list of one', 'Bearer x,'],
    ['padding before the end', 'Bearer x=y'],
    ['padding alone', 'Bearer ='],
    ['another character in the token', 'Bearer x"'],
    ['another character in the scheme', 'Bea(rer x'],
    ['a character before the scheme', '(Bearer x'],
    ['a letter beyond ASCII', 'Bearer ü'],
  ])('refuses %s', (_name, value) => {
    expect(read(value)).toMatchObject({
      kind: 'malformed',
      error: {
        code: 'unauthenticated',
        status: 401,
        reason: 'malformed',
        message: expect.stringMatching(/in the form/),
      },
    });
  });

  test('refuses a header that is sent twice, also with one value', () => {
    expect(read(['Bearer x', 'Bearer x'])).toMatchObject({
      kind: 'malformed',
      error: { reason: 'malformed', message: expect.stringMatching(/header once/) },
    });
  });

  test.each([
    ['Bearer', 8192, 'one'],
    ['Bearer', 8193, 'malformed'],
    ['DPoP', 8192, 'one'],
    ['DPoP', 8193, 'malformed'],
    ['s'.repeat(64), 8192, 'one'],
    ['s'.repeat(65), 8192, 'malformed'],
  ])('a token of the scheme %s with %i characters is read as: %s', (scheme, length, kind) => {
    expect(read(`${scheme} ${'k'.repeat(length)}`).kind).toBe(kind);
  });
});
