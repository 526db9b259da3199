import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryDedupStore } from '@svc/webhook-verify/dedup/memory';
import { invalidDeliveries, type TestDelivery, testDelivery } from '@svc/webhook-verify/testing';
import { makeReceiver } from '../src/receiver.ts';

const secret = 'secret-of-this-test';
// A table of DynamoDB remembers deliveries in production.
const receive = makeReceiver(secret, memoryDedupStore());
const POST = { requestContext: { http: { method: 'POST' } }, isBase64Encoded: false };
const send = ({ body, headers }: TestDelivery) => receive({ body, headers, ...POST });

test('refuses a delivery that is forged, changed or old', async () => {
  for (const { why, code, ...delivery } of invalidDeliveries({ secret })) {
    const { statusCode } = await send(delivery);
    assert.ok(statusCode === 400 || statusCode === 401, `${why} (${code}): ${statusCode}`);
  }
});

test('accepts an authentic delivery, and its repetition', async () => {
  const delivery = testDelivery({ secret, payload: { outputs: { greeting: 'Hello, Ada' } } });
  for (const time of ['first', 'second']) assert.equal((await send(delivery)).statusCode, 200, time);
});
