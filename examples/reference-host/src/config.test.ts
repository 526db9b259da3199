import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { configJsonSchema, parseConfig } from './config.ts';

describe('config.schema.json', () => {
  const published = JSON.parse(readFileSync(new URL('../config.schema.json', import.meta.url), 'utf8'));

  test('is the JSON Schema of the configuration', () => {
    expect(published).toEqual(JSON.parse(JSON.stringify(configJsonSchema())));
  });

  test('describes every key', () => {
    expect(undescribed(published, '')).toEqual([]);
  });
});

/** Lists the paths of properties that have no description. */
function undescribed(schema: JsonSchema, path: string): string[] {
  const ofKeys = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    ...(property.description === undefined ? [`${path}.${name}`] : []),
    ...undescribed(property, `${path}.${name}`),
  ]);
  const ofParts = [schema.items, ...(schema.anyOf ?? [])].flatMap((part) =>
    part === undefined ? [] : undescribed(part, `${path}[]`),
  );
  return [...ofKeys, ...ofParts];
}

interface JsonSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

describe('a configuration', () => {
  test('may be empty, because every key has a default', () => {
    const parsed = parseConfig('{}');
    expect(parsed).toMatchObject({
      ok: true,
      config: { listen: { host: '127.0.0.1', port: 8787 }, store: 'sqlite:./svc.db' },
    });
  });

  test('gets one problem for each wrong key, with its path, the fault and the remedy', () => {
    const key = {
      id: 'k',
      tenant: 'nowhere',
      workspaces: ['*', 'w'],
      principal: 'a@b',
      scopes: ['not a scope'],
      mode: 'other',
    };
    expect(problemsOf({ baseUrl: 'https://x/path', apiKeys: [key], surplus: 1 })).toEqual([
      'baseUrl: must be an origin. Give scheme, host and port without a path, such as https://svc.example.com.',
      'apiKeys[0].principal: must be an opaque id. Use an id without @, white space or slash, such as p_7f3a.',
      'apiKeys[0].scopes[0]: must be a scope. Use one such as runs:read or runs:*.',
      'apiKeys[0].mode: is not an accepted value. Set it to "live" or "test".',
      'surplus: is not a key of this configuration. Remove it, or correct it: config.schema.json lists the keys.',
    ]);
  });

  const key = { id: 'k', hash: '0'.repeat(64), tenant: 'acme', workspaces: ['acme-prod'], principal: 'p', scopes: [] };
  const tenants = [{ id: 'acme', workspaces: ['acme-prod'] }];
  const pseudonymous = { issuers: [{ issuer: 'https://idp.example.com', audience: 'svc', pseudonymous: true }] };
  const key32 = Buffer.alloc(32).toString('base64');

  test.each<[string, object, string]>([
    [
      'a base URL that is not a URL',
      { baseUrl: 'svc' },
      'baseUrl: must be an origin. Give scheme, host and port without a path, such as https://svc.example.com.',
    ],
    ['a missing key', { rateLimit: { limit: 1 } }, 'rateLimit.windowSeconds: is missing. Set it to a number.'],
    [
      'a value of another type',
      { dpop: { required: 'yes' } },
      'dpop.required: has the wrong type. Set it to true or false.',
    ],
    [
      'a fraction',
      { webhooks: { attemptTimeoutMs: 0.5 } },
      'webhooks.attemptTimeoutMs: has the wrong type. Set it to a whole number.',
    ],
    ['an empty list', { oidc: { issuers: [] } }, 'oidc.issuers: is too short. Give at least 1 entry.'],
    [
      'a retention of no time',
      { webhooks: { deadLetter: { retentionDays: 0 } } },
      'webhooks.deadLetter.retentionDays: is too small. Set it to more than 0.',
    ],
    [
      'an overlap of less than a minute',
      { webhooks: { secretRotation: { overlapSeconds: 59 } } },
      'webhooks.secretRotation.overlapSeconds: is too small. Set it to at least 60.',
    ],
    [
      'an overlap of more than a week',
      { webhooks: { secretRotation: { overlapSeconds: 604_801 } } },
      'webhooks.secretRotation.overlapSeconds: is too large. Set it to at most 604800.',
    ],
    [
      'a former key of another length',
      { formerSecretKeys: ['AAAA'] },
      'formerSecretKeys[0]: must be 32 bytes in base64. Generate one with `openssl rand -base64 32`.',
    ],
    [
      'signature algorithms without v1',
      { webhooks: { signatureAlgorithms: ['standard-webhooks-1'] } },
      'webhooks.signatureAlgorithms: must contain v1. Add "v1".',
    ],
    [
      'a repeated signature algorithm',
      { webhooks: { signatureAlgorithms: ['v1', 'v1'] } },
      'webhooks.signatureAlgorithms: must not repeat an entry. Remove the second one.',
    ],
    [
      'a malformed public key',
      { audit: { formerPublicKeys: ['AAAA'] } },
      'audit.formerPublicKeys[0]: must be a checkpointPublicKey. Copy it from the audit section of the discovery document.',
    ],
    [
      'PostgreSQL without a secret key',
      { store: 'postgres://localhost/svc' },
      'secretKey: is required with PostgreSQL. Set it to the same 32 bytes in base64 on every host: `openssl rand -base64 32`.',
    ],
    [
      'a former secret key, a pseudonymous issuer and no pseudonym key',
      { secretKey: key32, formerSecretKeys: [key32], oidc: pseudonymous },
      'pseudonymKey: is required when formerSecretKeys is set and an issuer is pseudonymous. Set it to your first secretKey, or every user gets a new pseudonym.',
    ],
    [
      'an API key of an unknown tenant',
      { tenants, apiKeys: [{ ...key, tenant: 'other' }] },
      'apiKeys[0].tenant: must be the id of one of tenants. Add the tenant there, or correct its id.',
    ],
    [
      'a public chat of an unknown tenant',
      { tenants, mounts: { publicChat: { tenant: 'other', workspace: 'acme-prod' } } },
      'mounts.publicChat.tenant: must be the id of one of tenants. Add the tenant there, or correct its id.',
    ],
    [
      'a public chat of an unknown workspace',
      { tenants, mounts: { publicChat: { tenant: 'acme', workspace: 'other' } } },
      'mounts.publicChat.workspace: must be a workspace of that tenant. Add it to tenants, or correct its name.',
    ],
    [
      'an API key of an unknown workspace',
      { tenants, apiKeys: [{ ...key, workspaces: ['other'] }] },
      'apiKeys[0].workspaces: must be workspaces of the tenant of the key. Add them there, or use ["*"] for all.',
    ],
    [
      'an API key of all workspaces and of one by its name',
      { tenants, apiKeys: [{ ...key, workspaces: ['*', 'acme-prod'] }] },
      'apiKeys[0].workspaces: must be either ["*"] or names. Remove "*", or the names.',
    ],
  ])('with %s is rejected', (_configuration, config, problem) => {
    expect(problemsOf(config)).toEqual([problem]);
  });

  test('names no secret in its problems', () => {
    const problems = problemsOf({
      secretKey: 'not-base64-secret!',
      formerSecretKeys: ['short-secret'],
      apiKeys: [{ id: 'k', key: 'short-secret' }],
    });
    expect(problems.join('\n')).not.toMatch(/not-base64-secret|short-secret/);
  });

  test('must be JSON', () => {
    expect(parseConfig('{')).toEqual({
      ok: false,
      problems: ['the file: is not JSON. Remove comments and trailing commas, and quote every key.'],
    });
  });
});

function problemsOf(config: object): readonly string[] {
  const parsed = parseConfig(JSON.stringify(config));
  return parsed.ok ? [] : parsed.problems;
}
