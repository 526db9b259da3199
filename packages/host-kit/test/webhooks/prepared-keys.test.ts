import { randomBytes } from 'node:crypto';
import { prepareSecret } from '@svc/webhook-verify';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { PreparedKeys } from '../../src/webhooks/prepared-keys.ts';

const MINUTE = 60_000;
const box = secretBox(randomBytes(32), randomBytes);
let opened = 0;
let keys: PreparedKeys;

beforeEach(() => {
  opened = 0;
  keys = new PreparedKeys({
    ...box,
    open(sealed, boundTo) {
      opened++;
      return box.open(sealed, boundTo);
    },
  });
});

const digest = (sealed: Uint8Array, boundTo: string, now: number) => keys.of(sealed, boundTo, now).v1()('1.', '{}');
const expected = (secret: string) => prepareSecret(secret)('1.', '{}');

describe('a prepared key', () => {
  test('is opened once while it is in use', () => {
    const sealed = box.seal('a secret', 'whk_1');
    for (let now = 0; now < 10 * MINUTE; now += MINUTE / 2)
      expect(digest(sealed, 'whk_1', now)).toBe(expected('a secret'));
    expect(opened).toBe(1);
  });

  test('is opened again after two minutes without use', () => {
    const sealed = box.seal('a secret', 'whk_1');
    for (const now of [0, 3 * MINUTE, 6 * MINUTE]) digest(sealed, 'whk_1', now);
    expect(opened).toBe(3);
  });

  test('belongs to the sealed bytes: a rotated secret signs at once', () => {
    expect(digest(box.seal('older', 'whk_1'), 'whk_1', 0)).toBe(expected('older'));
    expect(digest(box.seal('newer', 'whk_1'), 'whk_1', 0)).toBe(expected('newer'));
  });

  test('belongs to one subscription: the same bytes are not opened for another', () => {
    const sealed = box.seal('a secret', 'whk_1');
    digest(sealed, 'whk_1', 0);
    expect(() => digest(sealed, 'whk_2', 0)).toThrow();
  });

  test('is not kept when the bytes were changed', () => {
    const sealed = box.seal('a secret', 'whk_1');
    digest(sealed, 'whk_1', 0);
    const changed = sealed.map((byte, index) => (index === sealed.length - 1 ? byte ^ 1 : byte));
    expect(() => digest(changed, 'whk_1', 0)).toThrow();
  });
});

test('at most two generations of 4096 keys are kept', () => {
  const first = box.seal('first', 'whk_1');
  digest(first, 'whk_1', 0);
  for (let count = 0; count < 2 * 4096; count++) digest(box.seal('another', 'whk_1'), 'whk_1', 0);
  const before = opened;
  digest(first, 'whk_1', 0);
  expect(opened).toBe(before + 1);
});

test('signs as without preparation, over any order of subscriptions, rotations and times', () => {
  const use = fc.record({ webhook: fc.nat(3), secret: fc.nat(2), now: fc.nat(5 * MINUTE) });
  const sealed = new Map<string, Uint8Array>();
  fc.assert(
    fc.property(fc.array(use, { maxLength: 30 }), (uses) => {
      for (const { webhook, secret, now } of uses) {
        const [boundTo, text] = [`whk_${webhook}`, `secret ${secret}`];
        const name = `${boundTo} ${text}`;
        const bytes = sealed.get(name) ?? box.seal(text, boundTo);
        sealed.set(name, bytes);
        expect(digest(bytes, boundTo, now)).toBe(expected(text));
      }
    }),
    { numRuns: 100 },
  );
});
