import { createCipheriv, randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { secretBox } from '../../src/sealing/secret-box.ts';

const [older, newer, other] = [randomBytes(32), randomBytes(32), randomBytes(32)];

/** Seals in version 1: a version byte, the nonce, the ciphertext, the tag, and no key id. */
function sealedWithoutKeyId(key: Uint8Array, secret: string, boundTo: string): Uint8Array {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo));
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([Uint8Array.of(1), nonce, text, cipher.getAuthTag()]);
}

describe(covers('webhooks.secret.encrypted-at-rest'), () => {
  test('opens a secret unchanged, with its key and for its owner alone', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ maxLength: 40 }), (secret, boundTo) => {
        const box = secretBox(newer, randomBytes);
        const sealed = box.seal(secret, boundTo);
        expect(box.open(sealed, boundTo)).toBe(Buffer.from(secret).toString());
        if (secret.length > 8) expect(Buffer.from(sealed).includes(secret)).toBe(false);
        expect(() => box.open(sealed, `${boundTo}x`)).toThrow();
        expect(() => secretBox(other, randomBytes).open(sealed, boundTo)).toThrow();
      }),
    );
  });

  test.each([1, 2])('rejects version %i with any byte changed or cut off', (form) => {
    const box = secretBox(newer, randomBytes, [older]);
    const sealed = form === 1 ? sealedWithoutKeyId(newer, 'the secret', 'whk_1') : box.seal('the secret', 'whk_1');
    expect(sealed[0]).toBe(form);
    for (let index = 0; index < sealed.length; index++) {
      for (const bit of [1, 2, 128]) {
        const changed = Uint8Array.from(sealed);
        changed[index] = (changed[index] ?? 0) ^ bit;
        expect(() => box.open(changed, 'whk_1')).toThrow();
      }
      expect(() => box.open(sealed.subarray(0, index), 'whk_1')).toThrow();
    }
  });

  test('seals the same secret to different bytes each time', () => {
    const box = secretBox(newer, randomBytes);
    expect(box.seal('the secret', 'whk_1')).not.toEqual(box.seal('the secret', 'whk_1'));
  });
});

describe('a rotation of the key', () => {
  const before = secretBox(older, randomBytes);
  const during = secretBox(newer, randomBytes, [other, older]);
  const after = secretBox(newer, randomBytes);

  test('opens with a former key, and seals with the new key alone', () => {
    const sealed = before.seal('the secret', 'whk_1');
    expect(during.open(sealed, 'whk_1')).toBe('the secret');
    expect(after.open(during.seal(during.open(sealed, 'whk_1'), 'whk_1'), 'whk_1')).toBe('the secret');
  });

  test('opens version 1 with the key that fits', () => {
    for (const key of [older, newer]) {
      expect(during.open(sealedWithoutKeyId(key, 'the secret', 'whk_1'), 'whk_1')).toBe('the secret');
    }
    expect(() => during.open(sealedWithoutKeyId(older, 'the secret', 'whk_1'), 'whk_2')).toThrow(
      'no key of this host opens a stored secret',
    );
  });

  test('recognizes bytes of a former key or version as not current', () => {
    expect(during.isCurrent(during.seal('the secret', 'whk_1'))).toBe(true);
    expect(during.isCurrent(before.seal('the secret', 'whk_1'))).toBe(false);
    expect(during.isCurrent(sealedWithoutKeyId(newer, 'the secret', 'whk_1'))).toBe(false);
    expect(during.isCurrent(new Uint8Array())).toBe(false);
  });

  test('reports a missing key without showing any key', () => {
    const sealed = before.seal('the secret', 'whk_1');
    expect(() => after.open(sealed, 'whk_1')).toThrow('Add the former key that sealed it.');
    expect(Buffer.from(sealed).includes(older.subarray(0, 8))).toBe(false);
  });
});

test.each([0, 16, 31, 33])('rejects a key of %i bytes', (length) => {
  expect(() => secretBox(randomBytes(length), randomBytes)).toThrow('secretKey: must be 32 bytes');
  expect(() => secretBox(newer, randomBytes, [older, randomBytes(length)])).toThrow('secretKey.former[1]: must be 32');
});
