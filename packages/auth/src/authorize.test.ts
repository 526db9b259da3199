import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { authorize } from './authorize.ts';
import type { Principal } from './principal.ts';
import { SCOPES } from './scopes.ts';

const holding = (...scopes: string[]) => ({ scopes });

describe(covers('auth.api-key.missing-scope-403'), () => {
  test('refuses with a 403 that names the scope', () => {
    expect(authorize(holding('runs:create'), 'runs:read')).toMatchObject({
      allowed: false,
      error: { code: 'forbidden', status: 403, details: { scopeRequired: 'runs:read' } },
    });
  });

  test('requires every one of several scopes, and names the first missing one', () => {
    const required = ['runs:read', 'audit:read', 'artifacts:read'];
    expect(authorize(holding('runs:read'), required)).toMatchObject({
      allowed: false,
      error: { details: { scopeRequired: 'audit:read' }, scopes: required },
    });
    expect(authorize(holding(...required), required)).toEqual({ allowed: true });
  });

  test('throws when no scope is required', () => {
    expect(() => authorize(holding('runs:*'), [])).toThrow(TypeError);
  });
});

describe(covers('auth.scopes.per-operation'), () => {
  test.each(SCOPES)('%s covers itself and no other protocol scope', (held) => {
    const allowed = SCOPES.filter((scope) => authorize(holding(held), scope).allowed);
    expect(allowed).toEqual([held]);
  });
});

describe(covers('auth.tenancy.identity-not-authorization'), () => {
  test.each(SCOPES)('refuses a caller without scopes for an operation that needs %s', (scope) => {
    expect(authorize(principal({ scopes: [] }), scope).allowed).toBe(false);
  });
});

describe(covers('runs.owner.principal-kind-passive'), () => {
  test.each([undefined, 'user', 'agent'] as const)('judges a principal of kind %s by its scopes only', (kind) => {
    expect(authorize(principal({ kind }), 'runs:read').allowed).toBe(true);
    expect(authorize(principal({ kind }), 'runs:create').allowed).toBe(false);
  });
});

describe(covers('runs.subject.actor-provenance-only'), () => {
  test('grants nothing for the actor chain of the subject', () => {
    const subject = { issuer: 'urn:a', subjectId: 'p_1', tenant: 'acme', lane: 'api-key', kind: 'user' } as const;
    const delegated = principal({ subject: { ...subject, actor: { ...subject, subjectId: 'p_admin' } } });
    expect(SCOPES.filter((scope) => authorize(delegated, scope).allowed)).toEqual(['runs:read']);
  });
});

function principal(changes: Partial<Principal>): Principal {
  return {
    id: 'p_1',
    kind: undefined,
    binding: 'bearer',
    credentialId: 'key_1',
    lane: 'api-key',
    tenancy: { tenant: 'acme', workspaces: 'all', mode: 'live' },
    scopes: ['runs:read'],
    subject: { issuer: 'urn:a', subjectId: 'p_1', tenant: 'acme', lane: 'api-key', kind: 'workload' },
    ...changes,
  };
}
