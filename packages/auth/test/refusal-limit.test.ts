import { authenticator, type Lane } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { clientAddress, memoryRateLimiter, type RateLimiter } from '@svc/auth/rate-limit';
import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { keySetOf, signer } from './tokens.ts';

const KEY = 'operator-key-of-this-test-0123456789';
const now = () => Date.UTC(2026, 5, 1);
const idp = await signer('ES256');
const seconds = now() / 1000;
const claims = { iss: 'https://idp.example.com', aud: 'svc', sub: 'u', iat: seconds, exp: seconds + 60 };
const good = await idp.sign({ ...claims, svc_tenant: 'acme', svc_workspaces: ['*'] });

function auth(limiter: RateLimiter = memoryRateLimiter({ limit: 3, windowSeconds: 60, now })) {
  const verified: string[] = [];
  const keys = localKeys(keySetOf(idp));
  const counting = {
    find: (wanted: Parameters<typeof keys.find>[0]) => {
      verified.push(wanted.algorithm);
      return keys.find(wanted);
    },
  };
  const record = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: 'all', principal: 'p_1' } as const;
  const lanes: Lane[] = [
    bearerLane({ issuers: [{ issuer: claims.iss, audience: 'svc', profile: 'user', keys: counting }], now }),
    apiKeyLane({ keys: memoryKeyStore([{ ...record, scopes: [], mode: 'live' }]), now }),
  ];
  const host = authenticator({ lanes, refusals: { limiter, clientOf: clientAddress() } });
  const call = async (token: string, address?: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const outcome = await host.authenticate({ headers, ...(address !== undefined && { peer: { address } }) });
    return outcome.kind === 'refused' ? outcome.error.status : 200;
  };
  return { call, verified };
}

const bad = await (await signer('ES256')).sign(claims);

describe(covers('auth.rate-limit.per-key'), () => {
  test('refuses a client over the limit before a signature is verified', async () => {
    const { call, verified } = auth();
    const statuses = [];
    for (let turn = 0; turn < 5; turn++) statuses.push(await call(bad, '192.0.2.1'));
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect(verified).toHaveLength(3);
    expect(await call(good, '192.0.2.1'), 'its tokens wait, good ones too').toBe(429);
    expect(await call(good, '192.0.2.2'), 'other clients do not').toBe(200);
  });

  test('limits guessed keys, and never refuses the valid key', async () => {
    const { call } = auth();
    const statuses = [];
    for (let turn = 0; turn < 5; turn++) statuses.push(await call(`guess-${turn}-${'x'.repeat(32)}`, '192.0.2.1'));
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
    expect(await call(KEY, '192.0.2.1')).toBe(200);
  });

  test('does not count accepted requests', async () => {
    const { call } = auth();
    for (let turn = 0; turn < 10; turn++) expect(await call(good, '192.0.2.1')).toBe(200);
  });

  test('limits no client without an address', async () => {
    const { call } = auth();
    for (let turn = 0; turn < 5; turn++) expect(await call(bad)).toBe(401);
  });

  test('changes no outcome when the limiter fails', async () => {
    const failing = { consume: () => Promise.reject(new Error('down')), peek: () => Promise.reject(new Error('down')) };
    const { call } = auth(failing);
    expect(await call(bad, '192.0.2.1')).toBe(401);
    expect(await call(`guess-${'x'.repeat(32)}`, '192.0.2.1')).toBe(401);
    expect(await call(KEY, '192.0.2.1')).toBe(200);
  });
});
