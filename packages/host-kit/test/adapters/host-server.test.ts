import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { LogRecord } from '@svc/host-kit';
import { hostServer } from '@svc/host-kit/node';
import { afterEach, describe, expect, test } from 'vitest';
import { defaultMaxConnections, openFilesLimit } from '../../src/adapters/host-server.ts';

const open: { server?: Server; sockets: Socket[] } = { sockets: [] };
afterEach(async () => {
  for (const socket of open.sockets.splice(0)) socket.destroy();
  open.server?.closeAllConnections();
  await new Promise((resolve) => open.server?.close(resolve));
});

async function listening(server: Server): Promise<number> {
  open.server = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Opens a connection, sends a text, and collects what comes back. */
async function raw(port: number, text: string): Promise<{ readonly socket: Socket; readonly received: () => string }> {
  const socket = connect(port, '127.0.0.1');
  open.sockets.push(socket);
  let received = '';
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      received += chunk;
    });
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(text);
  return { socket, received: () => received };
}

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

async function eventually(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 60_000; performance.now() < end; ) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('The condition did not hold within 60 s.');
}

describe('hostServer', () => {
  test('closes a connection above maxConnections, and reports how many', async () => {
    const logged: LogRecord[] = [];
    const server = hostServer((_request, response) => response.end('ok'), {
      maxConnections: 2,
      log: (record) => logged.push(record),
    });
    const port = await listening(server);
    const request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
    const [first, second] = [await raw(port, request), await raw(port, request)];
    await eventually(() => first.received().endsWith('ok') && second.received().endsWith('ok'));
    for (const { socket } of [await raw(port, request), await raw(port, request)]) await closed(socket);
    await eventually(() => logged.length > 0);
    expect(logged).toEqual([{ level: 'warn', event: 'server.connections-refused', refused: 2, maxConnections: 2 }]);
  });

  test('closes a connection whose head is late within about a second of its deadline', async () => {
    const port = await listening(hostServer(() => {}, { headersTimeoutMs: 100 }));
    const from = performance.now();
    const { socket, received } = await raw(port, 'GET / HTTP/1.1\r\nhost:');
    await closed(socket);
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
    // The default of Node takes up to 30 s.
    expect(performance.now() - from).toBeLessThan(15_000);
  });

  test('tells a client to go on when its body is read, and not before', async () => {
    const server = hostServer((request, response) => {
      if (request.url === '/refused') response.writeHead(413).end('no');
      else request.resume().on('end', () => response.end('yes'));
    });
    const port = await listening(server);
    const head = (path: string) =>
      `POST ${path} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n`;
    const refused = await raw(port, head('/refused'));
    await closed(refused.socket);
    expect(refused.received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(refused.received()).toMatch(/connection: close/i);
    const taken = await raw(port, head('/taken'));
    await eventually(() => taken.received() === 'HTTP/1.1 100 Continue\r\n\r\n');
    taken.socket.write('body');
    await closed(taken.socket);
    expect(taken.received()).toMatch(/\r\n\r\nHTTP\/1\.1 200 [\s\S]+yes$/);
  });

  test.each([
    ['maxConnections', 0],
    ['headersTimeoutMs', 0.5],
    ['requestTimeoutMs', Number.NaN],
    ['keepAliveTimeoutMs', 3_600_001],
  ])('refuses %s %s', (option, value) => {
    expect(() => hostServer(() => {}, { [option]: value })).toThrow(
      new RegExp(`^hostServer: ${option} must be a whole number from 1 to `),
    );
  });

  test.each([
    [undefined, 10_000],
    [1_048_576, 10_000],
    [1024, 768],
    [100, 64],
  ])('accepts, of %s files that may be open, %s connections by default', (files, connections) => {
    expect(defaultMaxConnections(files)).toBe(connections);
  });

  test.runIf(process.platform === 'linux')('knows the limit of open files', () => {
    expect(openFilesLimit()).toBeGreaterThan(0);
  });
});
