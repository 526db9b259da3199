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

describe('a kept connection serves only calls that were judged anew', () => {
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

  test('a denied answer is denied although there is a kept connection', async () => {
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

  test('destroys the connection to an address that is no longer among the answers', async () => {
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

  test('opens a connection and checks the certificate for each name of an address', async () => {
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

  test('resumes no TLS session, and so detects another certificate behind shared ticket keys', async () => {
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

describe('a kept connection', () => {
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
      'a whole response without a request',
      (socket: Socket) => socket.write('HTTP/1.1 500 Poisoned\r\ncontent-length: 0\r\n\r\n'),
    ],
    ['the beginning of a response', (socket: Socket) => socket.write('HTTP/1.1 500 Poi')],
    ['a line end', (socket: Socket) => socket.write('\r\n')],
    ['a byte', (socket: Socket) => socket.write('x')],
  ])('is not used after unsolicited bytes: %s', async (_title, poison) => {
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

  test('is not used after two responses in the same bytes', async () => {
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

  test('is replaced when the server closes it after each response', async () => {
    const { port } = await answering((socket) => socket.destroy());
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ status: 204 });
    }
  });

  test('is replaced only once when the server closes it on the next request', async () => {
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

  test('is not used with once: true', async () => {
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

  test("is not replaced with once: 'kept' when the server closes it", async () => {
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

  test('is not used after connection: close', async () => {
    const port = await internet.secure((_request, response) => response.writeHead(204, { connection: 'close' }).end());
    internet.names.set('hooks.example', ['9.9.9.1']);
    guard();
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ status: 204 });
    expect(internet.dialled).toHaveLength(2);
  });

  test.each([
    ['shorter than the margin', 'timeout=2', { idle: 0, busy: 0 }],
    ['longer', 'timeout=60, max=9', { idle: 1, busy: 0 }],
  ])('is kept no longer than the server keeps it: %s', async (_title, keepAlive, connections) => {
    const port = await internet.secure((_request, response) => {
      response.writeHead(204, { connection: 'keep-alive', 'keep-alive': keepAlive }).end();
    });
    internet.names.set('hooks.example', ['9.9.9.1']);
    guard();
    expect(await call(`https://hooks.example:${port}/`)).toMatchObject({ status: 204 });
    expect(post.connections).toEqual(connections);
  });

  test('is not kept after an answer that came before the end of the request', async () => {
    const port = await internet.raw((socket) => {
      // Reads nothing more, so that the rest of the request stays with the sender.
      socket.once('data', () => void socket.pause().write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n'));
    });
    guard({ policy: egressPolicy({ allowLoopback: true }) });
    const url = `http://127.0.0.1:${port}/`;
    const large = new Uint8Array(32 * 1024 * 1024);
    expect(await post({ url, headers: {}, body: large, timeoutMs: 20_000 })).toMatchObject({ status: 413 });
    expect(post.connections).toEqual({ idle: 0, busy: 0 });
  });

  test('is not kept after an unread response', async () => {
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

  test('maxRequests limits the requests of a connection', async () => {
    guard({ maxRequests: 2 });
    const url = await server();
    for (let attempt = 0; attempt < 5; attempt += 1) await call(url);
    expect(internet.dialled).toHaveLength(3);
  });

  test('maxLifetimeMs limits the lifetime of a connection', async () => {
    guard({ maxLifetimeMs: 60 });
    const url = await server();
    await call(url);
    await pause(80);
    await call(url);
    expect(internet.dialled).toHaveLength(2);
  });

  test('maxIdleMs closes an idle socket without a further call', async () => {
    guard({ maxIdleMs: 1500 });
    const url = await server();
    await call(url);
    expect(internet.open).toBe(1);
    await internet.untilOpen(0);
  });

  test('maxIdleMs: 0 keeps no connection', async () => {
    guard({ maxIdleMs: 0 });
    const url = await server();
    await call(url);
    await call(url);
    expect(internet.dialled).toHaveLength(2);
    expect(post.connections).toEqual({ idle: 0, busy: 0 });
  });

  test('maxIdle closes the connection that has been idle longest', async () => {
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

  test('concurrent calls have a connection each, and those over maxIdle are closed', async () => {
    guard({ maxIdle: 3 });
    const url = await server();
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => call(url)));
    expect(verdicts.every(({ kind }) => kind === 'answered')).toBe(true);
    expect(post.connections).toEqual({ idle: 3, busy: 0 });
    await internet.untilOpen(3);
  });

  test('close ends kept connections and running calls', async () => {
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

  test.each([{ maxIdleMs: -1 }, { maxRequests: 1.5 }, { maxIdle: Number.NaN }])(
    'throws for the options %j',
    (limits) => {
      post = guardedPost(internet.options());
      expect(() => guardedPost({ ...internet.options(), ...limits })).toThrow(TypeError);
    },
  );
});
