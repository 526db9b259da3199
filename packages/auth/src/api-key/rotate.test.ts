import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { authenticator } from '../authenticate.ts';
import { mintApiKey } from './format.ts';
import { apiKeyLane } from './lane.ts';
import { memoryKeyStore } from './memory.ts';
import { rotateApiKey } from './rotate.ts';

const random = (size: number) => new Uint8Array(randomBytes(size));
const NOW = Date.UTC(2026, 5, 1);
const old = mintApiKey({ mode: 'live', randomBytes: random });
const record = {
  id: 'key_1',
  hash: old.hash,
  tenant: 'acme',
  workspaces: ['prod'],
  principal: 'p_1',
  scopes: ['runs:read'],
  mode: 'live',
} as const;
const options = { id: 'key_2', graceSeconds: 86_400, now: NOW, randomBytes: random };

describe('rotateApiKey', () => {
  test('keeps both keys valid for one principal during the grace period, then revokes the old one', async () => {
    const { key, replacement, retired } = rotateApiKey(record, options);
    const at = async (time: number, presented: string) => {
      const keys = memoryKeyStore([replacement, retired]);
      const auth = authenticator({ lanes: [apiKeyLane({ keys, now: () => time })] });
      const outcome = await auth.authenticate({ headers: { authorization: `Bearer ${presented}` } });
      return outcome.kind === 'refused' ? outcome.error.code : { ...outcome.principal, credentialId: '', expiresAt: 0 };
    };
    const end = NOW + 86_400_000;
    expect(await at(NOW, key)).toEqual(await at(NOW, old.key));
    expect(await at(end - 1, old.key)).toMatchObject({ id: 'p_1' });
    expect(await at(end, old.key)).toBe('key_revoked');
    expect(await at(end, key)).toMatchObject({ id: 'p_1' });
  });

  test('does not extend an earlier revocation of the old key', () => {
    const { retired, replacement } = rotateApiKey({ ...record, revokedAt: NOW + 1000 }, options);
    expect(retired.revokedAt).toBe(NOW + 1000);
    expect(replacement.revokedAt).toBeUndefined();
  });

  test.each([
    ['a grace that is none', record, { graceSeconds: Number.NaN }],
    ['a negative grace', record, { graceSeconds: -1 }],
    ['the same id', record, { id: 'key_1' }],
    ['a key that was revoked', { ...record, revokedAt: NOW }, {}],
    ['a key that has expired', { ...record, expiresAt: NOW - 1 }, {}],
  ])('rejects %s', (_name, given, changes) => {
    expect(() => rotateApiKey(given, { ...options, ...changes })).toThrow(TypeError);
  });
});
