import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AcmeHost, KEY, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

const STOP_MS = 10_000;

let host: AcmeHost;

beforeEach(async () => {
  host = await startAcme({ durable: true, attemptTimeoutMs: 60_000 });
});
afterEach(() => host.stop());

test('a request, a run and a receiver that never end hold a stop up for ten seconds at the most', async () => {
  const { receiver } = host;
  const hook = { url: receiver.url, events: ['run.started', 'run.completed'], tenantId: 'acme-prod' };
  const registered = await host.call('/v1/webhooks', { body: hook });
  receiver.trust(registered.body.secret);
  receiver.answer = 'never';
  const created = await host.call('/v1/runs', { body: { workflowId: 'delay', inputs: { ms: 60_000 } } });
  expect(created.status).toBe(201);
  await eventually(() => receiver.headers.length > 0);
  const request = await requestWithoutEnd(host.url());

  const from = performance.now();
  expect(await host.end('SIGTERM')).toBe(0);
  expect(performance.now() - from).toBeLessThan(STOP_MS);
  request.destroy();

  // Durable: what was under way was handed back, and is sent again.
  receiver.answer = undefined;
  await host.reboot({});
  await eventually(() => receiver.deliveries.some(({ eventType }) => eventType === 'run.started'));
}, 30_000);

/** One whose body is announced and never sent. */
async function requestWithoutEnd(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await new Promise((resolve) => socket.once('connect', resolve));
  const head = ['POST /v1/runs HTTP/1.1', `host: ${hostname}`, `authorization: Bearer ${KEY}`];
  socket.write([...head, 'content-type: application/json', 'content-length: 100', '', '{'].join('\r\n'));
  socket.on('error', () => {});
  return socket;
}
