import { randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasSameFields, submissionOf } from './submission.ts';
import { mintFormToken, readFormToken, TOKEN_MS } from './token.ts';

const SECRET = 'a secret of a form';
const PAGE = { triggerId: 'trg_1', origin: 'https://www.example.com' };
const minted = mintFormToken(SECRET, PAGE, { now: 1000, random: randomBytes });

describe(covers('triggers.form.token'), () => {
  test('a token is read for its own form and origin, with its own secret', () => {
    const nonce = expect.stringMatching(/^[A-Za-z0-9_-]{22}$/);
    expect(readFormToken(SECRET, PAGE, minted.token)).toEqual({ nonce, expiresAt: 1000 + TOKEN_MS });
    expect(minted.expiresAt).toBe(1000 + TOKEN_MS);
    for (const page of [
      { ...PAGE, triggerId: 'trg_2' },
      { ...PAGE, origin: 'https://example.com' },
    ])
      expect(readFormToken(SECRET, page, minted.token)).toBe(undefined);
    expect(readFormToken('another secret', PAGE, minted.token)).toBe(undefined);
  });

  test('no other text is a token', () => {
    const position = fc.nat({ max: minted.token.length - 1 });
    fc.assert(
      fc.property(position, fc.string({ minLength: 1, maxLength: 1 }), (at, character) => {
        const changed = minted.token.slice(0, at) + character + minted.token.slice(at + 1);
        if (changed !== minted.token) expect(readFormToken(SECRET, PAGE, changed)).toBe(undefined);
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(readFormToken(SECRET, PAGE, text)).toBe(undefined);
      }),
    );
    const [time = '', nonce = '', mac = ''] = minted.token.split('.');
    for (const text of [
      '',
      '..',
      `${time}.${nonce}.`,
      `${time}0.${nonce}.${mac}`,
      `${minted.token}=`,
      ` ${minted.token}`,
    ])
      expect(readFormToken(SECRET, PAGE, text)).toBe(undefined);
  });

  test('a submission is identified by its token, and compared by its fields', () => {
    const make = (nonce: string, value: string, token = 't') => {
      const fields = [['a', value] as const, ['svc_token', token] as const];
      return submissionOf(nonce, fields, { now: () => 5, random: randomBytes });
    };
    const [first, same, other, elsewhere] = [make('n', '1'), make('n', '1', 'u'), make('n', '2'), make('m', '1')];
    expect(first.deliveryId).toMatch(/^dlv_[0-9a-z]{26}$/);
    expect([same.dedupKey, other.dedupKey]).toEqual([first.dedupKey, first.dedupKey]);
    expect(elsewhere.dedupKey).not.toBe(first.dedupKey);
    expect([hasSameFields(first, same), hasSameFields(first, other)]).toEqual([true, false]);
    expect(hasSameFields(first, elsewhere)).toBe(false);
    expect(same.deliveryId).not.toBe(first.deliveryId);
  });
});
