import { authenticator } from '@svc/auth';
import { type BearerLaneOptions, bearerLane, pseudonyms, type TokenIssuer } from '@svc/auth/bearer';
import { dpopVerifier, memoryReplayStore } from '@svc/auth/dpop';
import { covers } from '@svc/tools/covers';
import { type IdentityProvider, RESOURCE, startIdentityProvider } from '@svc/tools/identity-provider';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proofMaker } from './proofs.ts';

const [first, second] = [await privateJwk('first'), await privateJwk('second')];
let provider: IdentityProvider;

beforeAll(async () => {
  provider = await startIdentityProvider({ keys: [first] });
});
afterAll(() => provider.stop());

const counted = { requests: 0 };
const countedFetch: NonNullable<BearerLaneOptions['fetch']> = (url, init) => {
  counted.requests++;
  // Without the signal of its time limit: a busy machine must not turn a slow answer into an outage.
  return fetch(url, { headers: init.headers, redirect: init.redirect });
};

function authWith(options: { issuer?: Partial<TokenIssuer>; now?: () => number } = {}) {
  const { now = Date.now } = options;
  const common = { issuer: provider.issuer, audience: RESOURCE };
  const principalOf = pseudonyms(new Uint8Array(32));
  const dpop = dpopVerifier({ origin: RESOURCE, replays: memoryReplayStore({ now }), now });
  const lane = bearerLane({
    issuers: [
      { ...common, profile: 'user', principalOf, ...options.issuer },
      { ...common, profile: 'client', ...options.issuer },
    ],
    dpop,
    fetch: countedFetch,
    now,
  });
  return authenticator({ lanes: [lane] });
}

const bearing = (token: unknown, scheme = 'Bearer') => ({ headers: { authorization: `${scheme} ${token}` } });

describe(`${covers('auth.bearer.validated-first')}, by a real OpenID provider`, () => {
  test('authenticates a machine with client credentials as a principal of its tenant', async () => {
    const { access_token: token } = await provider.clientToken();
    const outcome = await authWith().authenticate(bearing(token));
    expect(outcome).toMatchObject({
      kind: 'authenticated',
      principal: {
        id: 'machine',
        kind: undefined,
        lane: 'oauth2',
        binding: 'bearer',
        tenancy: { tenant: 'acme', workspaces: ['acme-prod'], mode: 'live' },
        scopes: ['runs:read'],
        subject: { issuer: provider.issuer, kind: 'workload', lane: 'oauth2' },
      },
    });
  });

  test(`${covers('runs.owner.personal-data-mapped')} (a person who signed in)`, async () => {
    const { access_token: token } = await provider.userTokens('ada@example.com');
    const outcome = await authWith().authenticate(bearing(token));
    expect(outcome).toMatchObject({
      kind: 'authenticated',
      principal: { id: expect.stringMatching(/^p_[0-9a-f]{40}$/), kind: 'user', lane: 'oidc', scopes: ['runs:read'] },
    });
    expect(JSON.stringify(outcome)).not.toMatch(/\bada\b/);
  });

  test('refuses an ID token whose audience is the application', async () => {
    const { id_token: token } = await provider.userTokens('ada');
    expect(await authWith().authenticate(bearing(token))).toMatchObject({
      kind: 'refused',
      error: { code: 'audience_mismatch', status: 401 },
    });
  });

  test('accepts an ID token whose single audience is this host', async () => {
    const { id_token: token } = await provider.userTokens('ada');
    const claims = { tenant: { value: 'acme' }, workspaces: { value: ['acme-prod'] } };
    const outcome = await authWith({ issuer: { audience: 'app', claims } }).authenticate(bearing(token));
    expect(outcome).toMatchObject({ kind: 'authenticated', principal: { kind: 'user', scopes: [] } });
  });

  test('refuses a token for another resource', async () => {
    const { access_token: token } = await provider.clientToken({ resource: 'https://other.example.com' });
    const outcome = await authWith().authenticate(bearing(token));
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'audience_mismatch' } });
  });

  test('refuses an expired token', async () => {
    const { access_token: token } = await provider.clientToken();
    const outcome = await authWith({ now: () => Date.now() + 3_661_000 }).authenticate(bearing(token));
    expect(outcome).toMatchObject({
      kind: 'refused',
      error: { code: 'unauthenticated', message: expect.stringMatching(/expired/) },
    });
  });
});

describe('a token that the provider bound to a key', () => {
  test('is accepted only with a proof of that key', async () => {
    const [client, thief] = [await proofMaker(), await proofMaker()];
    const dpop = await client.proof({ htm: 'POST', htu: `${provider.issuer}/token` });
    const { access_token: token, token_type: type } = await provider.clientToken({ dpop });
    expect(type).toBe('DPoP');
    const auth = authWith();
    const request = async (maker: typeof client, scheme: string) => ({
      method: 'GET',
      url: '/v1/runs/1?x=1',
      headers: {
        authorization: `${scheme} ${token}`,
        dpop: await maker.proof({ htm: 'GET', htu: `${RESOURCE}/v1/runs/1`, token: String(token) }),
      },
    });
    expect(await auth.authenticate(await request(client, 'DPoP'))).toMatchObject({
      kind: 'authenticated',
      principal: { binding: 'dpop' },
    });
    expect(await auth.authenticate(await request(thief, 'DPoP'))).toMatchObject({
      kind: 'refused',
      error: {
        status: 401,
        headers: { 'www-authenticate': expect.stringMatching(/DPoP error="invalid_dpop_proof", algs="/) },
      },
    });
    expect(await auth.authenticate(await request(client, 'Bearer'))).toMatchObject({
      kind: 'refused',
      error: { code: 'sender_constraint_missing' },
    });
  });
});

describe('the keys of a provider', () => {
  test('are fetched once for many tokens', async () => {
    const auth = authWith();
    const { access_token: token } = await provider.clientToken();
    counted.requests = 0;
    await Promise.all(Array.from({ length: 50 }, () => auth.authenticate(bearing(token))));
    for (let turn = 0; turn < 20; turn++) await auth.authenticate(bearing(token));
    expect(counted.requests).toBe(2);
  });

  test('are fetched again when they rotate; an outage refuses with 503 and recovers', async () => {
    let time = Date.now();
    const auth = authWith({ now: () => time });
    const { access_token: old } = await provider.clientToken();
    expect(await auth.authenticate(bearing(old))).toMatchObject({ kind: 'authenticated' });

    const { port } = provider;
    await provider.stop();
    expect(await auth.authenticate(bearing(old)), 'known keys need no provider').toMatchObject({
      kind: 'authenticated',
    });
    time += 601_000;
    const stale = await auth.authenticate(bearing(old));
    expect(stale).toMatchObject({
      kind: 'refused',
      error: { code: 'service_unavailable', status: 503, headers: { 'retry-after': '5' } },
    });

    provider = await startIdentityProvider({ keys: [second], port });
    const { access_token: fresh } = await provider.clientToken();
    time += 10_000;
    expect(await auth.authenticate(bearing(fresh))).toMatchObject({ kind: 'authenticated' });
    expect(await auth.authenticate(bearing(old)), 'the old key is gone').toMatchObject({
      kind: 'refused',
      error: { code: 'unauthenticated' },
    });
  });
});

async function privateJwk(kid: string) {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'ES256', use: 'sig' };
}
