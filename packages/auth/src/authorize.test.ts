import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { authorize } from './authorize.ts';
import type { Principal } from './principal.ts';
import { SCOPES } from './scopes.ts';

const holding = (...scopes: string[]) => ({ scopes });

describe(covers('auth.api-key.missing-scope-403'), () => {
  test('the refusal is a 403 that names the scope', () => {
    expect(authorize(holding('runs:create'), 'runs:read')).toMatchObject({
      allowed: false,
      error: { code: 'forbidden', status: 403, details: { scopeRequired: 'runs:read' } },
    });
  });

  test('of several required scopes all are needed, and the first missing one is named', () => {
    const required = ['runs:read', 'audit:read', 'artifacts:read'];
    expect(authorize(holding('runs:read'), required)).toMatchObject({
      allowed: false,
      error: { details: { scopeRequired: 'audit:read' }, scopes: required },
    });
    expect(authorize(holding(...required), required)).toEqual({ allowed: true });
  });

  test('to require nothing is a mistake of the host, not a permission', () => {
    expect(() => authorize(holding('runs:*'), [])).toThrow(TypeError);
  });
});

describe(covers('auth.scopes.per-operation'), () => {
  test.each(SCOPES)('%s gives itself and no other protocol scope', (held) => {
    const allowed = SCOPES.filter((scope) => authorize(holding(held), scope).allowed);
    expect(allowed).toEqual([held]);
  });
});

describe(covers('auth.tenancy.identity-not-authorization'), () => {
  test.each(SCOPES)('an identified caller without scopes may not do what needs %s', (scope) => {
    expect(authorize(principal({ scopes: [] }), scope).allowed).toBe(false);
  });
});

describe(covers('runs.owner.principal-kind-passive'), () => {
  test.each([undefined, 'user', 'agent'] as const)('a principal of kind %s is judged by its scopes alone', (kind) => {
    expect(authorize(principal({ kind }), 'runs:read').allowed).toBe(true);
    expect(authorize(principal({ kind }), 'runs:create').allowed).toBe(false);
  });
});

describe(covers('runs.subject.actor-provenance-only'), () => {
  test('who delegated adds nothing to what the subject may do', () => {
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
