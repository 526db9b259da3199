import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AcmeHost, KEY, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost;

beforeEach(async () => {
  host = await startAcme({ durable: true, attemptTimeoutMs: 60_000 });
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
