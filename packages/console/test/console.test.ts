import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { createConsole } from '../src/console.ts';

const page = createConsole();

async function get(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Response> {
  const response = await page.fetch(new Request(`https://host.example${path}`, { method, headers }));
  if (response === undefined) throw new Error(`${path} is not answered.`);
  return response;
}

/** The paths of the files that the page names. */
async function files(): Promise<string[]> {
  const html = await (await get('/console/')).text();
  return [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path = '']) => `/console/${path}`);
}

describe('the page', () => {
  test('is answered with a policy that allows its own files alone', async () => {
    const response = await get('/console/');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(response.status).toBe(200);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
    });
    expect(await response.text()).not.toMatch(/<script(?![^>]*src=)|style=|\son\w+=/);
  });

  test('names files that are answered, and may be stored for ever', async () => {
    const paths = await files();
    expect(paths).toHaveLength(4);
    for (const path of paths) {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
  });

  test('is the same for every caller: a credential changes nothing, and no cookie is set', async () => {
    const anonymous = await get('/console/');
    const known = await get('/console/', { authorization: 'Bearer some-key', cookie: 'session=1' });
    expect(await known.text()).toBe(await anonymous.text());
    expect(known.headers.get('set-cookie')).toBeNull();
    expect(known.headers.get('vary')).toBe('Accept-Encoding');
  });
});

describe('the coding', () => {
  test.each([
    ['br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['gzip, deflate, br;q=0', 'gzip', gunzipSync],
    ['*', 'br', brotliDecompressSync],
  ] as const)('for %s is %s, with the same content', async (accepted, coding, decompress) => {
    const [script = ''] = (await files()).filter((path) => path.endsWith('.js'));
    const plain = await (await get(script)).text();
    const response = await get(script, { 'accept-encoding': accepted });
    expect(response.headers.get('content-encoding')).toBe(coding);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(decompress(bytes).toString()).toBe(plain);
  });

  test.each(['identity', '', 'br;q=0, gzip;q=0'])('for "%s" is none', async (accepted) => {
    const response = await get('/console/', { 'accept-encoding': accepted });
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(await response.text()).toContain('<!doctype html>');
  });
});

describe('a request', () => {
  test.each(['br', 'gzip', 'identity'])(
    'for a file in %s decodes nothing that an earlier one has decoded',
    async (coding) => {
      const headers = { 'accept-encoding': coding };
      const first = await (await get('/console/', headers)).arrayBuffer();
      const decode = vi.spyOn(globalThis, 'atob');
      const second = await (await get('/console/', headers)).arrayBuffer();
      expect(decode).not.toHaveBeenCalled();
      decode.mockRestore();
      expect(Buffer.from(second).equals(Buffer.from(first))).toBe(true);
    },
  );

  test('with the entity tag of its coding is answered 304, and with that of another one 200', async () => {
    const gzip = { 'accept-encoding': 'gzip' };
    const etag = (await get('/console/', gzip)).headers.get('etag') ?? '';
    expect((await get('/console/', { ...gzip, 'if-none-match': etag })).status).toBe(304);
    for (const condition of [`W/${etag}`, `"another", W/${etag}`, '*'])
      expect((await get('/console/', { ...gzip, 'if-none-match': condition })).status).toBe(304);
    expect((await get('/console/', { 'accept-encoding': 'br', 'if-none-match': etag })).status).toBe(200);
  });

  test('for the path without its slash is redirected', async () => {
    const response = await get('/console');
    expect([response.status, response.headers.get('location')]).toEqual([308, '/console/']);
  });

  test('for another file is answered 404, and with another method 405', async () => {
    expect((await get('/console/../etc/passwd'.replace('..', '%2e%2e%2f'))).status).toBe(404);
    expect((await get('/console/none.js')).status).toBe(404);
    const refused = await get('/console/', {}, 'POST');
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('HEAD has the headers of GET and no body', async () => {
    const response = await get('/console/', { 'accept-encoding': 'br' }, 'HEAD');
    expect(response.headers.get('content-length')).toBe(
      (await get('/console/', { 'accept-encoding': 'br' })).headers.get('content-length'),
    );
    expect(await response.text()).toBe('');
  });

  test.each(['/', '/consoles', '/v1/runs', '/host/example/console'])('for %s is left to the host', async (path) => {
    expect(await page.fetch(new Request(`https://host.example${path}`))).toBeUndefined();
  });
});

describe('createConsole', () => {
  test('serves the page at the path of its options', async () => {
    const { path, fetch } = createConsole({ path: '/ops/console' });
    expect(path).toBe('/ops/console');
    expect((await fetch(new Request('https://host.example/ops/console/')))?.status).toBe(200);
    expect(await fetch(new Request('https://host.example/console/'))).toBeUndefined();
  });

  test.each(['', 'console', '/console/', '/a b', '/../x', '/a//b'])('refuses the path "%s"', (path) => {
    expect(() => createConsole({ path })).toThrow('createConsole: path must be segments');
  });

  test('refuses an unknown option', () => {
    const options: object = { paht: '/console' };
    expect(() => createConsole(options)).toThrow('createConsole: paht is no option. Pass path alone.');
  });
});
