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

function auth(
  limiter: RateLimiter = memoryRateLimiter({ limit: 3, windowSeconds: 60, now }),
  isDisabled: () => boolean = () => false,
) {
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
    bearerLane({
      issuers: [{ issuer: claims.iss, audience: 'svc', profile: 'user', keys: counting, isDisabled }],
      now,
    }),
    apiKeyLane({ keys: memoryKeyStore([{ ...record, scopes: [], mode: 'live' }]), now }),
  ];
  const verifications = { perSecond: 3, now };
  const host = authenticator({ lanes, refusals: { limiter, clientOf: clientAddress(), verifications } });
  const call = async (token: string | undefined, address?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
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
    expect(await call(good, '192.0.2.1')).toBe(200);
  });

  test('10 000 requests without a credential delay no presented credential, and are limited themselves', async () => {
    let time = 0;
    const { call } = auth(memoryRateLimiter({ limit: 100, windowSeconds: 60, now: () => time }));
    const statuses = new Map<number, number>();
    for (let turn = 0; turn < 10_000; turn++) {
      time += 10;
      const status = await call(undefined, '192.0.2.1');
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (turn % 500 === 499) expect(await call(good, '192.0.2.1')).toBe(200);
    }
    // 100 s are two windows.
    expect(Object.fromEntries(statuses)).toEqual({ 401: 200, 429: 9800 });
    expect(await call(bad, '192.0.2.1'), 'nor does it count as a refused credential').toBe(401);
    expect(await call(undefined, '192.0.2.2'), 'other clients have their own budget').toBe(401);
  });

  test('refused credentials delay no request without one: it learns that it needs a credential', async () => {
    const { call } = auth();
    for (let turn = 0; turn < 5; turn++) await call(bad, '192.0.2.1');
    expect(await call(undefined, '192.0.2.1')).toBe(401);
  });

  test('a credential that was accepted from an address is not delayed by the refusals of others there', async () => {
    const { call } = auth();
    expect(await call(good, '192.0.2.1')).toBe(200);
    for (let turn = 0; turn < 50; turn++) {
      await call(await forged(turn), '192.0.2.1');
      expect(await call(good, '192.0.2.1')).toBe(200);
    }
    expect(await call(good, '192.0.2.2'), 'wherever it comes from').toBe(200);
  });

  test('a new credential is admitted where one was accepted, also when the refusals are used up', async () => {
    const { call, verified } = auth();
    expect(await call(good, '192.0.2.1')).toBe(200);
    const statuses = [];
    for (let turn = 0; turn < 3; turn++) statuses.push(await call(await forged(turn), '192.0.2.1'));
    statuses.push(await call(await valid('u_2'), '192.0.2.1'), await call(await valid('u_3'), '192.0.2.1'));
    for (let turn = 3; turn < 9; turn++) statuses.push(await call(await forged(turn), '192.0.2.1'));
    expect(statuses).toEqual([401, 401, 401, 200, 200, 429, 429, 429, 429, 429, 429]);
    expect(verified, 'the further budget is bounded, too').toHaveLength(1 + 3 + 3);
  });

  test('a credential that is accepted no more uses up its own budget, and no other', async () => {
    let isClosed = false;
    const { call } = auth(memoryRateLimiter({ limit: 3, windowSeconds: 60, now }), () => isClosed);
    expect(await call(good, '192.0.2.1')).toBe(200);
    isClosed = true;
    const statuses = [];
    for (let turn = 0; turn < 5; turn++) statuses.push(await call(good, '192.0.2.1'));
    expect(statuses.slice(0, 3)).toEqual([401, 401, 401]);
    expect(await call(bad, '192.0.2.1')).toBe(401);
  });
});

const valid = (sub: string) => idp.sign({ ...claims, sub, svc_tenant: 'acme', svc_workspaces: ['*'] });
const forger = await signer('ES256');
const forged = (turn: number) => forger.sign({ ...claims, sub: `x_${turn}` });
