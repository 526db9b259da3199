import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { memoryDedupStore } from '@svc/webhook-verify/dedup/memory';
import { invalidDeliveries, testDelivery } from '@svc/webhook-verify/testing';
import { makeApp } from '../src/app.ts';

const secret = 'secret-of-this-test';
const app = await makeApp({ secret, dedup: memoryDedupStore() });
after(() => app.close());
const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/webhooks`;

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
