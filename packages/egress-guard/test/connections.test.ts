import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { covers } from '@svc/tools/covers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type GuardedPost, type GuardedPostOptions, guardedPost, type PostVerdict } from '../src/node/post.ts';
import { egressPolicy } from '../src/policy.ts';
import { Internet } from './internet.ts';

let internet: Internet;
let post: GuardedPost;
const body = new TextEncoder().encode('{}');

beforeEach(() => {
  internet = new Internet();
});
afterEach(async () => {
  post.close();
  await internet.close();
});

function guard(over: Partial<GuardedPostOptions> = {}): void {
  post = guardedPost({ ...internet.options(), ...over });
}

function call(url: string, timeoutMs = 20_000): Promise<PostVerdict> {
  return post({ url, headers: {}, body, timeoutMs });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const answer204 = (_request: unknown, response: { writeHead(status: number): { end(): void } }) =>
  response.writeHead(204).end();

describe('a connection is kept, and serves what was validated anew', () => {
  test(covers('webhooks.delivery.resolve-each-attempt', 'webhooks.delivery.pinned-address'), async () => {
    const port = await internet.secure(answer204);
    internet.names.set('hooks.example', ['9.9.9.1']);
    guard();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ kind: 'answered', status: 204 });
    }
    expect(internet.resolved).toEqual(['hooks.example', 'hooks.example', 'hooks.example']);
    expect(internet.dialled).toEqual(['9.9.9.1']);
    expect(post.connections).toEqual({ idle: 1, busy: 0 });
  });

  test('rebinding between two deliveries: the kept connection does not excuse a denied answer', async () => {
    const port = await internet.secure(answer204);
    const answers = [['9.9.9.1'], ['9.9.9.1', '169.254.169.254'], ['127.0.0.1'], []];
    internet.names.set('hooks.example', () => answers.shift() ?? []);
    guard();
    const url = `https://hooks.example:${port}/`;
    expect(await call(url)).toMatchObject({ kind: 'answered' });
    expect(await call(url)).toMatchObject({ kind: 'denied', reason: 'link-local' });
    expect(await call(url)).toMatchObject({ kind: 'denied', reason: 'loopback' });
    expect(await call(url)).toMatchObject({ kind: 'denied', reason: 'no-address' });
    expect(internet.dialled).toEqual(['9.9.9.1']);
  });

  test('an address that leaves the set: its connection is destroyed, and another one dialled', async () => {
    const port = await internet.secure(answer204);
    await internet.secure(answer204, 'hooks', { address: '127.0.0.2', port });
    const answers = [['9.9.9.1'], ['9.9.9.2']];
    internet.names.set('hooks.example', () => answers.shift() ?? []);
    guard();
    await call(`https://hooks.example:${port}/`);
    await call(`https://hooks.example:${port}/`);
    expect(internet.dialled).toEqual(['9.9.9.1', '9.9.9.2']);
    await vi.waitFor(() => expect(internet.sockets[0]?.destroyed).toBe(true), { timeout: 8000 });
    expect(post.connections).toEqual({ idle: 1, busy: 0 });
  });

  test('another name on the same address has a connection, and a certificate check, of its own', async () => {
    const seen: (string | undefined)[] = [];
    const port = await internet.secure((request, response) => {
      seen.push(request.headers.host);
      answer204(request, response);
    });
    internet.names.set('hooks.example', ['9.9.9.1']);
    internet.names.set('other.example', ['9.9.9.1']);
    guard();
    expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ kind: 'answered' });
    expect(await call(`https://other.example:${port}/`)).toMatchObject({ kind: 'failed', reason: 'tls' });
    expect(seen).toEqual([`hooks.example:${port}`]);
    expect(internet.dialled).toEqual(['9.9.9.1', '9.9.9.1']);
  });

  test('no TLS session is resumed, so a server with shared ticket keys and another certificate is found out', async () => {
    const ticketKeys = Buffer.alloc(48, 7);
    const resumed: boolean[] = [];
    const listener = (request: { socket: Socket }, response: { writeHead(status: number): { end(): void } }) => {
      resumed.push((request.socket as TLSSocket).isSessionReused());
      answer204(request, response);
    };
    const port = await internet.secure(listener, 'hooks', {}, { ticketKeys });
    await internet.secure(listener, 'other', { address: '127.0.0.2', port }, { ticketKeys });
    const answers = [['9.9.9.1'], ['9.9.9.2'], ['9.9.9.1']];
    internet.names.set('hooks.example', () => answers.shift() ?? []);
    guard();
    expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ kind: 'answered' });
    expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ kind: 'failed', reason: 'tls' });
    expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ kind: 'answered' });
    expect(resumed).toEqual([false, false]);
  });
});

describe('a kept connection that cannot be trusted is not used', () => {
  /** Starts a server that hands over the socket of each request after its response. */
  async function answering(onAnswered: (socket: Socket) => void): Promise<{ port: number; requests: () => number }> {
    let requests = 0;
    const port = await internet.secure((request, response) => {
      requests += 1;
      response.writeHead(204).end();
      response.on('finish', () => onAnswered(request.socket));
    });
    internet.names.set('hooks.example', ['9.9.9.1']);
    guard();
    return { port, requests: () => requests };
  }

  test.each([
    [
      'a whole answer that nobody asked for',
      (socket: Socket) => socket.write('HTTP/1.1 500 Poisoned\r\ncontent-length: 0\r\n\r\n'),
    ],
    ['the beginning of one', (socket: Socket) => socket.write('HTTP/1.1 500 Poi')],
    ['a line end', (socket: Socket) => socket.write('\r\n')],
    ['a byte', (socket: Socket) => socket.write('x')],
  ])('idle bytes: %s', async (_title, poison) => {
    const served: Socket[] = [];
    const { port, requests } = await answering((socket) => served.push(socket));
    expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ status: 204 });
    await vi.waitFor(() => expect(served).toHaveLength(1), { timeout: 8000 });
    const [ours] = internet.sockets;
    const [theirs] = served;
    if (ours === undefined || theirs === undefined) throw new Error('There is no connection.');
    const before = ours.bytesRead;
    poison(theirs);
    await vi.waitFor(() => expect(ours.bytesRead).toBeGreaterThan(before), { timeout: 8000 });
    expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ status: 204 });
    expect(requests()).toBe(2);
    expect(internet.dialled).toHaveLength(2);
  });

  test('an answer and a second one in the same bytes', async () => {
    let connections = 0;
    const port = await internet.raw((socket) => {
      connections += 1;
      socket.once('data', () => {
        socket.write('HTTP/1.1 204 First\r\n\r\nHTTP/1.1 500 Second\r\ncontent-length: 0\r\n\r\n');
      });
    });
    guard({ policy: egressPolicy({ allowLoopback: true }) });
    expect(await call(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 204 });
    expect(await call(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 204 });
    expect(connections).toBe(2);
  });

  test('a server that closes at once costs one more try, not the delivery', async () => {
    const { port } = await answering((socket) => socket.destroy());
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ status: 204 });
    }
  });

  test('a server that closes when it sees the next request is asked once more, and no more often', async () => {
    let requests = 0;
    const port = await internet.secure((request, response) => {
      requests += 1;
      const first = Reflect.get(request.socket, 'served') !== true;
      Reflect.set(request.socket, 'served', true);
      if (first && requests < 3) answer204(request, response);
      else request.socket.destroy();
    });
    internet.names.set('hooks.example', ['9.9.9.1']);
    guard();
    expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ status: 204 });
    expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ kind: 'failed', reason: 'protocol' });
    expect(requests).toBe(3);
  });

  test('what is to be sent once does not go over a connection that may be closed', async () => {
    let requests = 0;
    const port = await internet.secure((request, response) => {
      requests += 1;
      const first = Reflect.get(request.socket, 'served') !== true;
      Reflect.set(request.socket, 'served', true);
      if (first) answer204(request, response);
      else request.socket.destroy();
    });
    internet.names.set('hooks.example', ['9.9.9.1']);
    guard();
    const url = `https://hooks.example:${port}/`;
    expect(await call(url)).toMatchObject({ status: 204 });
    expect(await post({ url, headers: {}, body, timeoutMs: 20_000, once: true })).toMatchObject({ status: 204 });
    expect([requests, internet.dialled.length]).toEqual([2, 2]);
  });

  test('what may go over a kept connection once is not sent again when that ends without an answer', async () => {
    let requests = 0;
    const port = await internet.secure((request, response) => {
      requests += 1;
      if (requests === 2) request.socket.destroy();
      else answer204(request, response);
    });
    internet.names.set('hooks.example', ['9.9.9.1']);
    guard();
    const url = `https://hooks.example:${port}/`;
    const once = () => post({ url, headers: {}, body, timeoutMs: 20_000, once: 'kept' });
    expect(await once()).toMatchObject({ status: 204 });
    expect(await once()).toMatchObject({ kind: 'failed', reason: 'protocol' });
    expect(await once()).toMatchObject({ status: 204 });
    expect([requests, internet.dialled.length]).toEqual([3, 2]);
  });

  test('connection: close is believed', async () => {
    const port = await internet.secure((_request, response) => response.writeHead(204, { connection: 'close' }).end());
    internet.names.set('hooks.example', ['9.9.9.1']);
    guard();
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ status: 204 });
    expect(internet.dialled).toHaveLength(2);
  });

  test('an answer that was left unread, or that failed, leaves no connection behind', async () => {
    const port = await internet.secure((_request, response) => response.end('x'.repeat(100_000)));
    internet.names.set('hooks.example', ['9.9.9.1']);
    guard({ maxResponseBytes: 1000 });
    expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ status: 200 });
    expect(post.connections).toEqual({ idle: 0, busy: 0 });
    await internet.untilOpen(0);
  });
});

describe('bounds', () => {
  async function server(): Promise<string> {
    const port = await internet.secure(answer204);
    internet.names.set('hooks.example', ['9.9.9.1']);
    return `https://hooks.example:${port}/`;
  }

  test('requests per connection', async () => {
    guard({ maxRequests: 2 });
    const url = await server();
    for (let attempt = 0; attempt < 5; attempt += 1) await call(url);
    expect(internet.dialled).toHaveLength(3);
  });

  test('lifetime', async () => {
    guard({ maxLifetimeMs: 60 });
    const url = await server();
    await call(url);
    await pause(80);
    await call(url);
    expect(internet.dialled).toHaveLength(2);
  });

  test('idle time, after which the socket is closed without anybody asking', async () => {
    guard({ maxIdleMs: 1500 });
    const url = await server();
    await call(url);
    expect(internet.open).toBe(1);
    await internet.untilOpen(0);
  }, 10_000);

  test('none kept at all', async () => {
    guard({ maxIdleMs: 0 });
    const url = await server();
    await call(url);
    await call(url);
    expect(internet.dialled).toHaveLength(2);
    expect(post.connections).toEqual({ idle: 0, busy: 0 });
  });

  test('idle connections in all: the one that rested longest goes first', async () => {
    const port = await internet.plain(answer204);
    guard({ maxIdle: 2, policy: egressPolicy({ allowLoopback: true }) });
    const ports = [port, await internet.plain(answer204), await internet.plain(answer204)];
    for (const one of ports) await call(`http://127.0.0.1:${one}/`);
    expect(post.connections).toEqual({ idle: 2, busy: 0 });
    await call(`http://127.0.0.1:${ports[2]}/`);
    expect(internet.dialled).toHaveLength(3);
    await call(`http://127.0.0.1:${ports[0]}/`);
    expect(internet.dialled).toHaveLength(4);
  });

  test('many at once have a connection each, and what is over is closed', async () => {
    guard({ maxIdle: 3 });
    const url = await server();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => call(url)));
    expect(verdicts.every(({ kind }) => kind === 'answered')).toBe(true);
    expect(post.connections).toEqual({ idle: 3, busy: 0 });
    await internet.untilOpen(3);
  });

  test('close ends what is kept and what is under way', async () => {
    const arrived = vi.fn();
    const port = await internet.secure(arrived);
    internet.names.set('hooks.example', ['9.9.9.1']);
    guard();
    const pending = call(`https://hooks.example:${port}/`);
    await vi.waitFor(() => expect(arrived).toHaveBeenCalled(), { timeout: 8000 });
    post.close();
    expect(await pending).toMatchObject({ kind: 'failed', reason: 'protocol' });
    await internet.untilOpen(0);
  });

  test.each([{ maxIdleMs: -1 }, { maxRequests: 1.5 }, { maxIdle: Number.NaN }])('%j is refused', (limits) => {
    post = guardedPost(internet.options());
    expect(() => guardedPost({ ...internet.options(), ...limits })).toThrow(TypeError);
  });
});
