import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import { describe, expect, test } from 'vitest';
import { ImportedKeys, type ProofKey } from './imported-keys.ts';

describe('ImportedKeys', () => {
  test('imports a key once, and returns to each client its own', async () => {
    const keys = new ImportedKeys();
    const [one, other] = [await proofKey(), await proofKey()];
    const first = await keys.import(one);
    expect(await keys.import(one)).toBe(first);
    expect(await keys.import(other)).not.toBe(first);
    expect(await keys.import(one)).toBe(first);
  });

  test('imports a key for each algorithm', async () => {
    const keys = new ImportedKeys();
    const key = await proofKey('EdDSA');
    const first = await keys.import(key);
    expect(await keys.import({ ...key, algorithm: 'Ed25519' })).not.toBe(first);
  });

  test('forgets all keys when it is full', async () => {
    const keys = new ImportedKeys(2);
    const [one, other, third] = [await proofKey(), await proofKey(), await proofKey()];
    const first = await keys.import(one);
    await keys.import(other);
    expect(await keys.import(one), 'the cache is full now').toBe(first);
    await keys.import(third);
    expect(await keys.import(one)).not.toBe(first);
  });

  test('rejects an invalid key, also when a valid one has its thumbprint', async () => {
    const key = await proofKey();
    await expect(new ImportedKeys().import({ ...key, jwk: { ...key.jwk, x: 'AAAA' } })).rejects.toThrow();
  });
});

async function proofKey(algorithm: 'ES256' | 'EdDSA' = 'ES256'): Promise<ProofKey> {
  const { publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(publicKey);
  return { algorithm, jwk: { ...jwk }, thumbprint: await calculateJwkThumbprint(jwk) };
}
