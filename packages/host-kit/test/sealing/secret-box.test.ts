import { createCipheriv, randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { secretBox } from '../../src/sealing/secret-box.ts';

const [older, newer, other] = [randomBytes(32), randomBytes(32), randomBytes(32)];

/** As the first version sealed: a version byte, the nonce, the ciphertext, the tag, and no name of the key. */
function sealedUnnamed(key: Uint8Array, secret: string, boundTo: string): Uint8Array {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo));
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([Uint8Array.of(1), nonce, text, cipher.getAuthTag()]);
}

describe(covers('webhooks.secret.encrypted-at-rest'), () => {
  test('a secret opens for what it is bound to, with its key, unchanged, and for nothing else', () => {
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

  test.each([1, 2])('not a bit of what is stored in form %i may differ', (form) => {
    const box = secretBox(newer, randomBytes, [older]);
    const sealed = form === 1 ? sealedUnnamed(newer, 'the secret', 'whk_1') : box.seal('the secret', 'whk_1');
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

  test('the same secret is never sealed to the same bytes', () => {
    const box = secretBox(newer, randomBytes);
    expect(box.seal('the secret', 'whk_1')).not.toEqual(box.seal('the secret', 'whk_1'));
  });
});

describe('a roll-over of the key', () => {
  const before = secretBox(older, randomBytes);
  const during = secretBox(newer, randomBytes, [other, older]);
  const after = secretBox(newer, randomBytes);

  test('what a former key sealed is opened, and what is sealed needs the new one alone', () => {
    const sealed = before.seal('the secret', 'whk_1');
    expect(during.open(sealed, 'whk_1')).toBe('the secret');
    expect(after.open(during.seal(during.open(sealed, 'whk_1'), 'whk_1'), 'whk_1')).toBe('the secret');
  });

  test('what the first version sealed is opened with whichever key fits', () => {
    for (const key of [older, newer]) {
      expect(during.open(sealedUnnamed(key, 'the secret', 'whk_1'), 'whk_1')).toBe('the secret');
    }
    expect(() => during.open(sealedUnnamed(older, 'the secret', 'whk_1'), 'whk_2')).toThrow(
      'no key of this host opens a stored secret',
    );
  });

  test('what is not sealed as it would be now is told apart', () => {
    expect(during.isCurrent(during.seal('the secret', 'whk_1'))).toBe(true);
    expect(during.isCurrent(before.seal('the secret', 'whk_1'))).toBe(false);
    expect(during.isCurrent(sealedUnnamed(newer, 'the secret', 'whk_1'))).toBe(false);
    expect(during.isCurrent(new Uint8Array())).toBe(false);
  });

  test('a key that is missing is said to be, and no key is shown', () => {
    const sealed = before.seal('the secret', 'whk_1');
    expect(() => after.open(sealed, 'whk_1')).toThrow('Add the former secretKey that sealed it.');
    expect(Buffer.from(sealed).includes(older.subarray(0, 8))).toBe(false);
  });
});

test.each([0, 16, 31, 33])('a key of %i bytes is refused', (length) => {
  expect(() => secretBox(randomBytes(length), randomBytes)).toThrow('secretKey must be 32 bytes');
  expect(() => secretBox(newer, randomBytes, [older, randomBytes(length)])).toThrow('formerSecretKeys[1] must be 32');
});
