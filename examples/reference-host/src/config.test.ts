import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { configJsonSchema, parseConfig } from './config.ts';

test('the published JSON Schema is that of the configuration', () => {
  const published = readFileSync(new URL('../config.schema.json', import.meta.url), 'utf8');
  expect(JSON.parse(published)).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
});

describe('a configuration', () => {
  test('may be empty: every key has a default', () => {
    const parsed = parseConfig('{}');
    expect(parsed).toMatchObject({
      ok: true,
      config: { listen: { host: '127.0.0.1', port: 8787 }, store: 'sqlite:./svc.db' },
    });
  });

  test('is told all its problems at once, each with its path', () => {
    const key = {
      id: 'k',
      tenant: 'nowhere',
      workspaces: ['*', 'w'],
      principal: 'a@b',
      scopes: ['not a scope'],
      mode: 'other',
    };
    const parsed = parseConfig(JSON.stringify({ baseUrl: 'https://x/path', apiKeys: [key], surplus: 1 }));
    if (parsed.ok) throw new Error('It was accepted.');
    const paths = parsed.problems.map((problem) => problem.slice(0, problem.indexOf(':')));
    expect(paths).toEqual(
      expect.arrayContaining(['baseUrl', 'apiKeys[0].principal', 'apiKeys[0].scopes[0]', 'apiKeys[0].mode', 'surplus']),
    );
  });

  test.each([
    [
      'a former key of another length',
      { formerSecretKeys: ['AAAA'] },
      'formerSecretKeys[0]: must be 32 bytes in base64',
    ],
    [
      'an overlap of less than a minute',
      { webhooks: { secretRotation: { overlapSeconds: 59 } } },
      'webhooks.secretRotation.overlapSeconds',
    ],
    [
      'an overlap of more than a week',
      { webhooks: { secretRotation: { overlapSeconds: 604_801 } } },
      'webhooks.secretRotation.overlapSeconds',
    ],
    ['signatures without v1', { webhooks: { signatureAlgorithms: ['standard-webhooks-1'] } }, 'must contain v1'],
    ['a signature twice', { webhooks: { signatureAlgorithms: ['v1', 'v1'] } }, 'must not repeat'],
    [
      'a public key that is none',
      { audit: { formerPublicKeys: ['AAAA'] } },
      'audit.formerPublicKeys[0]: must be a checkpointPublicKey',
    ],
  ])('with %s is refused', (_what, config, problem) => {
    const parsed = parseConfig(JSON.stringify(config));
    expect(parsed.ok ? [] : parsed.problems).toEqual([expect.stringContaining(problem)]);
  });

  test('names no secret in its problems', () => {
    const parsed = parseConfig(
      JSON.stringify({
        secretKey: 'not-base64-secret!',
        formerSecretKeys: ['short-secret'],
        apiKeys: [{ id: 'k', key: 'short-secret' }],
      }),
    );
    expect(JSON.stringify(parsed)).not.toMatch(/not-base64-secret|short-secret/);
  });

  test('must be JSON', () => expect(parseConfig('{')).toEqual({ ok: false, problems: ['the file: is not JSON'] }));
});
