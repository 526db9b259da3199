import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { type ApiKeyRecord, checkedApiKeyRecord } from './key-store.ts';

const record: ApiKeyRecord = {
  id: 'key_1',
  hash: 'ab'.repeat(32),
  tenant: 'acme',
  workspaces: ['acme-prod'],
  principal: 'p_7f3a',
  scopes: ['runs:read', 'packs:*'],
  mode: 'live',
};

const changed = (changes: object) => () => checkedApiKeyRecord({ ...record, ...changes });

test('returns a valid record deeply frozen', () => {
  const checked = checkedApiKeyRecord(record);
  expect(checked).toEqual({ ...record, principalKind: undefined, expiresAt: undefined, revokedAt: undefined });
  expect([checked, checked.scopes, checked.workspaces].every(Object.isFrozen)).toBe(true);
  expect(checkedApiKeyRecord(checked)).toBe(checked);
});

test('returns a copy that later changes to the given record do not affect', () => {
  const scopes = ['runs:read'];
  const checked = checkedApiKeyRecord({ ...record, scopes });
  scopes.push('*:*');
  expect(checked.scopes).toEqual(['runs:read']);
});

describe(covers('auth.api-key.hashed-at-rest'), () => {
  test('drops a plain key beside the hash', () => {
    expect(JSON.stringify(changed({ key: 'svc_live_plain' })())).not.toContain('plain');
  });

  test.each([
    ['a plain key', `svc_live_${'0'.repeat(72)}`],
    ['upper case', 'AB'.repeat(32)],
    ['too short', 'ab'.repeat(31)],
    ['a new line', `${'ab'.repeat(32)}\n`],
    ['nothing', undefined],
  ])('rejects %s in place of the hash, with an error that does not contain it', (_case, hash) => {
    expect(changed({ hash })).toThrow(/^API key key_1: hash must be 64 lower-case hexadecimal digits/);
    expect(changed({ hash })).not.toThrow(/svc_live_/);
  });
});

describe(covers('runs.owner.principal-opaque'), () => {
  test.each(['ada@example.com', 'Ada Lovelace', '', undefined])('rejects the principal %j', (principal) => {
    expect(changed({ principal })).toThrow(/principal must be an opaque id/);
  });
});

describe(covers('runs.owner.tenant-workspace-opaque'), () => {
  test.each(['ada@example.com', 'Acme Incorporated', 'acme/prod', ''])(
    'the tenant or workspace %j is refused',
    (id) => {
      expect(changed({ tenant: id })).toThrow(/tenant must be an opaque id/);
      expect(changed({ workspaces: ['acme-prod', id] })).toThrow(/workspaces must be/);
    },
  );
});

describe(covers('runs.owner.principal-kind-values'), () => {
  test.each([undefined, 'user', 'agent'])('accepts the principalKind %s', (principalKind) => {
    expect(changed({ principalKind })().principalKind).toBe(principalKind);
  });

  test.each(['anonymous', 'workload', 'User', '', null])('rejects the principalKind %s', (principalKind) => {
    expect(changed({ principalKind })).toThrow(/principalKind must be user or agent/);
  });
});

test.each([
  ['id', undefined],
  ['id', ''],
  ['id', 'key 1'],
  ['id', 'k'.repeat(129)],
  ['workspaces', []],
  ['workspaces', ['*']],
  ['workspaces', '*'],
  ['workspaces', 'acme-prod'],
  ['workspaces', undefined],
  ['scopes', undefined],
  ['scopes', 'runs:read'],
  ['scopes', ['runs:re*']],
  ['scopes', ['runs:read', null]],
  ['mode', 'prod'],
  ['mode', undefined],
  ['expiresAt', Number.NaN],
  ['expiresAt', Number.POSITIVE_INFINITY],
  ['expiresAt', '2026-12-31T00:00:00Z'],
  ['expiresAt', null],
  ['revokedAt', Number.NaN],
  ['revokedAt', null],
])('rejects a record whose %s is %j, with an error that names the field', (field, value) => {
  expect(changed({ [field]: value })).toThrow(new RegExp(`^API key (key_1|record): ${field} must be `));
  expect(changed({ [field]: value })).toThrow(TypeError);
});
