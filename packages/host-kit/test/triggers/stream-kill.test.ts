import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { egressPolicy } from '@svc/egress-guard';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, describe, expect, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { streamServer } from './stream-server.ts';
import { triggerHost } from './trigger-host.ts';

const SCRIPT = fileURLToPath(new URL('./killed-stream.ts', import.meta.url));
const WAIT = { timeout: 120_000, interval: 20 };
const EVENTS = 300;
const postgres = await startPostgres();
const server = await streamServer();
afterAll(async () => {
  await server.close();
  await postgres.stop();
});

describe(covers('triggers.stream.one-reader', 'triggers.stream.durable'), () => {
  test('of two hosts one reads the stream, and after its kill (kill -9) the other one starts the runs that are left', async () => {
    const schema = 'streams';
    const more = { egress: egressPolicy({ allowLoopback: [server.port] }) };
    const world = await triggerHost({
      store: await postgresStore({ url: postgres.url, schema, connections: 4 }),
      ...{ triggers: { streams: {} }, more },
    });
    const args = ['--conditions=@svc/source', SCRIPT, postgres.url, schema, String(server.port)];
    const killed = spawn(execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(killed.stdout, 'data');
    await world.register({
      ...{
        source: 'stream',
        stream: { url: server.url('orders'), format: 'sse' },
        webhook: undefined,
        secret: undefined,
      },
      mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body/order' } } },
    });
    const orders = Array.from({ length: EVENTS }, (_, n) => `order-${String(n).padStart(4, '0')}`);
    const emit = (from: number, to: number) =>
      server.emit('orders', ...orders.slice(from, to).map((order) => ({ id: order, data: JSON.stringify({ order }) })));
    emit(0, 150);
    // The clock of this host stands still, so that the other one claims the stream.
    await expect.poll(async () => (await world.runs()).length, WAIT).toBeGreaterThan(40);
    expect(server.open('orders')).toBe(1);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    emit(150, EVENTS);
    const started = async () => {
      world.clock.advance(500);
      expect(server.open('orders')).toBeLessThanOrEqual(1);
      return (await world.runs()).map(({ inputs }) => inputs.order).sort();
    };
    await expect.poll(started, WAIT).toEqual(orders);
    const [trigger] = (await world.call('owner', 'GET', '/host/example/triggers')).body.triggers;
    expect(trigger.reading).toMatchObject({ state: 'reading', failures: 0, cursor: orders.at(-1) });
    expect(server.requests('orders').length).toBe(2);
    await world.host.stop(0);
  }, 180_000);
});
