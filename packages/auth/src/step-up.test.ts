import { describe, expect, test } from 'vitest';
import type { Principal } from './principal.ts';
import { type StepUpOptions, stepUp } from './step-up.ts';

const NOW = Date.UTC(2026, 5, 1);
const now = () => NOW;
const ago = (seconds: number) => ({ at: NOW - seconds * 1000 });
const all = { acrValues: ['phr', 'phrh'], methods: ['hwk', 'pin'], maxAgeSeconds: 300 };

describe('stepUp', () => {
  test.each<[string, Omit<StepUpOptions, 'now'>, Principal['signIn'], boolean]>([
    ['an accepted acr', { acrValues: ['phr', 'phrh'] }, { acr: 'phrh' }, true],
    ['another acr', { acrValues: ['phr'] }, { acr: 'PHR' }, false],
    ['no acr', { acrValues: ['phr'] }, {}, false],
    ['every method', { methods: ['hwk', 'pin'] }, { amr: ['pin', 'user', 'hwk'] }, true],
    ['one method of two', { methods: ['hwk', 'pin'] }, { amr: ['pin'] }, false],
    ['no methods', { methods: ['pin'] }, {}, false],
    ['a sign-in at the limit', { maxAgeSeconds: 300 }, ago(300), true],
    ['a sign-in beyond the limit', { maxAgeSeconds: 300 }, { at: NOW - 300_001 }, false],
    ['a sign-in in the same moment', { maxAgeSeconds: 0 }, ago(0), true],
    ['a sign-in by a clock that is a minute ahead', { maxAgeSeconds: 300 }, ago(-60), true],
    ['a sign-in of the future', { maxAgeSeconds: 300 }, ago(-61), false],
    ['a sign-in of an unknown time', { maxAgeSeconds: 300 }, { acr: 'phr' }, false],
    ['a credential that tells of no sign-in', { maxAgeSeconds: 300 }, undefined, false],
    ['all three', all, { acr: 'phr', amr: ['hwk', 'pin'], ...ago(10) }, true],
    ['all but the time', all, { acr: 'phr', amr: ['hwk', 'pin'], ...ago(301) }, false],
    ['all but the acr', all, { amr: ['hwk', 'pin'], ...ago(10) }, false],
  ])('judges %s', (_title, rule, signIn, expected) => {
    expect(stepUp({ ...rule, now }).judge({ signIn, binding: 'bearer' }).allowed).toBe(expected);
  });

  test('a clock that fails refuses', () => {
    expect(
      stepUp({ maxAgeSeconds: 9, now: () => Number.NaN }).judge({ signIn: ago(1), binding: 'bearer' }).allowed,
    ).toBe(false);
  });

  test.each<[Omit<StepUpOptions, 'now'>, Principal['binding'], string]>([
    [
      { acrValues: ['urn:mace:incommon:iap:silver', 'phr'] },
      'bearer',
      'Bearer error="insufficient_user_authentication", error_description="Sign in again in the way that this operation needs.", acr_values="urn:mace:incommon:iap:silver phr"',
    ],
    [
      { maxAgeSeconds: 5 },
      'mtls',
      'Bearer error="insufficient_user_authentication", error_description="Sign in again in the way that this operation needs.", max_age="5"',
    ],
    [
      all,
      'dpop',
      'DPoP error="insufficient_user_authentication", error_description="Sign in again in the way that this operation needs.", acr_values="phr phrh", max_age="300"',
    ],
  ])('the challenge of %o for a token of %s is that of RFC 9470', (rule, binding, expected) => {
    const decision = stepUp({ ...rule, now }).judge({ signIn: undefined, binding });
    if (decision.allowed) throw new Error('It must be refused.');
    const { status, code, reason, headers } = decision.error;
    expect([status, code, reason]).toEqual([401, 'unauthenticated', 'sign-in']);
    expect(headers).toEqual({ 'www-authenticate': expected });
  });

  test.each<[object, RegExp]>([
    [{}, /a requirement is missing/],
    [{ acrValues: [] }, /acrValues must be a list/],
    [{ acrValues: ['a b'] }, /acrValues must be a list/],
    [{ acrValues: ['a"'] }, /acrValues must be a list/],
    [{ methods: [''] }, /methods must be a list/],
    [{ maxAgeSeconds: 1.5 }, /maxAgeSeconds must be a whole number/],
    [{ maxAgeSeconds: -1 }, /maxAgeSeconds must be a whole number/],
    [{ max_age: 1 }, /unknown option max_age/],
  ])('rejects %o', (options, message) => {
    expect(() => stepUp({ now, ...options })).toThrow(message);
  });
});
