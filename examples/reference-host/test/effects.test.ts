import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, OTHER_TENANT, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';
import { MAJORS, runDriver } from './run-driver.ts';

/** A request that the provider got. */
interface Payment {
  readonly key: string | undefined;
  readonly order: string;
}

let host: AcmeHost;
let provider: Server;
let url: string;
let payments: Payment[] = [];
/** The statuses of the next answers. Without one: 200. A zero never answers. */
let answers: number[] = [];

beforeAll(async () => {
  provider = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { order } = JSON.parse(Buffer.concat(chunks).toString());
    payments.push({ key: request.headers['idempotency-key']?.toString(), order });
    const status = answers.shift() ?? 200;
    if (status !== 0) response.writeHead(status).end(`receipt ${payments.length}`);
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  url = `http://127.0.0.1:${port}/`;
  host = await startAcme({}, { egress: { allowLoopback: [port] } });
});
afterAll(async () => {
  await host.stop();
  provider.closeAllConnections();
  provider.close();
});
beforeEach(() => {
  payments = [];
  answers = [];
});

const [, second] = MAJORS;
const driver = runDriver(() => host, second);
const ledger = (runId: string, key?: string) => driver.call(driver.path(runId, '/effects'), key ? { key } : {});
const outputs = async (runId: string) => (await driver.log(runId)).at(-1)?.payload.outputs;

async function paid(order: string, isRepeatable = false): Promise<string> {
  const runId = await driver.start('pay', { url, order, isRepeatable });
  await driver.until(runId, 'completed', 'failed');
  return runId;
}

test(`an order is paid once, however many runs ask: ${covers('operations.effects.read', 'operations.effects.once')}`, async () => {
  const runs = [await paid('order-1'), await paid('order-1'), await paid('order-2')];
  expect(payments.map(({ order }) => order)).toEqual(['order-1', 'order-2']);
  expect(await outputs(runs[0] ?? '')).toEqual({ status: 200, answer: 'receipt 1' });
  expect(await outputs(runs[1] ?? '')).toEqual({ status: 200, answer: 'receipt 1' });
  for (const [index, runId] of runs.entries()) {
    const { status, headers, body } = await ledger(runId);
    expect([status, headers.get('svc-version'), headers.get('cache-control')]).toEqual([
      200,
      '2.0',
      'private, no-store',
    ]);
    expect(body).toEqual({
      runId,
      effects: [
        {
          effectId: `acme/${payments[index === 2 ? 1 : 0]?.key}`,
          nodeId: 'pay',
          attempt: 0,
          keying: 'business-identity',
          state: 'completed',
          at: expect.stringMatching(/^\d{4}-.*Z$/),
          invocationId: expect.stringMatching(/^inv_/),
          providerKey: 'sample:pay',
        },
      ],
    });
  }
});

test.each([
  ['a rejected payment was not made, and is tried again', [402, 200], false, 'released', 2],
  ['a payment of unknown outcome is not repeated', [500], false, 'escaped', 1],
  ['a payment of unknown outcome is repeated with its key', [500, 200], true, 'escaped', 2],
])('%s', async (title, statuses, isRepeatable, state, times) => {
  const order = title.replaceAll(/[^a-z]/g, '-').slice(0, 60);
  answers = [...statuses];
  const first = await paid(order, isRepeatable);
  expect((await driver.read(first)).error.code).toBe('upstream_unavailable');
  expect((await ledger(first)).body.effects).toMatchObject([{ state }]);
  const again = await paid(order, isRepeatable);
  expect((await driver.read(again)).status).toBe(times === 1 ? 'failed' : 'completed');
  expect((await ledger(again)).body.effects).toMatchObject([{ state: times === 1 ? 'escaped' : 'completed' }]);
  expect(payments).toHaveLength(times);
  expect(new Set(payments.map(({ key }) => key)).size).toBe(1);
});

describe('after a crash during a payment', () => {
  async function crashed(order: string, isRepeatable: boolean): Promise<string> {
    answers = [0];
    const runId = await host.killAfter(async () => {
      const runId = await driver.start('pay', { url, order, isRepeatable });
      await eventually(async () => payments.length === 1);
      expect((await ledger(runId)).body.effects).toMatchObject([{ state: 'claimed', attempt: 0 }]);
      return runId;
    });
    await driver.until(runId, 'completed', 'failed');
    return runId;
  }

  test('the run does not pay again, and its ledger says that the outcome is unknown', async () => {
    const runId = await crashed('crash-1', false);
    expect((await driver.read(runId)).error.code).toBe('upstream_unavailable');
    expect((await ledger(runId)).body.effects).toMatchObject([{ state: 'escaped', attempt: 0 }]);
    expect(payments).toHaveLength(1);
  });

  test('the run pays again with the same key if the provider recognises it', async () => {
    const runId = await crashed('crash-2', true);
    expect((await driver.read(runId)).status).toBe('completed');
    expect((await ledger(runId)).body.effects).toMatchObject([{ state: 'completed', attempt: 1 }]);
    expect(payments).toHaveLength(2);
    expect(payments[0]).toEqual(payments[1]);
  });
});

test(`the ledger is served where its family is advertised: ${covers('discovery.document.advertise-only-served')}`, async () => {
  const runId = await driver.start('echo');
  await driver.until(runId, 'completed');
  expect((await driver.call('/.well-known/svc')).body.idempotency).toBeDefined();
  expect((await ledger(runId)).body).toEqual({ runId, effects: [] });
  // Major 1 has no such operation.
  const bare = runId.slice(runId.indexOf('/') + 1);
  expect((await host.call(`/v1/runs/${bare}/effects`)).status).toBe(404);
  expect((await ledger(runId, DEV)).body.error).toBe('run_forbidden');
  expect((await ledger(runId, OTHER_TENANT)).body.error).toBe('id_tenant_mismatch');
  expect((await ledger('acme/run-that-does-not-exist')).body.error).toBe('not_found');
});
