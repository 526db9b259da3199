import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AcmeProcess, KEY, startAcmeProcess } from './acme-host.ts';
import { eventually, launch } from './booted-host.ts';

let host: AcmeProcess;

beforeEach(async () => {
  host = await startAcmeProcess({ durable: true, attemptTimeoutMs: 60_000 });
});
afterEach(() => host.stop());

test('a host stops in time although a request, a run and a receiver never end', async () => {
  const { receiver } = host;
  const hook = { url: receiver.url, events: ['run.started', 'run.completed'], tenantId: 'acme-prod' };
  const registered = await host.call('/v1/webhooks', { body: hook });
  receiver.trust(registered.body.secret);
  receiver.answer = 'never';
  const created = await host.call('/v1/runs', { body: { workflowId: 'delay', inputs: { ms: 60_000 } } });
  expect(created.status).toBe(201);
  await eventually(() => receiver.headers.length > 0);
  const request = await requestWithoutEnd(host.url());

  // A stop of more than ten seconds would end with exit code 1.
  expect(await host.end('SIGTERM')).toBe(0);
  request.destroy();

  // The subscription is durable: the host released the unfinished delivery, and sends it again.
  receiver.answer = undefined;
  await host.reboot({});
  await eventually(() => receiver.deliveries.some(({ eventType }) => eventType === 'run.started'));
});

test('a signal during the start ends the process, also where it is process 1 of a container', async () => {
  let connections = 0;
  const silent = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const config = JSON.parse(readFileSync(host.path('config.json'), 'utf8'));
  const secretKey = Buffer.alloc(32, 7).toString('base64');
  const listen = { host: '127.0.0.1', port: 0 };
  const store = `postgres://svc@127.0.0.1:${port}/svc`;
  const starting = launch(host.path('starting.json'), { ...config, listen, store, secretKey });
  await eventually(() => connections > 0);
  starting.process.kill('SIGTERM');
  // Without a listener of its own it would end by the signal, which process 1 ignores.
  expect(await starting.ended).toBe(143);
  silent.close();
});

/** Opens a request whose body is announced and never sent. */
async function requestWithoutEnd(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve) => socket.once('connect', resolve));
  const head = ['POST /v1/runs HTTP/1.1', `host: ${hostname}`, `authorization: Bearer ${KEY}`];
  socket.write([...head, 'content-type: application/json', 'content-length: 100', '', '{'].join('\r\n'));
  socket.on('error', () => {});
  return socket;
}
