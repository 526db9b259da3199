import { authenticator, type CredentialFacts, type DenyList, isWithdrawn, type Withdrawal } from '@svc/auth';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { bearerLane, localKeys } from '@svc/auth/bearer';
import { jwtSvid, type WorkloadBinding, workloadLane } from '@svc/auth/workload';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { keySetOf, type Signer, signer } from './tokens.ts';

const NOW = Date.UTC(2026, 5, 1);
const ISSUER = 'https://idp.example.com';
const STS = 'https://sts.example.com';
const KEY = 'operator-key-of-this-test-0123456789';
const AGENT = 'spiffe://acme.example/agent';
const times = { iat: NOW / 1000 - 10, exp: NOW / 1000 + 600 };

let idp: Signer;
let spire: Signer;
let sts: Signer;

beforeAll(async () => {
  [idp, spire, sts] = await Promise.all([signer('ES256', 'idp'), signer('ES256', 'spire'), signer('ES256', 'sts')]);
});

afterEach(() => {
  vi.useRealTimers();
});

const userToken = (changes: object = {}) =>
  idp.sign({
    iss: ISSUER,
    aud: 'svc',
    sub: 'u_1',
    jti: 't_1',
    sid: 's_1',
    scope: 'runs:read',
    svc_tenant: 'acme',
    svc_workspaces: ['acme-prod'],
    ...times,
    ...changes,
  });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const byUser = async () => bearer(await userToken());
const byKey = async () => bearer(KEY);
const byWorkload = async () => bearer(await spire.sign({ sub: AGENT, aud: ['svc'], jti: 'w_1', ...times }));
const byDelegate = async () => ({
  ...(await byWorkload()),
  'svc-delegation': await sts.sign(
    {
      iss: STS,
      sub: 'user-1',
      act: { sub: AGENT, iss: 'spiffe://acme.example' },
      aud: 'svc',
      scope: 'runs:read',
      jti: 'd_1',
      ...times,
    },
    { typ: 'delegation+jwt' },
  ),
});

const BINDINGS: Readonly<Record<string, WorkloadBinding>> = {
  [AGENT]: { principal: 'p_agent', tenant: 'acme', workspaces: 'all', scopes: ['runs:*'], mode: 'live' },
  'user-1': { principal: 'p_user', tenant: 'acme', workspaces: 'all', scopes: ['runs:*'], mode: 'live' },
};

function auth(denyList: DenyList) {
  const now = () => NOW;
  const grants = { tenant: 'acme', workspaces: 'all', principal: 'p_1', scopes: ['runs:*'], mode: 'live' } as const;
  return authenticator({
    denyList,
    lanes: [
      workloadLane({
        schemes: [jwtSvid({ trustDomains: [{ name: 'acme.example', keys: localKeys(keySetOf(spire)) }] })],
        audience: 'svc',
        resolve: ({ subject }) => BINDINGS[subject],
        delegation: { maxChainDepth: 2, issuers: [{ issuer: STS, keys: localKeys(keySetOf(sts)) }], audience: 'svc' },
        now,
      }),
      bearerLane({
        issuers: [{ issuer: ISSUER, audience: 'svc', profile: 'user', keys: localKeys(keySetOf(idp)) }],
        now,
      }),
      apiKeyLane({ keys: memoryKeyStore([{ id: 'key_1', hash: hashApiKey(KEY), ...grants }]), now }),
    ],
  });
}

async function verdict(denyList: DenyList, headers: Record<string, string>): Promise<string> {
  const outcome = await auth(denyList).authenticate({ headers });
  return outcome.kind === 'refused' ? outcome.error.code : outcome.kind;
}

const listOf = (...withdrawals: readonly Withdrawal[]): DenyList => ({
  isDenied: (credential) => withdrawals.some((each) => isWithdrawn(credential, each, NOW)),
});
const principal = (id: string) => ({ kind: 'principal', principal: id, tenant: 'acme' }) as const;

describe('a deny list', () => {
  test.each<[string, () => Promise<Record<string, string>>, Withdrawal]>([
    ['a token by its jti', byUser, { kind: 'token', issuer: ISSUER, jti: 't_1' }],
    ['a session by its sid', byUser, { kind: 'session', issuer: ISSUER, sid: 's_1' }],
    ['earlier tokens of a subject', byUser, { kind: 'subject', issuer: ISSUER, subject: 'u_1', issuedBefore: NOW }],
    ['a disabled user', byUser, principal('u_1')],
    ['a disabled holder of an API key', byKey, principal('p_1')],
    ['a disabled workload', byWorkload, principal('p_agent')],
    ['the token of a workload', byWorkload, { kind: 'token', issuer: 'spiffe://acme.example', jti: 'w_1' }],
    ['a disabled delegator', byDelegate, principal('p_user')],
    ['a disabled delegate', byDelegate, principal('p_agent')],
    ['a delegation proof', byDelegate, { kind: 'token', issuer: STS, jti: 'd_1' }],
  ])('refuses %s', async (_title, headers, withdrawal) => {
    expect(await verdict(listOf(), await headers())).toBe('authenticated');
    expect(await verdict(listOf(withdrawal), await headers())).toBe('key_revoked');
    expect(await verdict(listOf({ ...withdrawal, until: NOW + 1 }), await headers())).toBe('key_revoked');
    expect(await verdict(listOf({ ...withdrawal, until: NOW }), await headers())).toBe('authenticated');
    expect(await verdict(listOf({ ...withdrawal, tenant: 'globex' }), await headers())).toBe('authenticated');
    expect(await verdict(listOf({ ...withdrawal, mode: 'test' }), await headers())).toBe('authenticated');
  });

  test.each<[string, Withdrawal]>([
    ['of another token', { kind: 'token', issuer: ISSUER, jti: 't_2' }],
    ['of the same jti at another issuer', { kind: 'token', issuer: STS, jti: 't_1' }],
    ['of another session', { kind: 'session', issuer: ISSUER, sid: 't_1' }],
    ['of tokens before this one', { kind: 'subject', issuer: ISSUER, subject: 'u_1', issuedBefore: NOW - 10_000 }],
    ['of another principal', principal('u_2')],
  ])('a withdrawal %s lets the token in', async (_title, withdrawal) => {
    expect(await verdict(listOf(withdrawal), await byUser())).toBe('authenticated');
  });

  test.each<[string, DenyList['isDenied'], string]>([
    ['answers later', async () => false, 'authenticated'],
    ['denies later', async () => true, 'key_revoked'],
    [
      'throws',
      () => {
        throw new Error('down');
      },
      'service_unavailable',
    ],
    ['rejects', () => Promise.reject(new Error('down')), 'service_unavailable'],
    ['answers neither yes nor no', () => JSON.parse('null'), 'service_unavailable'],
    ['never answers', neverAnswers, 'service_unavailable'],
  ])('that %s', async (_title, isDenied, expected) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await verdict({ isDenied }, await byKey())).toBe(expected);
  });

  test('is told all facts of a token, and is not asked about a refused one', async () => {
    const seen: CredentialFacts[] = [];
    const watching: DenyList = {
      isDenied(credential) {
        seen.push(credential);
        return false;
      },
    };
    expect(await verdict(watching, bearer(await userToken({ iat: times.iat - 900, exp: times.iat - 300 })))).toBe(
      'unauthenticated',
    );
    expect(seen).toEqual([]);
    await verdict(watching, await byUser());
    const token = { issuer: ISSUER, subject: 'u_1', jti: 't_1', sid: 's_1', issuedAt: times.iat * 1000 };
    expect(seen).toMatchObject([{ tenant: 'acme', mode: 'live', principals: ['u_1'], tokens: [token] }]);
  });

  test('must have isDenied', () => {
    expect(() => auth(JSON.parse('{}'))).toThrow('denyList must be a DenyList');
  });
});

/** Never settles. The fake clock passes its time limit right after the wait has begun. */
function neverAnswers(): Promise<boolean> {
  setImmediate(() => vi.advanceTimersByTime(5_000));
  return new Promise(() => {});
}
