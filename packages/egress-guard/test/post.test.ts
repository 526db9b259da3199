import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { covers } from '@svc/tools/covers';
import { afterEach, describe, expect, test } from 'vitest';
import { parseAddress } from '../src/address.ts';
import { egressPolicy } from '../src/index.ts';
import { DialError, dial } from '../src/node/connect.ts';
import { exchange } from '../src/node/exchange.ts';
import { guardedPost } from '../src/node/post.ts';

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
const loopback = parseAddress('127.0.0.1') ?? new Uint8Array(4);
const open = egressPolicy({ allowLoopback: true });
const body = new TextEncoder().encode('{"a":1}');

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
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
  test('a POST arrives as it was given, over a connection that is closed after', async () => {
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
    expect(await post({ url, headers: { 'x-a': 'b' }, body, timeoutMs: 2000 })).toMatchObject({
      kind: 'answered',
      status: 204,
    });
    expect(seen).toEqual([['POST', '/hook?q=1', `127.0.0.1:${port}`, 'b', '{"a":1}']]);
    expect(await post({ url: `http://localhost:${port}/`, headers: {}, body, timeoutMs: 2000 })).toMatchObject({
      status: 204,
    });
  });

  test('a redirect is the answer, and its target is never called', async () => {
    const called: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      called.push(request.url);
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const verdict = await guardedPost({ policy: open })({
      url: `http://127.0.0.1:${port}/`,
      headers: {},
      body,
      timeoutMs: 2000,
    });
    expect(verdict).toMatchObject({ kind: 'answered', status: 302 });
    expect(called).toEqual(['/']);
  });

  test('Retry-After is passed on', async () => {
    const port = await serve((_, response) => response.writeHead(503, { 'retry-after': '7' }).end());
    const verdict = await guardedPost({ policy: open })({
      url: `http://127.0.0.1:${port}/`,
      headers: {},
      body,
      timeoutMs: 2000,
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
      timeoutMs: 2000,
    });
    expect(verdict).toMatchObject({ kind: 'denied', reason });
    expect(resolver.asked).toEqual(['hooks.example']);
  });

  test('a public name that resolves to this machine is denied, even where localhost is open', async () => {
    const post = guardedPost({ policy: open, resolver: resolving('127.0.0.9') });
    expect(await post({ url: 'https://hooks.example/', headers: {}, body, timeoutMs: 2000 })).toMatchObject({
      kind: 'denied',
      reason: 'loopback',
    });
  });

  test('every attempt resolves anew', async () => {
    const resolver = resolving('10.0.0.1');
    const post = guardedPost({ policy: egressPolicy(), resolver });
    for (let attempt = 0; attempt < 3; attempt++)
      await post({ url: 'https://hooks.example/', headers: {}, body, timeoutMs: 2000 });
    expect(resolver.asked.length).toBe(3);
  });

  test('a URL that the guard would not register is not called either', async () => {
    const verdict = await guardedPost({ policy: egressPolicy() })({
      url: 'http://127.0.0.1/',
      headers: {},
      body,
      timeoutMs: 2000,
    });
    expect(verdict).toMatchObject({ kind: 'denied', reason: 'scheme_not_https' });
  });
});

describe('TLS', () => {
  async function secureServer(): Promise<number> {
    const server = createSecureServer({ key: fixture('server.key'), cert: fixture('server.pem') }, (_, response) =>
      response.end('ok'),
    );
    return listen(server);
  }
  const dialling = (port: number, hostname: string, ca: readonly string[] | undefined) =>
    dial({ protocol: 'https:', hostname, port, addresses: [loopback], ca, signal: AbortSignal.timeout(2000) });

  test('a certificate for the host name, by a trusted authority, is taken', async () => {
    const port = await secureServer();
    const socket = await dialling(port, 'hooks.example', [fixture('ca.pem')]);
    const request = { origin: `https://hooks.example:${port}`, path: '/', headers: {}, body, maxResponseBytes: 10 };
    expect(await exchange(socket, { ...request, signal: AbortSignal.timeout(2000) })).toMatchObject({ status: 200 });
  });

  test.each([
    ['for another name', 'other.example', true],
    ['for an address it does not name', '127.0.0.1', true],
    ['by an unknown authority', 'hooks.example', false],
  ])('a certificate %s is refused', async (_title, hostname, trusted) => {
    const port = await secureServer();
    const attempt = dialling(port, hostname, trusted ? [fixture('ca.pem')] : undefined);
    await expect(attempt).rejects.toSatisfy((error) => error instanceof DialError && error.stage === 'tls');
  });

  test('the next checked address is tried when one does not answer', async () => {
    const port = await secureServer();
    const nobody = parseAddress('127.0.0.9') ?? loopback;
    const options = { hostname: 'hooks.example', port, ca: [fixture('ca.pem')], signal: AbortSignal.timeout(2000) };
    const socket = await dial({ protocol: 'https:', addresses: [nobody, loopback], ...options });
    expect(socket.remoteAddress).toBe('127.0.0.1');
    socket.destroy();
  });
});

describe('bounds', () => {
  /** Speaks raw bytes, to do what no HTTP server would. */
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
    '%s ends with the deadline',
    async (_title, talk) => {
      const started = performance.now();
      const verdict = await guardedPost({ policy: open })({
        url: await speaking(talk),
        headers: {},
        body,
        timeoutMs: 300,
      });
      expect(verdict.kind).toBe('failed');
      expect(performance.now() - started).toBeLessThan(1500);
    },
  );

  test('huge headers end the exchange', async () => {
    const url = await speaking((write) => {
      write(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`);
      return undefined;
    });
    expect(await guardedPost({ policy: open })({ url, headers: {}, body, timeoutMs: 2000 })).toMatchObject({
      kind: 'failed',
      reason: 'protocol',
    });
  });

  test('a long body is left, and its status is the verdict', async () => {
    const port = await serve((_, response) => response.end('x'.repeat(1_000_000)));
    const post = guardedPost({ policy: open, maxResponseBytes: 1000 });
    expect(await post({ url: `http://127.0.0.1:${port}/`, headers: {}, body, timeoutMs: 2000 })).toMatchObject({
      kind: 'answered',
      status: 200,
    });
  });

  test('a resolver that never answers ends with the deadline', async () => {
    const post = guardedPost({ policy: open, resolver: { resolve: () => new Promise(() => {}) } });
    expect(await post({ url: 'https://hooks.example/', headers: {}, body, timeoutMs: 100 })).toMatchObject({
      kind: 'failed',
      reason: 'timeout',
    });
  });

  test('an abort ends the attempt at once', async () => {
    const abort = new AbortController();
    const url = await speaking(() => undefined);
    setTimeout(() => abort.abort(), 50);
    const verdict = await guardedPost({ policy: open })({
      url,
      headers: {},
      body,
      timeoutMs: 5000,
      signal: abort.signal,
    });
    expect(verdict).toMatchObject({ kind: 'failed', reason: 'aborted' });
  });

  test('nothing is left behind: neither sockets nor timers', async () => {
    const port = await serve((_, response) => response.end());
    const post = guardedPost({ policy: open });
    const count = () =>
      process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap' || name === 'Timeout').length;
    const before = count();
    await Promise.all(
      Array.from({ length: 20 }, () => post({ url: `http://127.0.0.1:${port}/`, headers: {}, body, timeoutMs: 2000 })),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(count()).toBeLessThanOrEqual(before + 1);
  });

  test.each(['Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Proxy-Authorization'])(
    '%s is the guard’s to set',
    async (name) => {
      const post = guardedPost({ policy: open });
      await expect(
        post({ url: 'https://example.com/', headers: { [name]: 'x' }, body, timeoutMs: 100 }),
      ).rejects.toThrow(TypeError);
    },
  );
});
