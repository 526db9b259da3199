import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { authorize } from './authorize.ts';
import { authorizationDecided } from './decision.ts';

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
  test.each([
    ['a path with a query', 'runs?token=abc&x=@'],
    ['an address', 'https://idp.example.com/tenants/a'],
    ['a path of three parts', 'a/b/c'],
    ['a token', 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln'],
    ['an e-mail address', 'ada@example.com'],
    ['a line of its own', 'run_1\nallowed=true'],
    ['nothing', ''],
  ])('withholds %s', (_case, resource) => {
    const fact = authorizationDecided(principal, { ...asked, resource }, { allowed: true });
    expect(fact.resource).toBe('withheld');
  });
});
