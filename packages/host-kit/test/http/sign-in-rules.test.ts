import { type Principal, stepUp } from '@svc/auth';
import { describe, expect, test } from 'vitest';
import { type SignInRule, signInRules } from '../../src/http/sign-in-rules.ts';

const KNOWN = new Set(['createKey', 'cancelRun']);
const recent = stepUp({ maxAgeSeconds: 60, now: () => 100_000 });
const strong = stepUp({ acrValues: ['phr'], now: () => 100_000 });
const caller = (signIn: Principal['signIn']): Principal => ({
  ...{ id: 'p_1', kind: 'user', credentialId: 'c', lane: 'oidc', binding: 'bearer', scopes: ['*:*'], signIn },
  tenancy: { tenant: 'acme', workspaces: 'all', mode: 'live' },
  subject: { issuer: 'urn:a', subjectId: 'p_1', tenant: 'acme', lane: 'oidc', kind: 'user' },
});

describe('rules on sign-ins', () => {
  test('of one operation are all needed, and concern no other one', () => {
    const rules = signInRules(
      [
        { operations: ['createKey'], stepUp: recent },
        { operations: ['createKey', 'cancelRun'], stepUp: strong },
      ],
      KNOWN,
    );
    expect(() => rules.requireFor('createKey', caller({ acr: 'phr', at: 90_000 }))).not.toThrow();
    expect(() => rules.requireFor('createKey', caller({ acr: 'phr', at: 10_000 }))).toThrow('sign-in');
    expect(() => rules.requireFor('createKey', caller({ at: 90_000 }))).toThrow('sign-in');
    expect(() => rules.requireFor('cancelRun', caller({ acr: 'phr' }))).not.toThrow();
    expect(() => rules.requireFor('readRun', caller(undefined))).not.toThrow();
    expect(() => rules.requireFor(undefined, caller(undefined))).not.toThrow();
  });

  test('of scopes hold for each scope that they cover', () => {
    const rules = signInRules([{ scopes: ['keys:*'], stepUp: strong }], KNOWN);
    expect(() => rules.requireForScope('keys:manage', caller(undefined))).toThrow('sign-in');
    expect(() => rules.requireForScope('keys:manage', caller({ acr: 'phr' }))).not.toThrow();
    expect(() => rules.requireForScope('runs:read', caller(undefined))).not.toThrow();
  });

  test.each<[string, object, string]>([
    [
      'an operation that is not there',
      { operations: ['makeKey'], stepUp: strong },
      'authorization.stepUp[0]: operations has makeKey',
    ],
    ['a text that is not a scope', { scopes: ['keys manage'], stepUp: strong }, 'scopes has keys manage'],
    ['nothing', { operations: [], stepUp: strong }, 'must name operations or scopes'],
    ['no requirement', { operations: ['createKey'] }, 'stepUp must be made by stepUp'],
    ['an unknown member', { operation: 'createKey', stepUp: strong }, 'unknown option operation'],
  ])('are refused with %s', (_title, rule, problem) => {
    expect(() => signInRules([rule as SignInRule], KNOWN)).toThrow(problem);
  });
});
