import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningHost, scratch } from './booted-host.ts';
import { bootInProcess } from './host-in-process.ts';

const KEY = 'operator_brought_key_of_enough_characters';

const folder = scratch();
let host: RunningHost;
let without: RunningHost;

const configuration = (name: string) => ({
  listen: { port: 0 },
  store: `sqlite:${folder.path(`${name}.db`)}`,
  tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
  apiKeys: [
    { id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['*'], principal: 'p_1', scopes: ['webhooks:manage'] },
  ],
});

beforeAll(async () => {
  [host, without] = await Promise.all([
    bootInProcess(folder.path('with.json'), { ...configuration('with'), console: { path: '/ops' } }),
    bootInProcess(folder.path('without.json'), configuration('without')),
  ]);
});

afterAll(async () => {
  for (const each of [host, without]) {
    await each.end();
  }
  folder.remove();
});

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(host.url + path, { headers, redirect: 'manual' });

describe(covers('console.page.same-for-all'), () => {
  test('the page and its files are the same with and without a credential, and set no cookie', async () => {
    const page = await get('/ops/');
    const html = await page.text();
    const files = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, file = '']) => `/ops/${file}`);
    expect(files.length).toBeGreaterThan(0);
    for (const path of ['/ops/', ...files]) {
      const anonymous = await get(path);
      const known = await get(path, { authorization: `Bearer ${KEY}`, cookie: 'session=1' });
      expect([anonymous.status, known.status]).toEqual([200, 200]);
      expect([known.headers.get('set-cookie'), known.headers.get('svc-version')]).toEqual([null, null]);
      expect(await known.text()).toBe(await anonymous.text());
    }
    expect(html).not.toContain('acme');
  });
});

describe(covers('console.page.policy'), () => {
  test('the page allows its own origin alone, and no framing', async () => {
    const policy = (await get('/ops/')).headers.get('content-security-policy');
    const directives = new Map(
      policy?.split('; ').map((directive): [string, string] => {
        const [name = '', ...sources] = directive.split(' ');
        return [name, sources.join(' ')];
      }),
    );
    expect(Object.fromEntries(directives)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self'",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    });
  });
});

describe(covers('console.page.switched-on'), () => {
  test('a host serves the page at its configured path, and every other path as before', async () => {
    expect((await get('/ops')).headers.get('location')).toBe('/ops/');
    expect((await get('/console/')).status).toBe(404);
    expect((await get('/.well-known/svc')).status).toBe(200);
    expect((await get('/host/example/status', { authorization: `Bearer ${KEY}` })).status).toBe(200);
    expect((await fetch(`${without.url}/ops/`)).status).toBe(404);
    expect((await fetch(`${without.url}/console/`)).status).toBe(404);
  });

  test('a file is compressed as the client accepts, and HEAD has no body', async () => {
    const headers = { 'accept-encoding': 'br' };
    const response = await fetch(`${host.url}/ops/`, { method: 'HEAD', headers });
    expect(response.headers.get('content-encoding')).toBe('br');
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100);
    expect((await fetch(`${host.url}/ops/`, { method: 'POST' })).status).toBe(405);
  });
});
