import { createHash, randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { authenticator } from '../authenticate.ts';
import type { AuthOutcome } from '../lane.ts';
import type { RequestHead } from '../request-head.ts';
import { hashApiKey, mintApiKey } from './format.ts';
import type { ApiKeyRecord, KeyStore } from './key-store.ts';
import { apiKeyLane } from './lane.ts';
import { memoryKeyStore } from './memory.ts';

const FREE = { require: () => undefined };
const NOW = 1_800_000_000_000;
const { key, hash } = mintApiKey({ mode: 'live', randomBytes: (size) => new Uint8Array(randomBytes(size)) });
const record: ApiKeyRecord = {
  id: 'key_1',
  hash,
  tenant: 'acme',
  workspaces: ['acme-prod'],
  principal: 'p_7f3a',
  scopes: ['runs:read'],
  mode: 'live',
};

const bearing = (token: string): RequestHead => ({ headers: { authorization: `Bearer ${token}` } });

function authenticate(keys: KeyStore, request: RequestHead, now: () => number = () => NOW): Promise<AuthOutcome> {
  return authenticator({ lanes: [apiKeyLane({ keys, now })] }).authenticate(request);
}

const withRecord = (changes: Partial<ApiKeyRecord>) => memoryKeyStore([{ ...record, ...changes }]);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe(covers('auth.models.api-keys-for-machines', 'auth.api-key.bearer-header'), () => {
  test('authenticates a caller by its key alone', async () => {
    expect(await authenticate(memoryKeyStore([record]), bearing(key))).toEqual({
      kind: 'authenticated',
      principal: {
        id: 'p_7f3a',
        kind: undefined,
        credentialId: 'key_1',
        lane: 'api-key',
        binding: 'bearer',
        expiresAt: undefined,
        tenancy: { tenant: 'acme', workspaces: ['acme-prod'], mode: 'live' },
        scopes: ['runs:read'],
        subject: {
          issuer: 'urn:svc:api-key',
          subjectId: 'p_7f3a',
          tenant: 'acme',
          lane: 'api-key',
          kind: 'workload',
        },
      },
    });
  });

  test('awaits a store that returns a promise', async () => {
    const keys: KeyStore = { candidates: async (lookup) => memoryKeyStore([record]).candidates(lookup) };
    expect(await authenticate(keys, bearing(key))).toMatchObject({ kind: 'authenticated' });
  });

  test('passes the hash to the store, never the key', async () => {
    const lookups: unknown[] = [];
    const keys: KeyStore = {
      candidates(lookup) {
        lookups.push(lookup);
        return [];
      },
    };
    await authenticate(keys, bearing(key));
    expect(lookups).toEqual([{ hash }]);
  });

  test('answers without a promise when the store does', () => {
    const lane = apiKeyLane({ keys: memoryKeyStore([record]), now: () => NOW });
    const outcome = lane.authenticate({ headers: {} }, { scheme: 'bearer', token: key }, FREE);
    expect(outcome).toMatchObject({ kind: 'authenticated' });
  });
});

describe(covers('runs.owner.principal-kind-explicit'), () => {
  test.each([undefined, 'user', 'agent'] as const)(
    'the kind %s is taken over as it was stated',
    async (principalKind) => {
      const outcome = await authenticate(withRecord({ principalKind }), bearing(key));
      expect(outcome).toMatchObject({
        principal: { kind: principalKind, subject: { kind: principalKind ?? 'workload' } },
      });
    },
  );
});

describe(covers('auth.api-key.unknown-401'), () => {
  test.each([
    ['a key that has no record', 'k'.repeat(40)],
    ['a minted key of another host', mintApiKey({ mode: 'live', randomBytes: (size) => new Uint8Array(size) }).key],
    ['a key that is too short', 'k'.repeat(31)],
    ['a key that is too long', 'k'.repeat(513)],
    ['a part of the key', key.slice(0, -1)],
    ['the key and more', `${key}0`],
    ['the key in upper case', key.toUpperCase()],
    ['the stored hash itself', hash],
  ])('%s', async (_case, token) => {
    const outcome = await authenticate(memoryKeyStore([record]), bearing(token));
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'unauthenticated', status: 401, rejected: true } });
  });

  test('gives every such refusal the same message', async () => {
    const keys = memoryKeyStore([record]);
    const messages = await Promise.all(
      ['k'.repeat(40), 'k', key.slice(0, -1), hash].map(async (token) => {
        const outcome = await authenticate(keys, bearing(token));
        return outcome.kind === 'refused' ? outcome.error.message : undefined;
      }),
    );
    expect(new Set(messages).size).toBe(1);
  });
});

describe(covers('auth.api-key.own-prefix-checked'), () => {
  test('does not query the store for a mistyped minted key', async () => {
    const keys: KeyStore = {
      candidates() {
        throw new Error('asked');
      },
    };
    const mistyped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    expect(await authenticate(keys, bearing(mistyped))).toMatchObject({
      error: { code: 'unauthenticated', rejected: true },
    });
  });
});

describe(covers('auth.api-key.prefix-not-prescribed'), () => {
  test.each(['acme-key-0123456789-0123456789-0123', 'svc_live_written-by-hand-for-this-machine', 'k'.repeat(32)])(
    'the key %s that an operator brought is accepted',
    async (brought) => {
      const keys = withRecord({ hash: sha256(brought) });
      expect(await authenticate(keys, bearing(brought))).toMatchObject({ kind: 'authenticated' });
    },
  );
});

describe('a minted key for tests', () => {
  const randomBytes = (size: number) => new Uint8Array(size).fill(7);
  test.each([
    ['svc_test_', 'test', 'authenticated'],
    ['svc_test_', 'live', 'refused'],
    ['svc_live_', 'live', 'authenticated'],
    ['svc_live_', 'test', 'authenticated'],
  ] as const)('%s with a record of mode %s is %s', async (prefix, mode, kind) => {
    const minted = mintApiKey({ mode: prefix === 'svc_test_' ? 'test' : 'live', randomBytes });
    expect(minted.key.startsWith(prefix)).toBe(true);
    const outcome = await authenticate(withRecord({ hash: minted.hash, mode }), bearing(minted.key));
    expect(outcome.kind).toBe(kind);
    if (outcome.kind === 'refused') expect(outcome.error.code).toBe('unauthenticated');
  });
});

describe('the end of a principal', () => {
  test.each([
    [undefined, undefined, undefined],
    [NOW + 5, undefined, NOW + 5],
    [undefined, NOW + 7, NOW + 7],
    [NOW + 5, NOW + 7, NOW + 5],
    [NOW + 9, NOW + 7, NOW + 7],
  ])('expiresAt %s and revokedAt %s: %s', async (expiresAt, revokedAt, end) => {
    const outcome = await authenticate(withRecord({ expiresAt, revokedAt }), bearing(key));
    expect(outcome).toMatchObject({ kind: 'authenticated' });
    expect(outcome.kind === 'authenticated' && outcome.principal.expiresAt).toBe(end);
  });
});

describe(covers('auth.api-key.expired-401'), () => {
  test.each([
    ['one millisecond before', NOW + 1, undefined],
    ['at the very time', NOW, 'key_expired'],
    ['long after', 0, 'key_expired'],
  ])('%s', async (_case, expiresAt, code) => {
    const outcome = await authenticate(withRecord({ expiresAt }), bearing(key));
    expect(outcome.kind === 'refused' ? outcome.error.code : undefined).toBe(code);
    if (outcome.kind === 'refused') expect(outcome.error.status).toBe(401);
  });

  test('refuses when the clock returns NaN', async () => {
    const outcome = await authenticate(withRecord({ expiresAt: NOW }), bearing(key), () => Number.NaN);
    expect(outcome).toMatchObject({ error: { code: 'key_expired' } });
  });
});

describe(covers('auth.api-key.revoked-401'), () => {
  test.each([
    ['a revocation to come', NOW + 1, undefined],
    ['a revocation of this very time', NOW, 'key_revoked'],
    ['a revocation long ago', 0, 'key_revoked'],
  ])('%s', async (_case, revokedAt, code) => {
    const outcome = await authenticate(withRecord({ revokedAt }), bearing(key));
    expect(outcome.kind === 'refused' ? outcome.error.code : undefined).toBe(code);
    if (outcome.kind === 'refused') expect(outcome.error.status).toBe(401);
  });

  test('reports a key that is revoked and expired as revoked', async () => {
    const outcome = await authenticate(withRecord({ revokedAt: 0, expiresAt: 0 }), bearing(key));
    expect(outcome).toMatchObject({ error: { code: 'key_revoked' } });
  });

  test('refuses when the clock returns NaN', async () => {
    const outcome = await authenticate(withRecord({ revokedAt: NOW }), bearing(key), () => Number.NaN);
    expect(outcome).toMatchObject({ error: { code: 'key_revoked' } });
  });

  test('does not tell a caller without the key that it was revoked', async () => {
    const keys: KeyStore = { candidates: () => [{ ...record, revokedAt: 0 }] };
    expect(await authenticate(keys, bearing('k'.repeat(40)))).toMatchObject({ error: { code: 'unauthenticated' } });
  });
});

describe('a store that fails', () => {
  const other = 'another-key-of-the-operator-0123456789';
  const failingStores: readonly (readonly [string, KeyStore['candidates']])[] = [
    ['throws', () => fail('db at 10.0.0.7')],
    ['rejects', () => Promise.reject(new Error('db at 10.0.0.7'))],
    ['answers no list', () => JSON.parse('{"id":"key_1"}')],
    ['answers nothing', () => JSON.parse('null')],
    ['answers nothing later', async () => JSON.parse('null')],
    [
      'never answers',
      () => {
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
        setImmediate(() => vi.advanceTimersByTime(5000));
        return new Promise(() => {});
      },
    ],
  ];

  afterEach(() => {
    vi.useRealTimers();
  });

  test.each(failingStores)('%s: refuses with 503, without giving the cause', async (_case, candidates) => {
    const outcome = await authenticate({ candidates }, bearing(key));
    expect(outcome).toMatchObject({
      kind: 'refused',
      error: { code: 'service_unavailable', status: 503, fault: 'host', headers: { 'retry-after': '5' } },
    });
    if (outcome.kind === 'refused') {
      expect(outcome.error.cause).toBeInstanceOf(Error);
      expect(outcome.error.message).not.toContain('10.0.0.7');
    }
  });

  const nothing = () => JSON.parse('null');
  const malformed: readonly (readonly [string, Partial<ApiKeyRecord> | null, RegExp])[] = [
    ['no record', null, /not a record/],
    ['a record without scopes', { scopes: nothing() }, /^API key key_1: scopes must/],
    ['a record without a tenant', { tenant: nothing() }, /^API key key_1: tenant must/],
    ['a record with a time that is none', { expiresAt: Number.NaN }, /^API key key_1: expiresAt must/],
    ['a record with a time that is NULL', { expiresAt: nothing() }, /^API key key_1: expiresAt must/],
    ['a record with a time that is a Date', { revokedAt: JSON.parse('{}') }, /^API key key_1: revokedAt must/],
  ];

  test.each(malformed)(
    'refuses the key of %s alone, and names the field to the operator',
    async (_case, change, why) => {
      const rows = [
        change === null ? nothing() : { ...record, ...change },
        { ...record, id: 'key_2', hash: hashApiKey(other) },
      ];
      for (const candidates of [() => rows, async () => rows, () => rows.toReversed()]) {
        const outcome = await authenticate({ candidates }, bearing(key));
        expect(outcome).toMatchObject({
          kind: 'refused',
          error: {
            code: 'unauthenticated',
            rejected: false,
            fault: 'host',
            cause: { message: expect.stringMatching(why) },
          },
        });
        expect(await authenticate({ candidates }, bearing(other))).toMatchObject({
          principal: { credentialId: 'key_2' },
        });
      }
    },
  );

  test('refuses a corrupt stored hash as an unknown key', async () => {
    const outcome = await authenticate({ candidates: () => [{ ...record, hash: JSON.parse('null') }] }, bearing(key));
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'unauthenticated', rejected: true } });
  });
});

describe('any credential', () => {
  test('is accepted only when it equals the key', async () => {
    const keys = memoryKeyStore([record]);
    const token = fc.oneof(fc.constant(key), fc.string(), fc.stringMatching(/^[A-Za-z0-9._~+/-]{1,600}=*$/));
    await fc.assert(
      fc.asyncProperty(token, async (presented) => {
        const outcome = await authenticate(keys, bearing(presented));
        expect(outcome.kind).toBe(presented === key ? 'authenticated' : 'refused');
        if (outcome.kind === 'refused') expect(JSON.stringify(outcome.error)).not.toContain(key);
      }),
    );
  });
});

describe('apiKeyLane', () => {
  test('leaves other schemes to other lanes', () => {
    const lane = apiKeyLane({ keys: memoryKeyStore([record]), now: () => NOW });
    expect(lane.authenticate({ headers: {} }, undefined, FREE)).toBeUndefined();
    expect(lane.authenticate({ headers: {} }, { scheme: 'dpop', token: key }, FREE)).toBeUndefined();
  });

  test('names its key realm as the issuer of subjects', async () => {
    const lane = apiKeyLane({ keys: memoryKeyStore([record]), now: () => NOW, issuer: 'urn:acme:keys' });
    const outcome = await lane.authenticate({ headers: {} }, { scheme: 'bearer', token: key }, FREE);
    expect(outcome).toMatchObject({ principal: { subject: { issuer: 'urn:acme:keys' } } });
  });

  test.each(['{"keys":null}', '{"keys":{}}', '{"now":5}', '{"issuer":""}', '{"issuer":"a b"}'])(
    'refuses the option %s at once',
    (json) => {
      const good = { keys: memoryKeyStore([]), now: () => NOW };
      expect(() => apiKeyLane({ ...good, ...JSON.parse(json) })).toThrow(TypeError);
    },
  );
});

function fail(message: string): never {
  throw new Error(message);
}
