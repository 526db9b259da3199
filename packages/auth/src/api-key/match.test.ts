import { covers } from '@svc/tools/covers';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ApiKeyRecord } from './key-store.ts';
import { onlyMatch } from './match.ts';

const hash = 'ab'.repeat(32);

function record(id: string, stored: unknown): ApiKeyRecord {
  const fields = { id, tenant: 'acme', workspaces: 'all', principal: 'p_1', scopes: [], mode: 'live' } as const;
  return JSON.parse(JSON.stringify({ ...fields, hash: stored }));
}

/** Counts the characters that a comparison reads. */
function charactersLookedAt(candidates: readonly ApiKeyRecord[]): number {
  const spy = vi.spyOn(String.prototype, 'charCodeAt');
  onlyMatch(hash, candidates);
  return spy.mock.calls.length;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe(covers('auth.api-key.constant-time'), () => {
  test.each([
    ['the same hash', hash],
    ['a first character that differs', `f${hash.slice(1)}`],
    ['a last character that differs', `${hash.slice(0, -1)}f`],
    ['a hash that is too short', 'ab'],
    ['no hash at all', undefined],
  ])('compares as many characters for %s', (_case, stored) => {
    expect(charactersLookedAt([record('key_1', stored)])).toBe(2 * hash.length);
  });

  test('compares as many characters without a candidate as with one', () => {
    expect(charactersLookedAt([])).toBe(2 * hash.length);
  });

  test.each([0, 1, 2])('compares all of three candidates when number %i matches', (matching) => {
    const candidates = [0, 1, 2].map((at) => record(`key_${at}`, at === matching ? hash : 'cd'.repeat(32)));
    expect(charactersLookedAt(candidates)).toBe(3 * 2 * hash.length);
  });
});

describe('onlyMatch', () => {
  test('does not match a corrupt hash with the dummy', () => {
    expect(onlyMatch('0'.repeat(64), [record('key_1', undefined)])).toBeUndefined();
    expect(onlyMatch('0'.repeat(64), [])).toBeUndefined();
  });

  test('returns the candidate with the hash', () => {
    const candidates = [record('key_1', 'cd'.repeat(32)), record('key_2', hash), record('key_3', 'ef'.repeat(32))];
    expect(onlyMatch(hash, candidates)?.id).toBe('key_2');
  });

  test.each([null, undefined])('a candidate that is %s hides no other record', (nothing) => {
    const candidates = JSON.parse(JSON.stringify([nothing, record('key_2', hash)]));
    expect(onlyMatch(hash, candidates)?.id).toBe('key_2');
  });

  test('returns undefined when two candidates match', () => {
    expect(onlyMatch(hash, [record('key_1', hash), record('key_2', hash)])).toBeUndefined();
  });

  test.each([undefined, null, 7, '', 'ab', hash.toUpperCase(), `${hash}ab`, { length: 64 }, [...hash]])(
    'a stored hash of %j matches nothing and hides no other record',
    (corrupt) => {
      expect(onlyMatch(hash, [record('key_1', corrupt)])).toBeUndefined();
      expect(onlyMatch(hash, [record('key_1', corrupt), record('key_2', hash)])?.id).toBe('key_2');
    },
  );
});
