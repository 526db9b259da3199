import { readFileSync } from 'node:fs';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, BYOK, KEY, startAcme } from './acme-host.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({});
});
afterAll(() => host.stop());

const SECRET = 'sk-a-key-that-the-tenant-brought';
const put = (name: string, body: unknown, key = BYOK) =>
  host.call(`/host/example/byok/secrets/${name}`, { method: 'PUT', key, body });
const list = (query = '') => host.call(`/host/example/byok/secrets${query}`, { key: BYOK });

describe('a secret of a tenant', () => {
  test('is created, replaced, listed and removed, and its value is never returned', async () => {
    const created = await put('openai', { value: SECRET });
    expect(created).toMatchObject({ status: 201, body: { name: 'openai', workspace: 'acme-prod', mode: 'live' } });
    expect(await put('openai', { value: `${SECRET}-2` })).toMatchObject({
      status: 200,
      body: { createdAt: created.body.createdAt },
    });
    const { body } = await list();
    expect(body.secrets).toHaveLength(1);
    expect(JSON.stringify([created.body, body])).not.toContain('sk-');
    expect((await host.call('/host/example/byok/secrets/openai', { key: BYOK })).status).toBe(405);

    const removed = await host.call('/host/example/byok/secrets/openai', { method: 'DELETE', key: BYOK });
    expect(removed.status).toBe(204);
    expect((await host.call('/host/example/byok/secrets/openai', { method: 'DELETE', key: BYOK })).status).toBe(404);
    expect((await list()).body).toEqual({ secrets: [] });
  });

  test('is not readable in the database files or in the log', async () => {
    await put('at-rest', { value: SECRET });
    const files = ['svc.db', 'svc.db-wal'].map((name) => readFileSync(host.path(name), 'latin1'));
    expect(files.join('')).toContain('at-rest');
    expect(files.join('')).not.toContain(SECRET);
    expect(host.stderr().join('\n')).not.toContain(SECRET);
  });

  test('is rejected with 403 for a workspace outside the credential', async () => {
    expect(await put('elsewhere', { value: SECRET, workspace: 'acme-dev' })).toMatchObject({ status: 403 });
    expect(await list('?workspace=acme-dev')).toMatchObject({ status: 403 });
  });

  test('requires the scope byok:manage', async () => {
    expect(await put('openai', { value: SECRET }, KEY)).toMatchObject({
      status: 403,
      body: { error: 'forbidden', scopeRequired: 'byok:manage' },
    });
  });

  test.each([
    ['a name with a space', 'open%20ai', { value: SECRET }],
    ['a name with a parent path segment', '..%2Fopenai', { value: SECRET }],
    ['no value', 'openai', {}],
    ['a value with a line break', 'openai', { value: 'two\nlines' }],
    ['a value of more than 8 192 characters', 'openai', { value: 'x'.repeat(8193) }],
    ['an unknown field', 'openai', { value: SECRET, note: 'x' }],
  ])('is rejected with %s', async (_, name, body) => {
    const refused = await put(name, body);
    expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    expect(JSON.stringify(refused.body)).not.toContain(SECRET);
  });
});

test(covers('versioning.paths.vendor-advertised'), async () => {
  for (const major of ['1', '2']) {
    const { body } = await host.call('/.well-known/svc', { major });
    expect(body.extensions).toMatchObject({
      'example.webhooks': { path: '/host/example/webhooks' },
      'example.byok': { path: '/host/example/byok/secrets' },
    });
  }
});
