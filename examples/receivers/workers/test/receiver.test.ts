import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryDedupStore } from '@svc/webhook-verify/dedup/memory';
import { invalidDeliveries, testDelivery } from '@svc/webhook-verify/testing';
import { makeReceiver } from '../src/receiver.ts';

const secret = 'secret-of-this-test';
// Durable objects remember deliveries in production. They run on Cloudflare alone.
const receive = makeReceiver(secret, memoryDedupStore());
const send = (delivery: RequestInit) => receive(new Request('http://receiver.test/webhooks', delivery));

test('refuses a delivery that is forged, changed or old', async () => {
  for (const { why, code, ...delivery } of invalidDeliveries({ secret })) {
    const { status } = await send(delivery);
    assert.ok(status === 400 || status === 401, `${why} (${code}): ${status}`);
  }
});

test('accepts an authentic delivery, and its repetition', async () => {
  const delivery = testDelivery({ secret, payload: { outputs: { greeting: 'Hello, Ada' } } });
  for (const time of ['first', 'second']) assert.equal((await send(delivery)).status, 200, time);
});
