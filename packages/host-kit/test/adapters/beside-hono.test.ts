import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';

const { Request, Response } = globalThis;
afterEach(() => {
  Object.assign(globalThis, { Request, Response });
  vi.resetModules();
});

test('a host that is loaded after Hono has replaced the global Response answers, and keeps the connection', async () => {
  const complained = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => complained.mockRestore());
  getRequestListener(() => new Response());
  expect(globalThis.Response).not.toBe(Response);
  vi.resetModules();
  const { toNodeListener } = await import('../../src/adapters/node-listener.ts');
  const listener = toNodeListener({ answer: async () => ({ status: 200, headers: { 'x-a': '1' }, body: 'whole' }) });
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const { port } = server.address() as AddressInfo;
  const ports = new Set<number | undefined>();
  for (let count = 0; count < 3; count++) {
    const asked = request({ host: '127.0.0.1', port, path: '/v1/runs', agent }).end();
    const [answer] = await once(asked, 'response');
    ports.add(asked.socket?.localPort);
    expect([answer.statusCode, answer.headers['x-a'], (await answer.toArray()).join('')]).toEqual([200, '1', 'whole']);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(ports.size).toBe(1);
  expect(complained).not.toHaveBeenCalled();
});
