import { describe, expect, test } from 'vitest';
import { BundleRedactor } from '../../src/debug-bundle/redact.ts';
import { Redactor } from '../../src/execution/redactor.ts';
import type { Json } from '../../src/json.ts';

const SECRET = 'correct-horse-battery-staple';

function redacted(value: Json): { readonly shown: Json; readonly count: number } {
  const secrets = new Redactor();
  secrets.add('db', SECRET);
  const redactor = new BundleRedactor(secrets);
  const shown = redactor.redacted(value);
  return { shown, count: redactor.count() };
}

describe('BundleRedactor', () => {
  test.each([
    ['plain', SECRET],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['in hexadecimal', Buffer.from(SECRET).toString('hex')],
    ['URL-encoded in a text', `https://h/?q=${encodeURIComponent(SECRET)}&r=1`],
  ])('redacts a stored secret %s', (_, text) => {
    const { shown, count } = redacted({ note: text });
    expect(JSON.stringify(shown)).toContain('[REDACTED:db]');
    expect(JSON.stringify(shown)).not.toContain(SECRET);
    expect(count).toBe(1);
  });

  test.each([
    'password',
    'dbPassword',
    'DB_PASSWORD',
    'apiKey',
    'api_key',
    'x-api-key',
    'Authorization',
    'set-cookie',
    'client_secret',
    'refreshToken',
    'privateKey',
  ])('redacts the texts in the member %s', (name) => {
    expect(redacted({ [name]: 'short' }).shown).toEqual({ [name]: '[REDACTED]' });
    expect(redacted({ [name]: { a: ['b', 1], c: null } }).shown).toEqual({ [name]: { a: ['[REDACTED]', 1], c: null } });
  });

  test.each(['maxTokens', 'tokenBudget', 'keyboard', 'secretary', 'passage', 'author', 'nodeId', 'monkey'])(
    'keeps the member %s',
    (name) => {
      expect(redacted({ [name]: 'text' })).toEqual({ shown: { [name]: 'text' }, count: 0 });
    },
  );

  const jwt = `eyJ${'a'.repeat(20)}.${'b'.repeat(40)}.${'c'.repeat(43)}`;
  test.each([
    [`Authorization: Bearer ${'x'.repeat(20)}`, 'Authorization: Bearer [REDACTED]'],
    [`a token ${jwt}, sent`, 'a token [REDACTED], sent'],
    ['-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\nafter', '[REDACTED]\nafter'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMC4C', '[REDACTED]'],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '[REDACTED]'],
    [`key svc_live_${'k'.repeat(32)}.`, 'key [REDACTED].'],
    ['postgres://svc:hunter2@db:5432/app', 'postgres://[REDACTED]@db:5432/app'],
    ['https://h/cb?access_token=abc123&x=1#f', 'https://h/cb?access_token=[REDACTED]&x=1#f'],
    ['half a pair \ud800 here', 'half a pair \ufffd here'],
  ])('redacts %j', (text, shown) => {
    expect(redacted([text])).toEqual({ shown: [shown], count: 1 });
  });

  test('redacts names of members, and leaves names alone where they tell nothing', () => {
    expect(redacted({ [`Bearer ${'x'.repeat(20)}`]: 1 }).shown).toEqual({ 'Bearer [REDACTED]': 1 });
    const redactor = new BundleRedactor(new Redactor());
    expect(redactor.redactedByForm({ credential: 'key_1' })).toEqual({ credential: 'key_1' });
  });

  test.each(['eyJ', 'Bearer ', '-----BEGIN PRIVATE KEY-----', '://a', '?token', 'a', '-eyJaaaaaaaa'])(
    'takes linear time for a long text of %j',
    (piece) => {
      const time = (length: number) => {
        const text = piece.repeat(length / piece.length);
        const from = performance.now();
        redacted([text]);
        return performance.now() - from;
      };
      time(10_000);
      // A quadratic form would take 64 times as long, and minutes for the longer text.
      expect(time(800_000)).toBeLessThan(20_000);
    },
  );
});
