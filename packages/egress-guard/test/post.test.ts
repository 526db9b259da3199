import { execFile } from 'node:child_process';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, Socket } from 'node:net';
import { execPath } from 'node:process';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { egressPolicy } from '../src/index.ts';
import type { Network } from '../src/node/network.ts';
import { guardedPost } from '../src/node/post.ts';
import { fixture, Internet } from './internet.ts';

const open = egressPolicy({ allowLoopback: true });
const body = new TextEncoder().encode('{"a":1}');

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function listen(server: Server): Promise<number> {
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener) => listen(createServer(listener));

function resolving(...answers: string[]) {
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return answers;
  };
  return { asked, resolve };
}

describe(covers('webhooks.delivery.no-redirects', 'webhooks.delivery.pinned-address'), () => {
  test('sends path, headers and body unchanged', async () => {
    const seen: unknown[] = [];
    const port = await serve(async (request, response) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      seen.push([
        request.method,
        request.url,
        request.headers.host,
        request.headers['x-a'],
        Buffer.concat(chunks).toString(),
      ]);
      response.writeHead(204).end();
    });
    const post = guardedPost({ policy: open });
    const url = `http://127.0.0.1:${port}/hook?q=1`;
    for (const sent of [body, '{"a":1}', '{"a":"é"}']) {
      expect(await post({ url, headers: { 'x-a': 'b' }, body: sent, timeoutMs: 20_000 })).toMatchObject({
        kind: 'answered',
        status: 204,
      });
    }
    const arrived = ['POST', '/hook?q=1', `127.0.0.1:${port}`, 'b'];
    expect(seen).toEqual([
      [...arrived, '{"a":1}'],
      [...arrived, '{"a":1}'],
      [...arrived, '{"a":"é"}'],
    ]);
    expect(await post({ url: `http://localhost:${port}/`, headers: {}, body, timeoutMs: 20_000 })).toMatchObject({
      status: 204,
    });
  });

  test('returns a redirect without calling its target', async () => {
    const called: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      called.push(request.url);
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const verdict = await guardedPost({ policy: open })({
      url: `http://127.0.0.1:${port}/`,
      headers: {},
      body,
      timeoutMs: 20_000,
    });
    expect(verdict).toMatchObject({ kind: 'answered', status: 302 });
    expect(called).toEqual(['/']);
  });

  test('returns Retry-After', async () => {
    const port = await serve((_, response) => response.writeHead(503, { 'retry-after': '7' }).end());
    const verdict = await guardedPost({ policy: open })({
      url: `http://127.0.0.1:${port}/`,
      headers: {},
      body,
      timeoutMs: 20_000,
    });
    expect(verdict).toMatchObject({ status: 503, retryAfter: '7' });
  });
});

describe(covers('webhooks.delivery.resolve-each-attempt', 'webhooks.delivery.same-ranges'), () => {
  test.each([
    [['10.0.0.1'], 'private'],
    [['8.8.8.8', '::1'], 'loopback'],
    [['::ffff:169.254.169.254'], 'link-local'],
    [[], 'no-address'],
  ])('a name that resolves to %j is denied', async (answers, reason) => {
    const resolver = resolving(...answers);
    const verdict = await guardedPost({ policy: egressPolicy(), resolver })({
      url: 'https://hooks.example/',
      headers: {},
      body,
      timeoutMs: 20_000,
    });
    expect(verdict).toMatchObject({ kind: 'denied', reason });
    expect(resolver.asked).toEqual(['hooks.example']);
  });

  test('a public name that resolves to this machine is denied although localhost is open', async () => {
    const post = guardedPost({ policy: open, resolver: resolving('127.0.0.9') });
    expect(await post({ url: 'https://hooks.example/', headers: {}, body, timeoutMs: 20_000 })).toMatchObject({
      kind: 'denied',
      reason: 'loopback',
    });
  });

  test('every attempt resolves anew', async () => {
    const resolver = resolving('10.0.0.1');
    const post = guardedPost({ policy: egressPolicy(), resolver });
    for (let attempt = 0; attempt < 3; attempt++)
      await post({ url: 'https://hooks.example/', headers: {}, body, timeoutMs: 20_000 });
    expect(resolver.asked.length).toBe(3);
  });

  test('a URL that checkUrl rejects is denied', async () => {
    const verdict = await guardedPost({ policy: egressPolicy() })({
      url: 'http://127.0.0.1/',
      headers: {},
      body,
      timeoutMs: 20_000,
    });
    expect(verdict).toMatchObject({ kind: 'denied', reason: 'scheme_not_https' });
  });
});

describe('TLS', () => {
  let internet: Internet;
  beforeEach(() => {
    internet = new Internet();
    closers.push(() => internet.close());
  });

  test('accepts a certificate of a trusted authority for the host name, over HTTP/1.1', async () => {
    const seen: unknown[] = [];
    const port = await internet.secure(({ socket, headers }, response) => {
      const { servername, alpnProtocol } = socket as TLSSocket & { servername: string };
      seen.push(servername, alpnProtocol, headers.host);
      response.end();
    });
    internet.names.set('hooks.example', ['9.9.9.1']);
    const post = guardedPost(internet.options());
    expect(await post({ url: `https://hooks.example:${port}/`, headers: {}, body, timeoutMs: 20_000 })).toMatchObject({
      status: 200,
    });
    expect(seen).toEqual(['hooks.example', 'http/1.1', `hooks.example:${port}`]);
    post.close();
  });

  test.each([
    ['for another name', 'other.example', ['ca.pem'], {}],
    ['for an address that it does not name', '9.9.9.1', ['ca.pem'], {}],
    ['by an unknown authority', 'hooks.example', [], {}],
    [
      'over an old TLS',
      'hooks.example',
      ['ca.pem'],
      { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    ],
  ] as const)('rejects a certificate %s', async (_title, host, authorities, server) => {
    const port = await internet.secure((_request, response) => response.end(), 'hooks', {}, { ...server });
    for (const name of ['hooks.example', 'other.example']) internet.names.set(name, ['9.9.9.1']);
    const post = guardedPost(
      internet.options({ policy: egressPolicy({ ca: authorities.map((name) => fixture(name)) }) }),
    );
    expect(await post({ url: `https://${host}:${port}/`, headers: {}, body, timeoutMs: 20_000 })).toMatchObject({
      kind: 'failed',
      reason: 'tls',
    });
  });

  test('tries the next address after a failed connection, but not after a bad certificate', async () => {
    const port = await internet.secure((_request, response) => response.end(), 'hooks', { address: '127.0.0.2' });
    await internet.secure((_request, response) => response.end(), 'other', { address: '127.0.0.3', port });
    const post = guardedPost(internet.options());
    const url = `https://hooks.example:${port}/`;
    internet.names.set('hooks.example', ['9.9.9.9', '9.9.9.2']);
    expect(await post({ url, headers: {}, body, timeoutMs: 20_000 })).toMatchObject({ status: 200 });
    expect(internet.dialled).toEqual(['9.9.9.9', '9.9.9.2']);
    post.close();
    internet.names.set('hooks.example', ['9.9.9.3', '9.9.9.2']);
    const again = guardedPost(internet.options());
    expect(await again({ url, headers: {}, body, timeoutMs: 20_000 })).toMatchObject({ kind: 'failed', reason: 'tls' });
    expect(internet.dialled.slice(2)).toEqual(['9.9.9.3']);
    again.close();
  });

  test('tries the next address before the deadline when one does not answer', async () => {
    const port = await internet.secure((_request, response) => response.end(), 'hooks', { address: '127.0.0.2' });
    internet.names.set('hooks.example', ['9.9.9.1', '9.9.9.2']);
    const options = internet.options();
    // A socket that never connects, as on a network that drops packets.
    const silent = {
      ...options.network,
      connect: (address: string, to: number) =>
        address === '9.9.9.1' ? new Socket() : options.network?.connect(address, to),
    };
    const post = guardedPost({ ...options, network: silent as Network });
    expect(await post({ url: `https://hooks.example:${port}/`, headers: {}, body, timeoutMs: 20_000 })).toMatchObject({
      status: 200,
    });
    post.close();
  });

  test('closes a connection whose peer is not the dialled address', async () => {
    const port = await internet.secure((_request, response) => response.end());
    internet.names.set('hooks.example', ['9.9.9.1']);
    const options = internet.options();
    const network = { ...options.network, peerOf: () => '10.0.0.1' } as Network;
    const post = guardedPost({ ...options, network });
    expect(await post({ url: `https://hooks.example:${port}/`, headers: {}, body, timeoutMs: 20_000 })).toMatchObject({
      kind: 'failed',
      reason: 'connect',
    });
    expect(internet.open).toBe(0);
  });

  test('ignores a proxy of the environment', async () => {
    let asked = 0;
    const proxy = await internet.plain((_request, response) => {
      asked += 1;
      response.end();
    });
    const port = await internet.secure((_request, response) => response.end());
    internet.names.set('hooks.example', ['9.9.9.1']);
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) vi.stubEnv(name, `http://127.0.0.1:${proxy}`);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    const post = guardedPost(internet.options());
    expect(await post({ url: `https://hooks.example:${port}/`, headers: {}, body, timeoutMs: 20_000 })).toMatchObject({
      status: 200,
    });
    expect(asked).toBe(0);
    post.close();
    vi.unstubAllEnvs();
  });
});

describe('bounds', () => {
  /** Starts a server of raw bytes, which can break HTTP. */
  async function speaking(talk: (write: (text: string) => void) => NodeJS.Timeout | undefined): Promise<string> {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      const timer = talk((text) => void socket.write(text));
      socket.on('close', () => clearInterval(timer));
      closers.push(() => socket.destroy());
    });
    closers.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  test.each([
    ['silence', () => undefined],
    ['dripped headers', (write) => setInterval(() => write('H'), 20)],
    ['endless 1xx', (write) => setInterval(() => write('HTTP/1.1 103 Early Hints\r\n\r\n'), 20)],
    [
      'an endless body',
      (write) => {
        write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
        return setInterval(() => write('x'), 20);
      },
    ],
  ] as [string, (write: (text: string) => void) => NodeJS.Timeout | undefined][])(
    'the deadline ends %s',
    async (_title, talk) => {
      const verdict = await guardedPost({ policy: open })({
        url: await speaking(talk),
        headers: {},
        body,
        timeoutMs: 300,
      });
      expect(verdict.kind).toBe('failed');
    },
  );

  test('fails for huge headers', async () => {
    const url = await speaking((write) => {
      write(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`);
      return undefined;
    });
    expect(await guardedPost({ policy: open })({ url, headers: {}, body, timeoutMs: 20_000 })).toMatchObject({
      kind: 'failed',
      reason: 'protocol',
    });
  });

  test('returns the status of a response whose body exceeds the limit', async () => {
    const port = await serve((_, response) => response.end('x'.repeat(1_000_000)));
    const post = guardedPost({ policy: open, maxResponseBytes: 1000 });
    expect(await post({ url: `http://127.0.0.1:${port}/`, headers: {}, body, timeoutMs: 20_000 })).toMatchObject({
      kind: 'answered',
      status: 200,
    });
  });

  test.each([
    ['no body', '', 8, ''],
    ['a body of exactly keepBodyBytes', 'x'.repeat(8), 8, 'x'.repeat(8)],
    ['a body longer than keepBodyBytes', 'x'.repeat(9), 8, undefined],
    ['a body without keepBodyBytes', 'x', undefined, undefined],
  ])('%s', async (_title, text, keepBodyBytes, kept) => {
    for (const chunked of [true, false]) {
      const port = await serve((_, response) => {
        if (!chunked) response.setHeader('content-length', text.length);
        else response.flushHeaders();
        response.end(text);
      });
      const asked = keepBodyBytes === undefined ? {} : { keepBodyBytes };
      const request = { url: `http://127.0.0.1:${port}/`, headers: {}, body, timeoutMs: 20_000, ...asked };
      const verdict = await guardedPost({ policy: open })(request);
      if (verdict.kind !== 'answered') throw new Error(verdict.reason);
      expect(verdict.status).toBe(200);
      expect(verdict.body && new TextDecoder().decode(verdict.body)).toBe(kept);
    }
  });

  test.each<[string, number, string, object | undefined]>([
    ['a short answer', 500, 'oops', { body: 'oops', isCut: false }],
    ['an answer of exactly keepFailureBytes', 404, 'x'.repeat(8), { body: 'x'.repeat(8), isCut: false }],
    ['a longer answer', 404, 'x'.repeat(9), { body: 'x'.repeat(8), isCut: true }],
    ['an answer beyond maxResponseBytes', 503, 'x'.repeat(1_000_000), { body: 'x'.repeat(8), isCut: true }],
    ['a redirect', 302, 'moved', { body: 'moved', isCut: false }],
    ['a success', 201, 'fine', undefined],
  ])('keepFailureBytes keeps the beginning of a failure: %s', async (_title, status, text, kept) => {
    for (const chunked of [true, false]) {
      const port = await serve((_, response) => {
        response.statusCode = status;
        response.setHeader('X-Request-Id', 'one');
        if (!chunked) response.setHeader('content-length', text.length);
        else response.flushHeaders();
        response.end(text);
      });
      const post = guardedPost({ policy: open, maxResponseBytes: 1000 });
      const url = `http://127.0.0.1:${port}/`;
      const verdict = await post({ url, headers: {}, body, timeoutMs: 20_000, keepFailureBytes: 8 });
      if (verdict.kind !== 'answered') throw new Error(verdict.reason);
      expect(verdict.status).toBe(status);
      const { failure } = verdict;
      expect(failure && { body: new TextDecoder().decode(failure.body), isCut: failure.isCut }).toEqual(kept);
      expect(failure?.headers['x-request-id']).toBe(kept && 'one');
      expect(verdict.body).toBeUndefined();
    }
  });

  test('the deadline ends a resolution', async () => {
    const post = guardedPost({ policy: open, resolver: { resolve: () => new Promise(() => {}) } });
    expect(await post({ url: 'https://hooks.example/', headers: {}, body, timeoutMs: 100 })).toMatchObject({
      kind: 'failed',
      reason: 'timeout',
    });
  });

  test('an abort ends the request', async () => {
    const abort = new AbortController();
    const url = await speaking(() => {
      abort.abort();
      return undefined;
    });
    const verdict = await guardedPost({ policy: open })({
      url,
      headers: {},
      body,
      timeoutMs: 600_000,
      signal: abort.signal,
    });
    expect(verdict).toMatchObject({ kind: 'failed', reason: 'aborted' });
  });

  test('leaves no socket and no timer behind', async () => {
    const port = await serve((_, response) => response.end());
    // In a process of its own, which has no sockets and timers of others.
    const args = [
      '--conditions=@svc/source',
      fileURLToPath(new URL('./posts-then-close.ts', import.meta.url)),
      String(port),
    ];
    const { stdout } = await promisify(execFile)(execPath, args, { timeout: 60_000 });
    expect(stdout.trim().split(' ')).toEqual(Array(20).fill('answered'));
  });

  test.each(['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Proxy-Authorization'])(
    'throws a TypeError for the header %s',
    async (name) => {
      const post = guardedPost({ policy: open });
      await expect(
        post({ url: 'https://example.com/', headers: { [name]: 'x' }, body, timeoutMs: 100 }),
      ).rejects.toThrow(TypeError);
    },
  );
});

describe('onPhase', () => {
  const phasesOf = async (post: ReturnType<typeof guardedPost>, url: string) => {
    const phases: string[] = [];
    const verdict = await post({ url, headers: {}, body, timeoutMs: 2000, onPhase: (phase) => phases.push(phase) });
    return { kind: verdict.kind, phases };
  };

  test('tells each phase as it begins; a kept connection is not opened again', async () => {
    const port = await serve((_request, response) => response.writeHead(204).end());
    const post = guardedPost({ policy: open });
    closers.push(() => post.close());
    const url = `http://127.0.0.1:${port}/`;
    const first = await phasesOf(post, url);
    expect(first).toEqual({ kind: 'answered', phases: ['resolve', 'connect', 'request', 'response'] });
    expect((await phasesOf(post, url)).phases).toEqual(['resolve', 'request', 'response']);
  });

  test('ends with the phase in which the request failed', async () => {
    const post = guardedPost({ policy: open, resolver: resolving('203.0.113.9') });
    const denied = await phasesOf(post, 'https://internal.example/');
    expect(denied).toEqual({ kind: 'denied', phases: ['resolve'] });
    const port = await listen(createServer());
    const server = createTcpServer((socket) => socket.destroy());
    closers.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const broken = await phasesOf(guardedPost({ policy: open }), `https://localhost:${port}/`);
    expect(broken).toEqual({ kind: 'failed', phases: ['resolve', 'connect', 'tls'] });
    const closed = await phasesOf(
      guardedPost({ policy: open }),
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    );
    expect(closed).toEqual({ kind: 'failed', phases: ['resolve', 'connect', 'request'] });
  });
});
