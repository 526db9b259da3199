import { authenticator } from '@svc/auth';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { tokenExchange, type UpstreamGrant } from '@svc/auth/workload';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keySetOf, signer } from './tokens.ts';

const NOW = Date.UTC(2026, 5, 1);
const host = await signer('ES256', 'host-1');
const FILES = 'https://files.example.com';
const upstream: UpstreamGrant = {
  issuer: 'https://idp.example.com',
  subject: 'u_1',
  tenant: 'acme',
  workspaces: ['prod', 'dev'],
  audiences: ['svc', FILES],
  scopes: ['runs:read', 'artifacts:*'],
  mode: 'live',
  expiresAt: NOW + 120_000,
};
const exchange = tokenExchange({
  issuer: 'https://svc.example.com',
  key: host.privateKey,
  keyId: host.keyId,
  algorithm: 'ES256',
  now: () => NOW,
  newId: () => 'id-1',
});
const actor = { subject: 'worker' };

async function principalOf(token: string, at = NOW) {
  const keys = localKeys(keySetOf(host));
  const issuers = [{ issuer: 'https://svc.example.com', audience: FILES, profile: 'client', keys } as const];
  const auth = authenticator({ lanes: [bearerLane({ issuers, now: () => at })] });
  const outcome = await auth.authenticate({ headers: { authorization: `Bearer ${token}` } });
  return outcome.kind === 'authenticated' ? outcome.principal : outcome.error.code;
}

describe(covers('auth.delegation.exchange-not-wider'), () => {
  test('mints an access token for the downstream service that names the actor', async () => {
    const { token, expiresAt } = await exchange(upstream, { audience: FILES, scopes: ['runs:read'], actor });
    expect(expiresAt).toBe(NOW + 120_000);
    expect(await principalOf(token)).toMatchObject({
      id: 'u_1',
      tenancy: { tenant: 'acme', workspaces: ['prod', 'dev'] },
      scopes: ['runs:read'],
      expiresAt: NOW + 120_000,
      subject: { actor: { subjectId: 'worker' } },
    });
  });

  test('keeps test and live data apart', async () => {
    const request = { audience: FILES, scopes: ['runs:read'], actor };
    for (const mode of ['test', 'live'] as const) {
      const { token } = await exchange({ ...upstream, mode }, request);
      expect(await principalOf(token)).toMatchObject({ tenancy: { mode } });
    }
    for (const mode of [undefined, 'admin'] as never[]) {
      await expect(exchange({ ...upstream, mode }, request)).rejects.toThrow(TypeError);
    }
  });

  test.each([
    ['more scopes', { scopes: ['runs:read', 'runs:cancel'] }, 'delegation_scope_amplified'],
    ['a wider wildcard', { scopes: ['*:*'] }, 'delegation_scope_amplified'],
    ['another audience', { audience: 'https://other.example.com' }, 'audience_mismatch'],
    ['another workspace', { workspaces: ['prod', 'lab'] }, 'forbidden'],
    ['no workspace', { workspaces: [] }, 'forbidden'],
  ])('refuses a request for %s', async (_name, changes, code) => {
    await expect(exchange(upstream, { audience: FILES, scopes: [], actor, ...changes })).rejects.toMatchObject({
      code,
    });
  });

  test('mints nothing from an expired credential', async () => {
    await expect(
      exchange({ ...upstream, expiresAt: NOW }, { audience: FILES, scopes: [], actor }),
    ).rejects.toMatchObject({
      code: 'delegation_expired',
    });
  });

  test('never mints a token that outlives or exceeds its source, for any request', async () => {
    const asked = fc.record({
      scopes: fc.subarray(['runs:read', 'artifacts:read', 'artifacts:*', 'runs:*', 'audit:read']),
      lifetimeSeconds: fc.integer({ min: 1, max: 100_000 }),
      audience: fc.constantFrom('svc', FILES, 'other'),
      workspaces: fc.option(fc.subarray(['prod', 'dev', 'lab']), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ workspaces, ...request }) => {
        const minted = await exchange(upstream, { ...request, ...(workspaces && { workspaces }), actor }).catch(
          () => undefined,
        );
        if (minted === undefined) return;
        expect(minted.expiresAt).toBeLessThanOrEqual(upstream.expiresAt);
        expect(upstream.audiences).toContain(request.audience);
        for (const scope of minted.scopes) expect(['runs:read', 'artifacts:read', 'artifacts:*']).toContain(scope);
        const claims = JSON.parse(Buffer.from(minted.token.split('.')[1] ?? '', 'base64url').toString());
        expect(claims.svc_tenant).toBe('acme');
        for (const workspace of claims.svc_workspaces) expect(['prod', 'dev']).toContain(workspace);
      }),
      { numRuns: 60 },
    );
  });
});
