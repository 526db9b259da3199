import { Agent, createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { hostServer, orderlyStop } from '@svc/host-kit/node';
import { afterEach, describe, expect, test } from 'vitest';

/** The part of a host that a stop uses. It notes the order of the calls. */
function stoppable() {
  const calls: string[] = [];
  return {
    calls,
    drain: () => void calls.push('drain'),
    closeStreams: () => void calls.push('closeStreams'),
    stop: async (graceMs?: number) => void calls.push(`stop ${graceMs}`),
  };
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Sends a request, and resolves with the answer when its head is there. */
function send(port: number, agent: Agent, path = '/'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({ port, host: '127.0.0.1', path, agent }, resolve).on('error', reject).end();
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response) text += chunk;
  return text;
}

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

describe('orderlyStop', () => {
  test('cuts off no request of twelve clients that keep their connections', async () => {
    const host = stoppable();
    const server = hostServer((_request, response) => setTimeout(() => response.end('ok'), 5));
    const stop = orderlyStop(server, host);
    const port = await listening(server);
    let [answered, cut, isOver] = [0, 0, false];
    const client = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!isOver) {
        try {
          await textOf(await send(port, agent));
          answered++;
        } catch (error) {
          // The server accepts no more connections, so the client goes to another one.
          if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') break;
          cut++;
        }
      }
      agent.destroy();
    };
    const clients = Promise.all(Array.from({ length: 12 }, client));
    while (answered < 200) await new Promise((resolve) => setTimeout(resolve, 5));
    await stop();
    isOver = true;
    await clients;
    expect(cut).toBe(0);
    expect(host.calls).toEqual(['drain', 'closeStreams', 'stop 4500']);
  });

  test('closes the connection with the answer to a request that was under way, and then with each answer', async () => {
    const answers: (() => void)[] = [];
    const server = hostServer((_request, response) => answers.push(() => response.end('ok')));
    const stop = orderlyStop(server, stoppable(), { drainMs: 300 });
    const port = await listening(server);
    const agent = new Agent({ keepAlive: true });
    const underWay = send(port, agent);
    while (answers.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const stopped = stop();
    const later = send(port, agent);
    while (answers.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const answer of answers) answer();
    for (const response of await Promise.all([underWay, later])) {
      expect(response.headers.connection).toBe('close');
      expect(await textOf(response)).toBe('ok');
    }
    await stopped;
    agent.destroy();
  });

  test('answers all requests that were sent in one go', async () => {
    const answers: (() => void)[] = [];
    const server = hostServer((_request, response) => answers.push(() => response.end('ok')));
    const stop = orderlyStop(server, stoppable(), { drainMs: 300 });
    const port = await listening(server);
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    const request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
    socket.write(request);
    while (answers.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    const stopped = stop();
    socket.write(request + request);
    while (answers.length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const answer of answers) answer();
    await closed(socket);
    expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    expect(received.match(/connection: close/gi)).toHaveLength(1);
    await stopped;
  });

  test('ends as soon as the work under way has, and closes connections that rest', async () => {
    const server = hostServer((_request, response) => response.end('ok'));
    const stop = orderlyStop(server, stoppable(), { graceMs: 60_000 });
    const port = await listening(server);
    const agent = new Agent({ keepAlive: true });
    await textOf(await send(port, agent));
    const silent = connect(port, '127.0.0.1');
    await new Promise((resolve) => silent.once('connect', resolve));
    const from = performance.now();
    await stop();
    expect(performance.now() - from).toBeLessThan(10_000);
    await closed(silent);
    agent.destroy();
  });

  test('closes a connection after graceMs although its request never ends', async () => {
    const server = hostServer(() => {});
    const stop = orderlyStop(server, stoppable(), { graceMs: 50 });
    const port = await listening(server);
    const answer = send(port, new Agent({ keepAlive: true })).catch(({ code }) => code);
    while ((await connectionsOf(server)) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await stop();
    expect(await answer).toBe('ECONNRESET');
  });

  test('stops once, however often it is called', async () => {
    const host = stoppable();
    const server = createServer();
    const stop = orderlyStop(server, host);
    await listening(server);
    expect(stop()).toBe(stop());
    await stop();
    expect(host.calls).toEqual(['drain', 'closeStreams', 'stop 4500']);
  });

  test.each([-1, 0.5, Number.NaN, 3_600_001])('refuses the duration %s', (drainMs) => {
    expect(() => orderlyStop(createServer(), stoppable(), { drainMs })).toThrow(
      new TypeError('orderlyStop: drainMs must be a whole number of ms from 0 to 3600000.'),
    );
  });
});

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}
