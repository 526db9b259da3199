import { signDelivery } from '@svc/webhook-verify';

export const SECRET = '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef';
export const SIZES = { '0.4 KB': 400, '1 KB': 1024, '16 KB': 16 * 1024, '256 KB': 256 * 1024 };

/** Returns the body of a delivery of exactly `size` bytes, whose outputs have many members. */
export function bodyOf(size) {
  const outputs = {};
  const write = () =>
    JSON.stringify({
      runId: 'run_3f9a1c',
      workspaceId: 'acme-prod',
      event: {
        eventId: 'evt_1',
        type: 'run.completed',
        runId: 'run_3f9a1c',
        sequence: 12,
        timestamp: '2026-01-01T00:00:00.000Z',
        payload: { outputs, pad: '' },
      },
    });
  for (let index = 0; write().length + 200 < size && index < size / 40; index += 1) {
    outputs[`field${index}`] = { name: `value ${index}`, count: index };
  }
  const text = write();
  return Buffer.from(text.replace('"pad":""', `"pad":"${'x'.repeat(Math.max(0, size - text.length))}"`));
}

/** Returns the headers of a delivery in the form of `node:http`. */
export function headersOf(body) {
  const signed = signDelivery({
    body,
    secret: SECRET,
    webhookId: 'whk_3f9a1c',
    eventType: 'run.completed',
    timestamp: Math.floor(Date.now() / 1000),
    families: ['SVC', 'X-svc'],
  });
  return {
    host: 'receiver.example',
    'content-type': 'application/json',
    'content-length': String(body.length),
    'user-agent': 'svc-webhook-dispatcher/1.0',
    accept: '*/*',
    ...Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value])),
    connection: 'keep-alive',
  };
}
