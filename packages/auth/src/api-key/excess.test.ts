import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { grants } from '../scopes.ts';
import { excessOf, holdsScope, type KeyGrant } from './excess.ts';

const giver = {
  tenancy: { tenant: 'acme', workspaces: ['w1', 'w2'], mode: 'live' as const },
  scopes: ['runs:*', 'keys:manage'],
  expiresAt: 1000,
};
const grant: KeyGrant = { tenant: 'acme', mode: 'live', workspaces: ['w1'], scopes: ['runs:read'], expiresAt: 1000 };
const fieldsOf = (changed: Partial<KeyGrant>) => excessOf(giver, { ...grant, ...changed }).map(({ field }) => field);

describe('a giver gives at most what it holds', () => {
  test.each<[string, Partial<KeyGrant>, string[]]>([
    ['a part of it', {}, []],
    ['its own wildcard', { scopes: ['runs:*'] }, []],
    ['another tenant', { tenant: 'other' }, ['tenant']],
    ['the other mode', { mode: 'test' }, ['mode']],
    ['another workspace', { workspaces: ['w1', 'w3'] }, ['workspaces']],
    ['every workspace', { workspaces: 'all' }, ['workspaces']],
    ['another scope', { scopes: ['runs:read', 'audit:read'] }, ['scopes']],
    ['a wider wildcard', { scopes: ['*:read'] }, ['scopes']],
    ['a later end', { expiresAt: 1001 }, ['expiresAt']],
    ['no end', { expiresAt: undefined }, ['expiresAt']],
    ['an end that is no number', { expiresAt: Number.NaN }, ['expiresAt']],
  ])('%s', (_, changed, fields) => {
    expect(fieldsOf(changed)).toEqual(fields);
  });

  test('no scope that a given one covers is out of the reach of its giver', () => {
    const segment = fc.constantFrom('a', 'b', 'c', '*');
    const scope = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(':'));
    const required = fc
      .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join(':'));
    fc.assert(
      fc.property(fc.array(scope), scope, required, (held, given, needed) => {
        if (holdsScope(held, given) && grants([given], needed)) expect(grants(held, needed)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
