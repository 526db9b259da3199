import { createHash, randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { authenticator } from '../authenticate.ts';
import type { AuthOutcome } from '../lane.ts';
import type { RequestHead } from '../request-head.ts';
import { mintApiKey } from './format.ts';
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
    ['a key that nobody has', 'k'.repeat(40)],
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
  const corruptStores: readonly (readonly [string, KeyStore['candidates']])[] = [
    ['throws', () => fail('db at 10.0.0.7')],
    ['rejects', () => Promise.reject(new Error('db at 10.0.0.7'))],
    ['answers no list', () => JSON.parse('{"id":"key_1"}')],
    ['answers nothing', () => JSON.parse('null')],
    ['answers a list of nothing', () => JSON.parse('[null]')],
    ['answers a match without scopes', () => [{ ...record, scopes: JSON.parse('null') }]],
    ['answers a match without a tenant', () => [{ ...record, tenant: JSON.parse('null') }]],
    ['answers a match with a time that is none', () => [{ ...record, expiresAt: Number.NaN }]],
  ];

  test.each(corruptStores)('%s: refuses the caller without giving the cause', async (_case, candidates) => {
    const outcome = await authenticate({ candidates }, bearing(key));
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'unauthenticated', rejected: false } });
    if (outcome.kind === 'refused') {
      expect(outcome.error.cause).toBeInstanceOf(Error);
      expect(outcome.error.message).not.toContain('10.0.0.7');
    }
  });

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
