import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ApiKeyEntry, recordOf } from './entry.ts';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const entry: ApiKeyEntry = { hash: hashOf('a key'), tenant: 'acme', scopes: ['runs:read'] };

describe('an entry', () => {
  test('needs a hash, a tenant and scopes alone', () => {
    const id = `key_${hashOf(entry.hash).slice(0, 16)}`;
    expect(recordOf(entry)).toMatchObject({ ...entry, id, principal: id, workspaces: ['main'], mode: 'live' });
  });

  test('has an id that is the same each time, and no part of the hash', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const hash = hashOf(text);
        const { id } = recordOf({ ...entry, hash });
        expect(recordOf({ ...entry, hash }).id).toBe(id);
        expect(id).toMatch(/^key_[0-9a-f]{16}$/);
        expect(hash).not.toContain(id.slice(4));
      }),
    );
  });

  test('takes the default for undefined', () => {
    const blank = { id: undefined, principal: undefined, workspaces: undefined, mode: undefined };
    expect(recordOf({ ...entry, ...blank })).toEqual(recordOf(entry));
  });

  test('keeps what is given', () => {
    const given = { id: 'key_1', workspaces: 'all', principal: 'p_1', mode: 'test' } as const;
    expect(recordOf({ ...entry, ...given })).toMatchObject(given);
    expect(recordOf({ ...entry, id: 'key_1' })).toMatchObject({ id: 'key_1', principal: 'key_1' });
  });

  test.each(['id', 'principal', 'workspaces', 'mode', 'hash', 'tenant', 'scopes'])(
    'rejects an invalid %s, with an error that names it',
    (field) => {
      for (const value of [null, '', [], 7]) {
        if (field === 'scopes' && Array.isArray(value)) continue;
        const changed: ApiKeyEntry = JSON.parse(JSON.stringify({ ...entry, [field]: value }));
        expect(() => recordOf(changed)).toThrow(new RegExp(`^API key \\w+: ${field} must be `));
      }
    },
  );

  test('rejects a key in place of its hash, without a trace of the key', () => {
    const key = `svc_live_${'0'.repeat(72)}`;
    expect(() => recordOf({ ...entry, hash: key })).toThrow(/^API key record: hash must be 64 /);
  });
});
