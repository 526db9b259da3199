import { randomBytes } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import { StandardWebhook, standardVerifier } from '@svc/webhook-verify/standard-webhooks';
import { describe, expect, test } from 'vitest';
import { HostError } from '../../src/errors.ts';
import type { LogRecord } from '../../src/ports/log.ts';
import type { TransportRequest, TransportVerdict } from '../../src/ports/transport.ts';
import { endpointVerifier } from '../../src/webhooks/verify-endpoint.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';

const START = 1_780_000_000_000;
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const endpoint = { url: 'https://hooks.example/hook?token=t', secret, tenant: 'acme' };

/** Makes a verifier whose network answers as the test says. */
function verifying(answer: (request: TransportRequest) => TransportVerdict | Promise<TransportVerdict>) {
  const world = virtualClock(START);
  const requests: TransportRequest[] = [];
  const records: LogRecord[] = [];
  const endpoints = endpointVerifier({
    transport: async (request) => {
      requests.push(request);
      return answer(request);
    },
    clock: world,
    random: randomBytes,
    log: (record) => records.push(record),
    userAgent: 'test/1',
  });
  /** Verifies the endpoint, and moves the time on until there is an outcome. */
  const verify = async (tenant = 'acme') => {
    let outcome: HostError | 'verified' | undefined;
    const done = endpoints.verify({ ...endpoint, tenant }).then(
      () => {
        outcome = 'verified';
      },
      (error: unknown) => {
        if (!HostError.is(error)) throw error;
        outcome = error;
      },
    );
    while (outcome === undefined && (await world.step(START + 60_000)));
    await done;
    return outcome;
  };
  return { world, requests, records, endpoints, verify };
}

const answered = (status: number, body?: string | Uint8Array): TransportVerdict => ({
  kind: 'answered',
  status,
  retryAfter: undefined,
  ...(body !== undefined && { body: typeof body === 'string' ? new TextEncoder().encode(body) : body }),
  durationMs: 1,
});
const challengeIn = ({ body }: TransportRequest): string => JSON.parse(new TextDecoder().decode(body)).challenge;
const repeat = (request: TransportRequest) => answered(200, JSON.stringify({ challenge: challengeIn(request) }));

describe(covers('webhooks.signature.standard-challenge'), () => {
  test('sends one request, signed by the three headers, without the headers of a delivery', async () => {
    const { requests, verify } = verifying(repeat);
    expect(await verify()).toBe('verified');
    const [request, ...others] = requests;
    if (request === undefined) throw new Error('Nothing was sent.');
    expect(others).toEqual([]);
    expect(request).toMatchObject({ url: endpoint.url, timeoutMs: 10_000, once: true });
    expect(request.keepBodyBytes).toBeLessThanOrEqual(65_536);
    expect(Object.keys(request.headers).sort()).toEqual([
      'content-type',
      'user-agent',
      'webhook-id',
      'webhook-signature',
      'webhook-timestamp',
    ]);
    expect(request.headers['webhook-id']).toMatch(/^[A-Za-z0-9_-]{16,128}$/);
    expect(request.headers['webhook-timestamp']).toBe(String(START / 1000));
    const message = new StandardWebhook(secret, { now: () => START }).verify(request.body, request.headers);
    expect(message.payload).toEqual({ type: 'svc.webhook.verification', challenge: expect.any(String) });
  });

  test('each challenge is 256 new random bits in base64url', async () => {
    const { requests, verify } = verifying(repeat);
    for (let turn = 0; turn < 50; turn++) await verify();
    const challenges = requests.map(challengeIn);
    expect(challenges.every((text) => /^[A-Za-z0-9_-]{43}$/.test(text))).toBe(true);
    expect(new Set(challenges).size).toBe(50);
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(50);
  });

  test('the receiver of @svc/webhook-verify answers the challenge', async () => {
    const receiver = standardVerifier(secret, { now: () => START });
    const { verify } = verifying(({ body, headers }) => {
      const received = receiver.safeVerify(body, headers);
      return received.ok && 'challenge' in received
        ? answered(200, JSON.stringify({ challenge: received.challenge }))
        : answered(400);
    });
    expect(await verify()).toBe('verified');
  });

  test.each([200, 201, 299])('accepts status %i', async (status) => {
    const { verify } = verifying((request) => ({ ...repeat(request), status }) as TransportVerdict);
    expect(await verify()).toBe('verified');
  });

  const refusals: readonly [why: string, answer: (request: TransportRequest) => TransportVerdict][] = [
    ['another challenge', () => answered(200, JSON.stringify({ challenge: randomBytes(32).toString('base64url') }))],
    [
      'half of the challenge',
      (request) => answered(200, JSON.stringify({ challenge: challengeIn(request).slice(0, 21) })),
    ],
    ['the challenge in a list', (request) => answered(200, JSON.stringify({ challenge: [challengeIn(request)] }))],
    [
      'the challenge elsewhere',
      (request) => answered(200, JSON.stringify({ data: { challenge: challengeIn(request) } })),
    ],
    ['the challenge as text alone', (request) => answered(200, challengeIn(request))],
    ['the challenge as a JSON string', (request) => answered(200, JSON.stringify(challengeIn(request)))],
    ['no challenge', () => answered(200, '{}')],
    ['JSON null', () => answered(200, 'null')],
    ['no JSON', () => answered(200, '<html></html>')],
    ['bytes that are not UTF-8', () => answered(200, Uint8Array.of(0xff, 0xfe))],
    ['deeply nested JSON', () => answered(200, '['.repeat(4096))],
    ['an empty answer', () => answered(204, '')],
    ['an answer that is too long', () => answered(200)],
    ['the challenge with a 3xx', (request) => ({ ...repeat(request), status: 307 }) as TransportVerdict],
    ['the challenge with a 400', (request) => ({ ...repeat(request), status: 400 }) as TransportVerdict],
    ['an address that is denied', () => ({ kind: 'denied', reason: 'private', durationMs: 1 })],
    ['a name that does not resolve', () => ({ kind: 'failed', reason: 'dns', durationMs: 1 })],
    ['a port without a listener', () => ({ kind: 'failed', reason: 'connect', durationMs: 1 })],
    ['a bad certificate', () => ({ kind: 'failed', reason: 'tls', durationMs: 1 })],
  ];

  test.each(refusals)(
    'rejects %s after one request, with the same error as for any other reason',
    async (_why, answer) => {
      const { verify, requests, world } = verifying(answer);
      const refusal = await verify();
      if (!HostError.is(refusal)) throw new Error('It was verified.');
      expect([refusal.code, refusal.status, refusal.details, requests.length]).toEqual([
        'webhook_endpoint_unverified',
        400,
        undefined,
        1,
      ]);
      const other = await verifying(() => answered(500)).verify();
      expect(refusal.message).toBe(HostError.is(other) ? other.message : '');
      // A refusal by the host's own resolver or policy takes as long as one by the endpoint.
      expect(world.now() - START).toBe(1000);
    },
  );

  test('gives the reason in the log alone, with the origin of the URL and no secret', async () => {
    const { verify, records } = verifying(() => ({ kind: 'denied', reason: 'private', durationMs: 1 }));
    await verify();
    expect(records).toEqual([
      {
        level: 'warn',
        event: 'webhook.verification',
        tenant: 'acme',
        destination: 'https://hooks.example',
        verified: false,
        outcome: 'denied',
        reason: 'private',
      },
    ]);
  });
});

describe('verifications under way', () => {
  test('are limited for a tenant, and for all tenants together', async () => {
    const { endpoints, requests } = verifying(() => new Promise(() => {}));
    const begin = (tenant: string) => endpoints.verify({ ...endpoint, tenant }).catch((error: unknown) => error);
    for (let turn = 0; turn < 4; turn++) void begin('acme');
    expect(await begin('acme')).toMatchObject({ code: 'service_unavailable', headers: { 'retry-after': '5' } });
    for (let turn = 0; turn < 60; turn++) void begin(`tenant_${turn}`);
    expect(await begin('another')).toMatchObject({ code: 'service_unavailable' });
    expect(requests.length).toBe(64);
  });

  test('give their slots back when they end', async () => {
    const { verify } = verifying(() => answered(500));
    for (let turn = 0; turn < 9; turn++) expect(await verify()).toMatchObject({ code: 'webhook_endpoint_unverified' });
  });

  test('end when the host stops, and none begins afterwards', async () => {
    const { endpoints, requests } = verifying(
      ({ signal }) =>
        new Promise((resolve) => {
          const aborted = { kind: 'failed', reason: 'aborted', durationMs: 1 } as const;
          signal.addEventListener('abort', () => resolve(aborted));
        }),
    );
    const underWay = endpoints.verify(endpoint);
    endpoints.stop();
    await expect(underWay).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(endpoints.verify(endpoint)).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(requests.length).toBe(1);
  });
});
