import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ApiKeyRecord, apiKeyLane, hashApiKey, memoryKeyStore, mintApiKey } from '../src/api-key/index.ts';
import {
  authenticator,
  authorize,
  challenge,
  grants,
  isGrantableScope,
  reachesWorkspace,
  refusal,
} from '../src/index.ts';
import { memoryRateLimiter } from '../src/rate-limit/index.ts';

const NOW = 1_000_000;
const randomBytes = (size: number) => crypto.getRandomValues(new Uint8Array(size));
const minted = mintApiKey({ mode: 'live', randomBytes });
const brought = 'svc_live_a_key_that_an_operator_wrote_by_hand';

const record = (key: string, fields: Partial<ApiKeyRecord> = {}): ApiKeyRecord => ({
  id: hashApiKey(key).slice(0, 8),
  hash: hashApiKey(key),
  tenant: 'acme',
  workspaces: ['w'],
  principal: 'p',
  scopes: ['runs:read'],
  mode: 'live',
  ...fields,
});

const keyOf = (name: string) => `${name}-key-of-thirty-two-characters-or-more`;
const keys = memoryKeyStore([
  record(minted.key),
  record(brought),
  record(keyOf('expired'), { expiresAt: NOW }),
  record(keyOf('current'), { expiresAt: NOW + 1 }),
  record(keyOf('revoked'), { revokedAt: NOW }),
  record(keyOf('revoked-and-expired'), { revokedAt: 1, expiresAt: 1 }),
]);
const auth = authenticator({ lanes: [apiKeyLane({ keys, now: () => NOW })] });

async function outcome(...values: string[]): Promise<string> {
  const headersDistinct = values.length === 0 ? {} : { authorization: values };
  const result = await auth.authenticate({ headers: {}, headersDistinct });
  return result.kind === 'authenticated' ? result.principal.id : result.error.code;
}

describe(
  covers(
    'auth.api-key.bearer-header',
    'auth.api-key.missing-or-malformed-401',
    'auth.api-key.doubled-header-401',
    'auth.api-key.unknown-401',
  ),
  () => {
    test.each([
      [[`Bearer ${minted.key}`], 'p'],
      [[`bearer ${minted.key}`], 'p'],
      [[], 'unauthenticated'],
      [[''], 'unauthenticated'],
      [['Bearer'], 'unauthenticated'],
      [['Bearer '], 'unauthenticated'],
      [[`Bearer  ${minted.key}`], 'unauthenticated'],
      [[`Bearer\t${minted.key}`], 'unauthenticated'],
      [[`Bearer ${minted.key} x`], 'unauthenticated'],
      [[`Basic ${minted.key}`], 'unauthenticated'],
      [[minted.key], 'unauthenticated'],
      [[`Bearer ${minted.key}`, `Bearer ${minted.key}`], 'unauthenticated'],
      [[`Bearer ${minted.key}, Bearer ${minted.key}`], 'unauthenticated'],
      [[`Bearer ${minted.key}é`], 'unauthenticated'],
      [[`Bearer ${'a'.repeat(10_000)}`], 'unauthenticated'],
      [[`Bearer ${keyOf('unknown')}`], 'unauthenticated'],
    ])('%j: %s', async (values, expected) => expect(await outcome(...values)).toBe(expected));
  },
);

describe(covers('auth.api-key.expired-401', 'auth.api-key.revoked-401'), () => {
  test.each([
    ['current', 'p'],
    ['expired', 'key_expired'],
    ['revoked', 'key_revoked'],
    ['revoked-and-expired', 'key_revoked'],
  ])('a key that is %s: %s', async (name, expected) => expect(await outcome(`Bearer ${keyOf(name)}`)).toBe(expected));
});

describe(
  covers(
    'auth.api-key.entropy',
    'auth.api-key.prefix-tells-mode',
    'auth.api-key.own-prefix-checked',
    'auth.api-key.hashed-at-rest',
  ),
  () => {
    test('a minted key says its mode, and has 256 random bits and a checksum', () => {
      expect(minted.key).toMatch(/^svc_live_[0-9a-f]{72}$/);
      expect(mintApiKey({ mode: 'test', randomBytes }).key).toMatch(/^svc_test_/);
      expect(minted.hash).toBe(hashApiKey(minted.key));
    });

    test('a key that an operator brings is taken as it is', async () =>
      expect(await outcome(`Bearer ${brought}`)).toBe('p'));
  },
);

describe('failing closed', () => {
  test('a store that fails refuses', async () => {
    for (const fail of [
      () => Promise.reject(new Error('down')),
      () => {
        throw new Error('down');
      },
    ]) {
      const failing = authenticator({ lanes: [apiKeyLane({ keys: { candidates: fail }, now: () => NOW })] });
      const result = await failing.authenticate({ headers: { authorization: `Bearer ${minted.key}` } });
      expect(result.kind === 'refused' && result.error.code).toBe('unauthenticated');
    }
  });

  test('a stored hash that is corrupt matches nothing', async () => {
    const corrupt = { candidates: () => [{ ...record(minted.key), hash: '' }] };
    const result = await authenticator({ lanes: [apiKeyLane({ keys: corrupt, now: () => NOW })] }).authenticate({
      headers: { authorization: `Bearer ${minted.key}` },
    });
    expect(result.kind).toBe('refused');
  });

  test.each([
    [{ hash: 'x' }, /hash/],
    [{ principal: 'a@b' }, /principal/],
    [{ scopes: ['not a scope'] }, /scopes/],
    [{ workspaces: [] }, /workspaces/],
  ])('a record with %j is refused at once', (fields, message) => {
    expect(() => memoryKeyStore([record(brought, fields)])).toThrow(message);
  });

  test('no header makes it throw', () =>
    fc.assert(
      fc.asyncProperty(fc.string(), async (value) => {
        await outcome(value);
      }),
    ));
});

describe(
  covers(
    'auth.scopes.match-segments',
    'auth.scopes.match-wildcard',
    'auth.scopes.no-required-wildcard',
    'auth.scopes.per-operation',
  ),
  () => {
    test.each([
      [['runs:read'], 'runs:read', true],
      [['runs:cancel'], 'runs:read', false],
      [['runs:*'], 'runs:read', true],
      [['*:read'], 'runs:read', true],
      [['*'], 'runs:read', false],
      [['runs:*:x'], 'runs:read', false],
      [['Runs:read'], 'runs:read', false],
      [['runs:r*'], 'runs:read', false],
      [['runs:*'], 'runs:*', false],
      [['*:*'], 'runs:*', false],
      [[], 'runs:read', false],
    ])('%j for %s: %s', (granted, required, expected) => expect(grants(granted, required)).toBe(expected));

    test('what may be granted has a grammar', () => {
      expect(['runs:read', 'packs:yank-revert', 'runs:*', '*'].every(isGrantableScope)).toBe(true);
      expect(['', ':', 'a:', 'a b', 'runs:r*', 'é'].some(isGrantableScope)).toBe(false);
    });
  },
);

describe(covers('auth.challenge.every-401', 'auth.challenge.insufficient-scope', 'errors.envelope.fields'), () => {
  test('a refusal is ready to be written', () => {
    const decision = authorize({ scopes: [] }, ['runs:read']);
    expect(decision.allowed).toBe(false);
    if (decision.allowed) return;
    const { status, headers, body } = refusal(decision.error);
    expect([status, headers['www-authenticate']]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="runs:read"',
    ]);
    expect(JSON.parse(body)).toMatchObject({ error: 'forbidden', scopeRequired: 'runs:read' });
  });

  test('a 401 says whether a credential was presented', async () => {
    const nothing = await auth.authenticate({ headers: {} });
    const wrong = await auth.authenticate({ headers: { authorization: 'Bearer no' } });
    const challenges = [nothing, wrong].map((result) => (result.kind === 'refused' ? challenge(result.error) : {}));
    expect(challenges).toEqual([
      { 'www-authenticate': 'Bearer' },
      { 'www-authenticate': 'Bearer error="invalid_token"' },
    ]);
  });
});

describe(covers('errors.code.rate-limited', 'auth.rate-limit.per-key'), () => {
  test('a window is used up, and earned back', () => {
    let now = 0;
    const limiter = memoryRateLimiter({ limit: 3, windowSeconds: 30, now: () => now });
    const allowed = (key: string) => {
      const decision = limiter.consume(key);
      return !(decision instanceof Promise) && decision.allowed;
    };
    expect([allowed('a'), allowed('a'), allowed('a'), allowed('a'), allowed('b')]).toEqual([
      true,
      true,
      true,
      false,
      true,
    ]);
    const refused = limiter.consume('a');
    if (refused instanceof Promise || refused.allowed) throw new Error('It was allowed.');
    expect(refused.error.details).toEqual({ window: 30, limit: 3, current: 3, retryAfterSeconds: 10 });
    expect(challenge(refused.error)).toEqual({ 'retry-after': '10' });
    now = 10_000;
    expect([allowed('a'), allowed('a')]).toEqual([true, false]);
  });
});

test(covers('auth.tenancy.workspace-apart'), () => {
  expect([reachesWorkspace({ workspaces: ['a'] }, 'a'), reachesWorkspace({ workspaces: ['a'] }, 'b')]).toEqual([
    true,
    false,
  ]);
  expect([
    reachesWorkspace({ workspaces: ['a'] }, undefined),
    reachesWorkspace({ workspaces: 'all' }, undefined),
  ]).toEqual([false, true]);
});
