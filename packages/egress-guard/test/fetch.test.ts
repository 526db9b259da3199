import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { EgressError } from '../src/errors.ts';
import { type GuardedFetch, type GuardedFetchOptions, guardedFetch } from '../src/node/fetch.ts';
import { egressPolicy } from '../src/policy.ts';
import { Internet } from './internet.ts';

let internet: Internet;
let call: GuardedFetch;

beforeEach(() => {
  internet = new Internet();
  internet.names.set('hooks.example', ['9.9.9.1']);
  internet.names.set('other.example', ['9.9.9.1']);
});
afterEach(async () => {
  call?.close();
  await internet.close();
});

function guard(over: Partial<GuardedFetchOptions> = {}): void {
  call = guardedFetch({ ...internet.options(), ...over });
}

/** Returns the code and the reason of a failed call. */
async function failure(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  return error instanceof EgressError ? `${error.code}: ${error.reason}` : String(error);
}

describe('a call', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const)(
    '%s sends method, path, headers and body unchanged',
    async (method) => {
      const seen: unknown[] = [];
      const port = await internet.secure(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        seen.push(request.method, request.url, request.headers['x-a'], Buffer.concat(chunks).toString());
        response.writeHead(201, { 'x-b': ['1', '2'] }).end(method === 'HEAD' ? '' : 'answer ☃');
      });
      guard();
      const hasBody = !['GET', 'HEAD'].includes(method);
      const answer = await call(`https://hooks.example:${port}/path?q=1#fragment`, {
        method,
        headers: { 'X-A': 'a' },
        ...(hasBody && { body: 'ünïcödé' }),
      });
      expect(seen).toEqual([method, '/path?q=1', 'a', hasBody ? 'ünïcödé' : '']);
      expect([answer.status, answer.headers.get('x-b'), answer.url]).toEqual([
        201,
        '1, 2',
        `https://hooks.example:${port}/path?q=1#fragment`,
      ]);
      expect(await answer.text()).toBe(method === 'HEAD' ? '' : 'answer ☃');
    },
  );

  test.each([
    ['an unknown method', { method: 'CONNECT' as 'GET' }],
    ['a body of a GET request', { body: 'x' }],
    ['the host', { headers: { Host: 'x' } }],
    ['a coding', { headers: { 'Accept-Encoding': 'br' } }],
    ['a header with a line end', { headers: { 'x-a': 'b\r\nx-c: d' } }],
    ['an invalid header name', { headers: { 'x a': 'b' } }],
  ])('throws a TypeError for %s', async (_title, init) => {
    guard();
    await expect(call('https://hooks.example/', init)).rejects.toThrow(TypeError);
    expect(internet.resolved).toEqual([]);
  });
});

describe('refusals', () => {
  test.each([
    ['http://hooks.example/', 'url_rejected: scheme_not_https'],
    ['https://user:pw@hooks.example/', 'url_rejected: credentials_in_url'],
    ['https://169.254.169.254/latest/meta-data/', 'url_rejected: host_not_allowed'],
    ['https://[::ffff:a9fe:a9fe]/', 'url_rejected: host_not_allowed'],
    ['https://2130706433/', 'url_rejected: host_not_allowed'],
    ['https://metadata.google.internal/', 'url_rejected: host_not_allowed'],
    ['file:///etc/passwd', 'url_rejected: scheme_not_https'],
    ['https://inside.example/', 'destination_unavailable: private'],
    ['https://mixed.example/', 'destination_unavailable: link-local'],
    ['https://nowhere.example/', 'destination_unavailable: dns'],
    ['https://hooks.example:1/', 'destination_unavailable: connect'],
  ])('%s: %s', async (url, expected) => {
    internet.names.set('inside.example', ['10.0.0.1']);
    internet.names.set('mixed.example', ['9.9.9.1', '169.254.169.254']);
    guard();
    expect(await failure(call(url))).toBe(expected);
  });

  test('a denied name and one that does not resolve have the same public error', async () => {
    internet.names.set('inside.example', ['10.0.0.1']);
    guard();
    const shown = async (url: string) => {
      const error = await call(url).catch((error: unknown) => error);
      return JSON.stringify([String(error), { ...(error as object) }]);
    };
    expect(await shown('https://inside.example/')).toBe(await shown('https://nowhere.example/'));
    expect(await shown('https://inside.example/')).not.toContain('10.0.0.1');
  });
});

describe('redirects', () => {
  async function redirecting(
    location: (port: number) => string,
    status = 302,
  ): Promise<{ port: number; seen: unknown[] }> {
    const seen: unknown[] = [];
    const port: number = await internet.secure(async (request, response) => {
      const { authorization, cookie } = request.headers;
      seen.push([request.method, request.url, authorization, cookie, request.headers['content-type']]);
      request.resume();
      if (request.url === '/to') response.end('there');
      else response.writeHead(status, { location: location(port) }).end();
    });
    return { port, seen };
  }

  test(covers('webhooks.delivery.no-redirects'), async () => {
    const { port, seen } = await redirecting(() => '/to');
    guard();
    expect(await failure(call(`https://hooks.example:${port}/from`))).toBe('redirect_refused: redirect');
    expect(seen).toHaveLength(1);
    const answer = await call(`https://hooks.example:${port}/from`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/to']);
  });

  test('are followed one by one with redirect: follow', async () => {
    const { port, seen } = await redirecting(() => '/to');
    guard();
    const headers = { authorization: 'a', 'content-type': 'text/plain' };
    const answer = await call(`https://hooks.example:${port}/from`, {
      method: 'POST',
      body: 'x',
      headers,
      redirect: 'follow',
    });
    expect(await answer.text()).toBe('there');
    expect(answer.url).toBe(`https://hooks.example:${port}/to`);
    expect(seen).toEqual([
      ['POST', '/from', 'a', undefined, 'text/plain'],
      ['GET', '/to', 'a', undefined, undefined],
    ]);
    expect(internet.resolved).toHaveLength(2);
  });

  test.each([307, 308])('a %i keeps method and body', async (status) => {
    const { port, seen } = await redirecting(() => '/to', status);
    guard();
    await call(`https://hooks.example:${port}/from`, { method: 'POST', body: 'x', redirect: 'follow' });
    expect(seen).toEqual([
      ['POST', '/from', undefined, undefined, undefined],
      ['POST', '/to', undefined, undefined, undefined],
    ]);
  });

  test('do not carry credentials to another origin', async () => {
    const target = await internet.secure((request, response) => {
      response.end(JSON.stringify([request.headers.authorization, request.headers.cookie, request.headers['x-a']]));
    }, 'other');
    const { port } = await redirecting(() => `https://other.example:${target}/to`);
    guard();
    const headers = { Authorization: 'secret', Cookie: 'secret', 'x-a': 'a' };
    const answer = await call(`https://hooks.example:${port}/from`, { headers, redirect: 'follow' });
    expect(await answer.json()).toEqual([null, null, 'a']);
  });

  test.each([
    ['https://127.0.0.1/', 'url_rejected: host_not_allowed'],
    ['http://hooks.example/', 'url_rejected: scheme_not_https'],
    ['//169.254.169.254/', 'url_rejected: host_not_allowed'],
    ['https://inside.example/', 'destination_unavailable: private'],
    ['file:///etc/passwd', 'url_rejected: scheme_not_https'],
    ['https://[', 'url_rejected: malformed_url'],
  ])('a redirect to %s is judged like a new call', async (location, expected) => {
    internet.names.set('inside.example', ['10.0.0.1']);
    const { port } = await redirecting(() => location);
    guard();
    expect(await failure(call(`https://hooks.example:${port}/from`, { redirect: 'follow' }))).toBe(expected);
  });

  test('end after maxRedirects', async () => {
    const { port, seen } = await redirecting(() => '/again');
    guard({ maxRedirects: 3 });
    expect(await failure(call(`https://hooks.example:${port}/from`, { redirect: 'follow' }))).toBe(
      'redirect_refused: too-many-redirects',
    );
    expect(seen).toHaveLength(4);
  });
});

describe(covers('limits.http-client.defaults'), () => {
  const LIMIT = 10_485_760;

  test.each([
    ['that it announces', true],
    ['that it does not announce', false],
  ])('fails for a response over the limit %s', async (_title, announced) => {
    const port = await internet.secure((request, response) => {
      const size = request.url === '/more' ? LIMIT + 1 : LIMIT;
      if (announced) response.setHeader('content-length', size);
      response.end(Buffer.alloc(size));
    });
    guard();
    expect((await (await call(`https://hooks.example:${port}/`)).arrayBuffer()).byteLength).toBe(LIMIT);
    expect(await failure(call(`https://hooks.example:${port}/more`))).toBe('response_too_large: response-bytes');
  });

  test('ignores the content-length of a response to HEAD', async () => {
    const port = await internet.secure((_request, response) =>
      response.writeHead(200, { 'content-length': LIMIT * 2 }).end(),
    );
    guard();
    const answer = await call(`https://hooks.example:${port}/`, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(LIMIT * 2)]);
  });

  test('sets a deadline of 30 seconds', async () => {
    const { setTimeout: real } = globalThis;
    const waits: number[] = [];
    globalThis.setTimeout = ((callback: () => void, ms: number) => {
      waits.push(ms);
      return real(callback, ms);
    }) as typeof setTimeout;
    try {
      guard();
      await failure(call('https://127.0.0.1/'));
    } finally {
      globalThis.setTimeout = real;
    }
    expect(waits).toEqual([30_000]);
  });
});

describe('bounds of time', () => {
  test.each([
    ['a name that does not resolve', async () => 'https://silent.example/'],
    ['an answer that does not begin', async () => `https://hooks.example:${await internet.secure(() => {})}/`],
    [
      'a body that does not end',
      async () =>
        `https://hooks.example:${await internet.secure((_request, response) => {
          const timer = setInterval(() => response.write('x'), 10);
          response.on('close', () => clearInterval(timer));
        })}/`,
    ],
    [
      'TLS that does not begin',
      async () => `https://hooks.example:${await internet.raw((socket) => void socket.resume())}/`,
    ],
  ])('the deadline and the signal of the caller end %s', async (_title, open) => {
    const options = internet.options();
    const resolver = {
      resolve: (name: string, how: { signal: AbortSignal }) =>
        name === 'silent.example'
          ? new Promise<never>(() => {})
          : (options.resolver?.resolve(name, how) ?? Promise.reject(new Error())),
    };
    guard({ resolver, timeoutMs: 150 });
    const url = await open();
    expect(await failure(call(url))).toBe('timeout: deadline');
    guard({ resolver, timeoutMs: 10_000 });
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 60);
    expect(await failure(call(url, { signal: abort.signal }))).toBe('aborted: signal');
    expect(await failure(call(url, { signal: AbortSignal.abort() }))).toBe('aborted: signal');
    await internet.untilOpen(0);
  });
});

describe('compressed answers', () => {
  const text = 'a'.repeat(20_000);
  const CODINGS = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text) };

  async function serving(coding: string, bytes: Uint8Array): Promise<{ url: string; asked: (string | undefined)[] }> {
    const asked: (string | undefined)[] = [];
    const port = await internet.secure((request, response) => {
      asked.push(String(request.headers['accept-encoding']));
      response.writeHead(200, { 'content-encoding': coding }).end(bytes);
    });
    return { url: `https://hooks.example:${port}/`, asked };
  }

  test.each(Object.entries(CODINGS))('%s is an error without decompress', async (coding, bytes) => {
    const { url, asked } = await serving(coding, bytes);
    guard();
    expect(await failure(call(url))).toBe('response_encoded: content-encoding');
    const answer = await call(url, { decompress: true });
    expect([await answer.text(), answer.headers.get('content-encoding')]).toEqual([text, null]);
    expect(asked).toEqual(['identity', 'gzip, deflate, br']);
  });

  test.each(Object.entries(CODINGS))('decoding %s stops at the limit', async (coding, bytes) => {
    const { url } = await serving(coding, bytes);
    guard({ maxResponseBytes: 10_000 });
    expect(bytes.length).toBeLessThan(1000);
    expect(await failure(call(url, { decompress: true }))).toBe('response_too_large: decoded-bytes');
  });

  test.each(['gzip, gzip', 'zstd', 'compress', 'x'])('the encoding %s is an error', async (coding) => {
    const { url } = await serving(coding, CODINGS.gzip);
    guard();
    expect(await failure(call(url, { decompress: true }))).toBe('response_encoded: content-encoding');
  });

  test('invalid compressed data is a protocol error', async () => {
    const { url } = await serving('gzip', Buffer.from('not gzip'));
    guard();
    expect(await failure(call(url, { decompress: true }))).toBe('protocol_error: content-encoding');
  });
});

test('allowLoopback opens loopback, on its port only', async () => {
  const port = await internet.plain((_request, response) => response.end('local'));
  guard({ policy: egressPolicy({ allowLoopback: [port] }) });
  expect(await (await call(`http://localhost:${port}/`)).text()).toBe('local');
  expect(await failure(call(`http://127.0.0.1:${port + 1}/`))).toBe('url_rejected: port_not_allowed');
  expect(await failure(call('https://10.0.0.1/'))).toBe('url_rejected: host_not_allowed');
});
