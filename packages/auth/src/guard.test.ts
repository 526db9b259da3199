import { describe, expect, test } from 'vitest';
import { authenticator } from './authenticate.ts';
import { AuthError } from './errors.ts';
import { type GuardOptions, guard } from './guard.ts';
import type { AuthOutcome, Lane } from './lane.ts';
import type { Principal } from './principal.ts';
import { memoryRateLimiter } from './rate-limit/memory.ts';

const principal: Principal = {
  id: 'p_1',
  kind: undefined,
  credentialId: 'c_1',
  lane: 'test',
  binding: 'dpop',
  tenancy: { tenant: 'acme', workspaces: 'all', mode: 'live' },
  scopes: ['runs:read'],
  subject: { issuer: 'urn:test', subjectId: 'p_1', tenant: 'acme', lane: 'test', kind: 'workload' },
};

/** A guard behind a lane with this outcome. */
function guardOf(outcome: AuthOutcome, options: Partial<GuardOptions> = {}) {
  const lane: Lane = { name: 'test', authenticate: () => outcome };
  return guard({ authenticator: authenticator({ lanes: [lane] }), ...options });
}

const fresh: AuthOutcome = { kind: 'authenticated', principal, headers: { 'dpop-nonce': 'n1' } };
const now = () => 0;
const limiterOf = (limit: number) => memoryRateLimiter({ limit, windowSeconds: 60, now });

describe('a guard sends the headers of the outcome', () => {
  test('to an admitted caller, with those of the limit', async () => {
    const verdict = await guardOf(fresh, { limiter: limiterOf(2), scope: 'runs:read' })({ headers: {} });
    expect(verdict).toMatchObject({
      admitted: true,
      headers: { 'dpop-nonce': 'n1', ratelimit: expect.stringMatching(/r=1/) },
    });
  });

  test('with 403, with those of the limit', async () => {
    const verdict = await guardOf(fresh, { limiter: limiterOf(2), scope: 'runs:create' })({ headers: {} });
    expect(verdict).toMatchObject({
      admitted: false,
      refusal: { status: 403, headers: { 'dpop-nonce': 'n1', ratelimit: expect.stringMatching(/r=1/) } },
    });
  });

  test('with 429, with Retry-After', async () => {
    const admitted = guardOf(fresh, { limiter: limiterOf(1) });
    await admitted({ headers: {} });
    expect(await admitted({ headers: {} })).toMatchObject({
      admitted: false,
      refusal: { status: 429, headers: { 'dpop-nonce': 'n1', 'retry-after': '60' } },
    });
  });

  test('with 401, also when the host writes refusals in its own envelope', async () => {
    const dpop = { algorithms: ['ES256'], error: 'use_dpop_nonce', nonce: 'n2' } as const;
    const error = new AuthError('unauthenticated', 'Use the nonce.', undefined, { dpop });
    const refuse = ({ status }: AuthError) => ({ status, headers: { 'Content-Type': 'text/plain' }, body: 'no' });
    const verdict = await guardOf({ kind: 'refused', error }, { refuse })({ headers: {} });
    expect(verdict).toMatchObject({
      admitted: false,
      refusal: {
        status: 401,
        body: 'no',
        headers: {
          'content-type': 'text/plain',
          'dpop-nonce': 'n2',
          'www-authenticate': expect.stringContaining('DPoP'),
        },
      },
    });
  });
});
