import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { invalidDeliveries, testDelivery } from '@svc/webhook-verify/testing';
import { POST } from '../app/webhooks/[host]/route.ts';

const secret = 'secret-of-this-test';
process.env.WEBHOOK_SECRET = secret;
// The route remembers deliveries in a file of the current folder, which it opens at the first one.
process.chdir(mkdtempSync(join(tmpdir(), 'receiver-')));

const send = (delivery: RequestInit, host = 'main') =>
  POST(new Request(`http://receiver.test/webhooks/${host}`, delivery), { params: Promise.resolve({ host }) });

test('refuses a delivery that is forged, changed or old', async () => {
  for (const { why, code, ...delivery } of invalidDeliveries({ secret })) {
    const { status } = await send(delivery);
    assert.ok(status === 400 || status === 401, `${why} (${code}): ${status}`);
  }
});

test('knows the hosts that it receives from', async () => {
  assert.equal((await send(testDelivery({ secret }), 'another')).status, 404);
});

test('accepts an authentic delivery, and its repetition', async () => {
  const delivery = testDelivery({ secret, payload: { outputs: { greeting: 'Hello, Ada' } } });
  for (const time of ['first', 'second']) assert.equal((await send(delivery)).status, 200, time);
});
