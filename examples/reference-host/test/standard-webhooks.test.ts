import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { covers } from '@svc/tools/covers';
import { Webhook } from '@svc/webhook-verify';
import { StandardWebhook } from '@svc/webhook-verify/standard-webhooks';
import { Webhook as PublicWebhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, KEY, OTHER_TENANT, startAcme, WIDE } from './acme-host.ts';
import { eventually, type Receiver } from './booted-host.ts';

let host: AcmeHost;
let receiver: Receiver;

beforeAll(async () => {
  host = await startAcme({
    retryPolicy: { maxAttempts: 4, backoff: 'fixed', delayMs: 30 },
    secretRotation: { overlapSeconds: 3600 },
  });
  receiver = host.receiver;
});
afterEach(() => host.clear());
afterAll(() => host.stop());

const call: AcmeHost['call'] = (path, options) => host.call(path, options);
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const BOTH = ['v1', 'standard-webhooks-1'];

function register(secret: string | undefined, changes: object = {}, key = KEY) {
  const body = { url: receiver.url, events: ['run.completed'], signatureAlgorithms: BOTH, secret, ...changes };
  return call('/webhooks', { major: '2', key, body });
}

async function registered(secret: string, key = KEY): Promise<string> {
  receiver.trustStandard(secret);
  const { status, body } = await register(secret, {}, key);
  expect([status, Object.keys(body)]).toEqual([201, ['webhookId']]);
  return body.webhookId;
}

const rotate = (webhookId: string, secret: string, key = KEY) =>
  call(`/webhooks/${encodeURIComponent(webhookId)}/rotate-secret`, { major: '2', key, body: { secret } });
const newRun = () => call('/v1/runs', { body: { workflowId: 'echo' } });
const view = async (webhookId: string) =>
  (await call(`/host/example/webhooks/${encodeURIComponent(webhookId)}`, { key: WIDE })).body;
const storedIds = async () => (await call('/host/example/webhooks', { key: WIDE })).body.webhooks;

/** Returns the requests after the challenge, in the form that a verifier takes. */
const sent = () =>
  receiver.headers
    .map((headers, index) => ({
      headers: headers as Record<string, string>,
      body: receiver.bodies[index] ?? Buffer.of(),
    }))
    .filter(({ headers }) => headers['svc-event-type'] !== undefined);

function accepts(webhook: { verify(body: Buffer, headers: Record<string, string>): unknown }, index = 0): boolean {
  const { body, headers } = sent()[index] ?? { body: Buffer.of(), headers: {} };
  try {
    webhook.verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

describe(covers('webhooks.signature.standard-opt-in', 'webhooks.signature.standard-form'), () => {
  test('sends a challenge first, and then deliveries that every kind of verifier accepts', async () => {
    const secret = newSecret();
    const webhookId = await registered(secret);
    const [asked] = receiver.headers;
    expect(Object.keys(asked ?? {}).filter((name) => /^(x-)?svc-/.test(name))).toEqual([]);
    await newRun();
    await eventually(() => receiver.deliveries.length === 1);
    expect(receiver.deliveries).toMatchObject([{ webhookId, eventType: 'run.completed' }]);
    expect(accepts(new PublicWebhook(secret))).toBe(true);
    expect(accepts(new StandardWebhook(secret))).toBe(true);
    expect(accepts(new Webhook(secret))).toBe(true);
    for (const Other of [PublicWebhook, StandardWebhook, Webhook]) expect(accepts(new Other(newSecret()))).toBe(false);
    const [{ headers } = { headers: {} }] = sent();
    expect(Reflect.get(headers, 'webhook-timestamp')).toBe(Reflect.get(headers, 'svc-timestamp'));
    expect(Reflect.get(headers, 'svc-signature-algorithm')).toBe('v1');
    expect(await view(webhookId)).toMatchObject({ signatureAlgorithms: BOTH });
    expect(host.stderr().join('\n')).not.toContain(secret);
  });

  test('sends other subscriptions no challenge and no headers of the standard', async () => {
    const secret = newSecret();
    const { status } = await register(secret, { signatureAlgorithms: undefined });
    expect([status, receiver.headers.length]).toEqual([201, 0]);
    receiver.trust(secret);
    await newRun();
    await eventually(() => receiver.deliveries.length === 1);
    expect(Object.keys(receiver.headers[0] ?? {}).filter((name) => name.startsWith('webhook-'))).toEqual([]);
  });
});

describe(covers('webhooks.signature.standard-id-stable'), () => {
  test('all attempts of a delivery have the same id, a redriven one included, and another delivery has another id', async () => {
    const secret = newSecret();
    const webhookId = await registered(secret);
    receiver.answer = 500;
    await newRun();
    await eventually(async () => (await view(webhookId)).lastAttempts.length === 4);
    receiver.answer = undefined;
    await call(`/host/example/webhooks/${encodeURIComponent(webhookId)}/dead-letters/redrive`, { body: {} });
    await eventually(() => receiver.deliveries.length === 1);
    const ids = () => sent().map(({ headers }) => headers['webhook-id']);
    expect([ids().length, new Set(ids()).size]).toEqual([5, 1]);
    expect(ids()[0]).toMatch(/^[A-Za-z0-9_-]{16,128}$/);
    await newRun();
    await eventually(() => receiver.deliveries.length === 2);
    expect(new Set(ids()).size).toBe(2);
  });
});

describe(covers('webhooks.signature.standard-challenge'), () => {
  const unverified = { status: 400, body: { error: 'webhook_endpoint_unverified', message: expect.any(String) } };

  test('every failed challenge gets the same refusal, and nothing is stored', async () => {
    const secret = newSecret();
    const refusals = [];
    // The endpoint has another secret, accepts without verifying, or redirects.
    receiver.trustStandard(newSecret());
    refusals.push(await register(secret));
    for (const status of [200, 204, 404, 500]) {
      receiver.answer = status;
      refusals.push(await register(secret));
    }
    receiver.answer = 307;
    receiver.trustStandard(secret);
    receiver.answerHeaders = { location: receiver.url };
    refusals.push(await register(secret));
    expect(receiver.headers.length).toBe(6);
    for (const refusal of refusals) expect(refusal).toMatchObject(unverified);
    expect(new Set(refusals.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(refusals[0]?.body.details).toBeUndefined();
    expect(await storedIds()).toEqual([]);
    expect(host.stderr().join('\n')).not.toContain(secret);
  });

  test('a closed port and an endpoint that never answers get that refusal, too', async () => {
    const secret = newSecret();
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const address = closed.address();
    const { port } = typeof address === 'object' && address !== null ? address : { port: 0 };
    await new Promise((resolve) => closed.close(resolve));
    await host.reboot({}, { egress: { allowLoopback: [receiver.port, port] } });
    receiver.answer = 'never';
    const started = performance.now();
    const [closedPort, silent] = await Promise.all([
      register(secret, { url: `http://127.0.0.1:${port}/hook` }),
      register(secret),
    ]);
    expect(performance.now() - started).toBeGreaterThan(9_900);
    expect([closedPort, silent]).toMatchObject([unverified, unverified]);
    expect(JSON.stringify(closedPort.body)).toBe(JSON.stringify(silent.body));
    expect(receiver.headers.length).toBe(1);
    expect(await storedIds()).toEqual([]);
  });

  test('a URL that the egress rules deny is refused and not called', async () => {
    for (const url of ['https://10.0.0.1/hook', 'http://hooks.example/', 'https://localhost/', `http://127.0.0.1:1/`]) {
      expect((await register(newSecret(), { url })).body.error).toBe('webhook_url_rejected');
    }
    expect(receiver.headers.length).toBe(0);
  });

  test('a malformed body is rejected before the challenge', async () => {
    for (const changes of [
      { signatureAlgorithms: ['standard-webhooks-1'] },
      { secret: 'x'.repeat(32) },
      { secret: undefined },
    ]) {
      const { status, body } = await register(newSecret(), changes);
      expect([status, body.error]).toEqual([400, 'validation_error']);
    }
    const v1 = { url: receiver.url, events: ['run.completed'], tenantId: 'acme-prod', signatureAlgorithms: BOTH };
    expect((await call('/v1/webhooks', { body: v1 })).body.error).toBe('validation_error');
    expect((await call('/v1/webhooks', { body: { ...v1, signatureAlgorithms: ['v1'] } })).status).toBe(201);
    expect(receiver.headers.length).toBe(0);
  });
});

describe(covers('webhooks.signature.standard-rotation', 'webhooks.secret.no-rotation-operation'), () => {
  test('both secrets sign during the overlap, and a second rotation retires the oldest at once', async () => {
    const [first, second, third] = [newSecret(), newSecret(), newSecret()];
    const webhookId = await registered(first);
    const asked = receiver.headers.length;
    const before = Date.now();
    const { status, body } = await rotate(webhookId, second);
    expect([status, Object.keys(body).sort()]).toEqual([200, ['previousSecretExpiresAt', 'rotatedAt']]);
    expect(Date.parse(body.rotatedAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(body.previousSecretExpiresAt) - Date.parse(body.rotatedAt)).toBe(3_600_000);
    expect(receiver.headers.length).toBe(asked);

    // The receiver still has only the first secret.
    await newRun();
    await eventually(() => receiver.deliveries.length === 1);
    const verdicts = (index: number) =>
      [first, second, third].map((secret) => [
        accepts(new PublicWebhook(secret), index),
        accepts(new StandardWebhook(secret), index),
        accepts(new Webhook(secret), index),
      ]);
    expect(verdicts(0)).toEqual([
      [true, true, true],
      [true, true, false],
      [false, false, false],
    ]);

    await rotate(webhookId, third);
    receiver.trustStandard(third);
    await newRun();
    await eventually(() => receiver.deliveries.length === 2);
    expect(verdicts(1)).toEqual([
      [false, false, false],
      [true, true, true],
      [true, true, false],
    ]);
    const log = host.stderr().join('\n');
    for (const secret of [first, second, third]) expect(log).not.toContain(secret);
  });

  test('a delivery that waited during a rotation is signed by the secrets that are valid when it is sent', async () => {
    const [first, second] = [newSecret(), newSecret()];
    const webhookId = await registered(first);
    receiver.answer = 503;
    // The next attempt comes after the rotation, also on a machine that takes its time for it.
    receiver.answerHeaders = { 'retry-after': '5' };
    await newRun();
    await eventually(() => sent().length > 0);
    await rotate(webhookId, second);
    receiver.trustStandard(second);
    receiver.answer = undefined;
    await eventually(() => receiver.deliveries.length === 1);
  });

  test('a repeated rotation gets the same answer', async () => {
    const [first, second] = [newSecret(), newSecret()];
    const webhookId = await registered(first);
    const answers = [await rotate(webhookId, second), await rotate(webhookId, second)];
    expect(answers[1]).toMatchObject({ status: 200, body: answers[0]?.body });
    expect((await rotate(webhookId, newSecret())).status).toBe(200);
  });

  test('the rotation of major 1 requires the workspace', async () => {
    const [first, second] = [newSecret(), newSecret()];
    const [, bare] = (await registered(first)).split('/');
    const twin = (query: string, key = KEY, secret = second) =>
      call(`/v1/webhooks/${bare}/rotate-secret${query}`, { key, body: { secret } });
    expect((await twin('')).status).toBe(400);
    expect((await twin('?tenantId=acme-prod', DEV)).status).toBe(403);
    expect((await twin('?tenantId=acme')).status).toBe(403);
    expect((await twin('?tenantId=acme-prod', KEY, 'short')).status).toBe(400);
    const { status, body, headers } = await twin('?tenantId=acme-prod');
    expect([status, Object.keys(body).sort()]).toEqual([200, ['previousSecretExpiresAt', 'rotatedAt']]);
    expect(headers.get('svc-version')).toMatch(/^1\./);
  });

  test('refuses other tenants, unknown subscriptions and subscriptions with v1 alone', async () => {
    const webhookId = await registered(newSecret());
    const secret = newSecret();
    expect((await rotate(webhookId, secret, OTHER_TENANT)).body.error).toBe('id_tenant_mismatch');
    expect((await rotate(webhookId, secret, DEV)).status).toBe(403);
    expect((await rotate('acme/whk_00000000000000000000000000', secret)).status).toBe(404);
    const plain = await register(newSecret(), { signatureAlgorithms: ['v1'] });
    const refused = await rotate(plain.body.webhookId, secret);
    expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    expect(refused.body.message).toContain('register it again');
    expect((await view(webhookId)).previousSecretExpiresAt).toBeUndefined();
  });
});

describe(covers('webhooks.durable.v2-facet'), () => {
  const facets = async (major: string) => (await call('/.well-known/svc', { major })).body.webhooks;

  test('discovery of major 2 names the algorithm', async () => {
    expect(await facets('2')).toMatchObject({ signatureAlgorithms: BOTH, secretRotation: { overlapSeconds: 3600 } });
    expect(await facets('1')).toMatchObject({ signatureAlgorithms: ['v1'] });
  });

  test('a host without the algorithm has no rotation, and signs existing subscriptions as before', async () => {
    const secret = newSecret();
    const webhookId = await registered(secret);
    await host.reboot({ signatureAlgorithms: ['v1'] });
    expect(await facets('2')).toMatchObject({ signatureAlgorithms: ['v1'] });
    expect(await facets('2')).not.toHaveProperty('secretRotation');
    expect((await register(newSecret())).body.error).toBe('validation_error');
    expect((await rotate(webhookId, newSecret())).status).toBe(404);
    const [, bare] = webhookId.split('/');
    const twin = `/v1/webhooks/${bare}/rotate-secret?tenantId=acme-prod`;
    expect((await call(twin, { body: { secret: newSecret() } })).status).toBe(501);
    await newRun();
    await eventually(() => receiver.deliveries.length === 1);
  });
});
