import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { memoryDedupStore } from '@svc/webhook-verify/dedup/memory';
import { invalidDeliveries, testDelivery } from '@svc/webhook-verify/testing';
import { makeApp } from '../src/app.ts';

const secret = 'secret-of-this-test';
const server = makeApp({ secret, dedup: memoryDedupStore() }).listen(0, '127.0.0.1');
after(() => server.close());
await once(server, 'listening');
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;

test('refuses a delivery that is forged, changed or old', async () => {
  for (const { why, code, ...delivery } of invalidDeliveries({ secret })) {
    const { status } = await fetch(url, delivery);
    assert.ok(status === 400 || status === 401, `${why} (${code}): ${status}`);
  }
});

test('accepts an authentic delivery, and its repetition', async () => {
  const delivery = testDelivery({ secret, payload: { outputs: { greeting: 'Hello, Ada' } } });
  for (const time of ['first', 'second']) assert.equal((await fetch(url, delivery)).status, 200, time);
});
