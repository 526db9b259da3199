import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let server: Server;
let host: AcmeHost;
const seen: (string | undefined)[] = [];
const resumed: (string | undefined)[] = [];
const open = new Set<ServerResponse>();

/** One good event between those that start no run, in all line ends, with a comment and a byte order mark. */
const MIXED = [
  '\ufeff: comment\r\n\rid: 1\rdata: [DONE]\n\n',
  'data: {"order":"without-id"}\n\n',
  `id: 2\ndata: {"order":"${'x'.repeat(2000)}"}\n\n`,
  'id: 3\r\ndata: {\r\ndata: "order":"order-3"}\r\n\r\n',
  'id: 4\ndata: {"order":"cut"}\n',
].join('');

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/mixed') {
      resumed.push(request.headers['last-event-id'] as string | undefined);
      response.writeHead(resumed.length > 1 ? 204 : 200, { 'content-type': 'text/event-stream' }).end(MIXED);
      return;
    }
    seen.push(request.headers.authorization);
    open.add(response.on('close', () => open.delete(response)));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 1\ndata: {"order":"order-1"}\n\n');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  host = await startAcme({}, { triggers: { maxBodyBytes: 1024, streams: {} }, egress: { allowLoopback: true } });
});
afterAll(async () => {
  await host.stop();
  server.closeAllConnections();
  server.close();
});

const mapping = { workflowId: 'echo', inputs: { order: { pointer: '/body/order' } } };

describe(
  covers(
    'triggers.stream.parsing',
    'triggers.stream.identity',
    'triggers.stream.refused',
    'triggers.stream.bounds',
    'triggers.stream.state',
  ),
  () => {
    test('events that can start no run are dead letters, and the server that ends the stream pauses the trigger', async () => {
      const { port } = server.address() as AddressInfo;
      const rules = { source: 'stream', stream: { format: 'sse', url: `http://127.0.0.1:${port}/mixed` }, mapping };
      const { status, body } = await host.call('/trigger-subscriptions', { major: '2', body: rules });
      expect(status).toBe(201);
      const id = body.subscription.subscriptionId.split('/')[1];
      const trigger = async () => (await host.call(`/host/example/triggers/${id}`, { major: '2' })).body;
      await eventually(async () => (await trigger()).state === 'paused');
      expect(await trigger()).toMatchObject({ stateReason: 'source-removed', reading: { cursor: '3' } });
      const { body: page } = await host.call(`/host/example/triggers/${id}/messages`, { major: '2' });
      const outcomes = page.messages.map(({ outcome, problem }: Record<string, string>) => problem ?? outcome).sort();
      expect(outcomes).toEqual([
        'delivered',
        'message: has more than 1024 bytes',
        'message: has no identity. Send it with an id, or name a dedupPointer',
        'message: is not JSON in UTF-8, or is nested too deeply',
      ]);
      expect(resumed).toEqual([undefined, '3']);
      await host.call(`/host/example/triggers/${id}`, { major: '2', method: 'DELETE' });
    });
  },
);

describe(covers('triggers.stream.durable', 'triggers.stream.egress', 'triggers.subscription.discovery'), () => {
  test('an event of a stream starts a run, and the credential is shown nowhere', async () => {
    const { body: document } = await host.call('/.well-known/svc', { major: '2' });
    expect(document.triggerBridge.sources).toContain('stream');
    const { port } = server.address() as AddressInfo;
    const { status, body } = await host.call('/trigger-subscriptions', {
      major: '2',
      body: {
        source: 'stream',
        stream: { format: 'sse', url: `http://127.0.0.1:${port}/`, credential: { prefix: 'Bearer ' } },
        secret: 'token-of-the-shop',
        mapping,
      },
    });
    expect([status, body.subscription.source, body.secret]).toEqual([201, 'stream', undefined]);
    const listed = async () => (await host.call('/host/example/triggers', { major: '2' })).body.triggers;
    await eventually(async () => (await listed())[0].reading?.cursor === '1');
    const { body: list } = await host.call('/runs', { major: '2' });
    expect(list.runs).toHaveLength(2);
    expect(await listed()).toMatchObject([{ state: 'active', reading: { state: 'reading', failures: 0 } }]);
    expect([seen, open.size]).toEqual([['Bearer token-of-the-shop'], 1]);
    expect(JSON.stringify(await listed())).not.toContain('token-of-the-shop');
  });
});
