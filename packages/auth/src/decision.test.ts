import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { authorize } from './authorize.ts';
import { authorizationDecided } from './decision.ts';
import type { Principal } from './principal.ts';

const principal = { id: 'p_1', scopes: ['runs:read'], binding: 'bearer' as const };
const asked = { action: 'runs.read', resource: 'acme/run_0123456789abcdef' };

describe(covers('auth.audit.decision-carrier'), () => {
  test('records an allowed operation', () => {
    expect(authorizationDecided(principal, asked, authorize(principal, 'runs:read'))).toEqual({
      principal: 'p_1',
      action: 'runs.read',
      resource: 'acme/run_0123456789abcdef',
      allowed: true,
      reason: 'scope_granted',
    });
  });

  test('records a denied operation', () => {
    expect(authorizationDecided(principal, asked, authorize(principal, 'audit:read'))).toMatchObject({
      allowed: false,
      reason: 'forbidden',
    });
  });
});

describe(covers('auth.audit.decision-content-free'), () => {
  const workload = (issuerClass: string, actor = 'p_2'): Pick<Principal, 'id' | 'binding' | 'workload'> => ({
    id: 'p_1',
    binding: 'mtls',
    workload: {
      actor: { principalId: actor, kind: 'workload' },
      onBehalfOf: undefined,
      depth: 2,
      issuerClass,
      audience: 'match',
      identity: { scheme: 'spiffe', subject: 'spiffe://acme.example/a', issuer: 'spiffe://acme.example' },
    },
  });

  test('adds the facts of a workload to the reason', () => {
    const fact = authorizationDecided(workload('spiffe'), asked, { allowed: true });
    expect(fact.reason).toBe('scope_granted actor=p_2 depth=2 issuer=spiffe audience=match binding=mtls');
  });

  test.each([
    ['a URL', 'https://idp.example.com'],
    ['a word behind a URL', 'https://idp.example.com\nspiffe'],
    ['a word before another text', 'spiffe ada@example.com'],
    ['65 characters', 'a'.repeat(65)],
    ['nothing', ''],
  ])('withholds an issuer class that is %s', (_case, issuerClass) => {
    const { reason } = authorizationDecided(workload(issuerClass), asked, { allowed: true });
    expect(reason).toBe('scope_granted actor=p_2 depth=2 issuer=withheld audience=match binding=mtls');
  });

  test('withholds an actor that is no id, and takes the longest class of an issuer', () => {
    const { reason } = authorizationDecided(workload('a'.repeat(64), 'ada@example.com'), asked, { allowed: true });
    expect(reason).toContain(`actor=withheld depth=2 issuer=${'a'.repeat(64)} `);
  });

  test.each([
    ['a path with a query', 'runs?token=abc&x=@'],
    ['an address', 'https://idp.example.com/tenants/a'],
    ['a path of three parts', 'a/b/c'],
    ['a token', 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln'],
    ['an e-mail address', 'ada@example.com'],
    ['an e-mail address behind a tenant', 'acme/ada@example.com'],
    ['an id behind a tenant that is no id', 'ada@example.com/run_1'],
    ['a line of its own', 'run_1\nallowed=true'],
    ['nothing', ''],
  ])('withholds %s', (_case, resource) => {
    const fact = authorizationDecided(principal, { ...asked, resource }, { allowed: true });
    expect(fact.resource).toBe('withheld');
  });
});
