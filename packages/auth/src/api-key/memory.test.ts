import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiKeyRecord } from './key-store.ts';
import { memoryKeyStore } from './memory.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

function record(id: string, hash = hashOf(id)): ApiKeyRecord {
  return { id, hash, tenant: 'acme', workspaces: 'all', principal: 'p_1', scopes: ['runs:read'], mode: 'live' };
}

function candidates(records: readonly ApiKeyRecord[], hash: string): readonly ApiKeyRecord[] {
  const found = memoryKeyStore(records).candidates({ hash });
  if (found instanceof Promise) throw new Error('The memory store is synchronous.');
  return found;
}

describe('memoryKeyStore', () => {
  test('finds a record among many, and none for an unknown hash', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 20 }), (ids) => {
        const records = ids.map((id) => record(id));
        for (const id of ids) expect(candidates(records, hashOf(id)).map((found) => found.id)).toContain(id);
        expect(candidates(records, hashOf('not there'))).toEqual([]);
      }),
    );
  });

  test('returns every record whose hash has the same prefix', () => {
    const alike = `${'a'.repeat(16)}${'b'.repeat(48)}`;
    const other = `${'a'.repeat(16)}${'c'.repeat(48)}`;
    const found = candidates([record('key_1', alike), record('key_2', other), record('key_3')], alike);
    expect(found.map(({ id }) => id)).toEqual(['key_1', 'key_2']);
  });

  test('returns expired and revoked records too', () => {
    const ended = { ...record('key_1'), expiresAt: 0, revokedAt: 0 };
    expect(candidates([ended], ended.hash)).toHaveLength(1);
  });

  test('accepts any iterable', () => {
    expect(candidates([...new Set([record('key_1')])], hashOf('key_1'))).toHaveLength(1);
  });

  test('rejects a malformed record, a repeated id, and a repeated hash', () => {
    expect(() => memoryKeyStore([{ ...record('key_1'), tenant: '' }])).toThrow(/^API key key_1: tenant/);
    expect(() => memoryKeyStore([record('key_1'), record('key_1', hashOf('b'))])).toThrow(/key_1: id must be unique/);
    expect(() => memoryKeyStore([record('key_1'), record('key_2', hashOf('key_1'))])).toThrow(
      /key_1 and key_2: hash must be unique/,
    );
  });
});
