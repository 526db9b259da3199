import { createHmac, randomBytes } from 'node:crypto';
import { createServer, request, type Server } from 'node:http';
import { covers } from '@svc/tools/covers';
import type { Delivery } from '@svc/webhook-verify';
import { memoryDedupStore } from '@svc/webhook-verify/dedup/memory';
import { receive } from '@svc/webhook-verify/receive';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import './booted-host.ts';

const SECRET = randomBytes(32).toString('hex');
/** The time of the receiver, which stands still, in seconds. */
const NOW = 1_800_000_000;
/** A body that no serializer writes in this form. */
const BODY = `{ "runId" : "run_1","workspaceId":"acme-prod",\n"event":{"type":"run.completed","runId":"run_1",
"sequence": 4, "timestamp":"2026-01-01T00:00:00.000Z","payload":{"outputs":{"n":1.0e2}},"schemaVersion":1,"engineVersion":1}}`;

const received: Delivery[] = [];
/** The handler waits for it before it accepts a delivery. */
let work: () => Promise<void>;
/** The time of the claims. */
let seconds = NOW;
/** The header `Retry-After` of the last response. */
let retryAfter: string | undefined;
let server: Server;
let port = 0;

beforeAll(async () => {
  const handle = receive({
    secret: SECRET,
    now: () => NOW * 1000,
    dedup: memoryDedupStore({ now: () => seconds * 1000 }),
    onDelivery: async (delivery) => {
      await work();
      received.push(delivery);
    },
  });
  server = createServer(async (asked, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of asked) chunks.push(chunk);
    const { status, body, retryAfterSeconds } = await handle(Buffer.concat(chunks), asked.headersDistinct);
    if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds);
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  received.length = 0;
  work = async () => {};
  seconds = NOW;
});

type Headers = Record<string, string | readonly string[] | undefined>;

/** Sends a request with exactly these headers, and returns its status and the number of accepted deliveries. */
async function post(headers: Headers, body = BODY): Promise<[status: number | undefined, accepted: number]> {
  const given = Object.entries(headers).filter(([, value]) => value !== undefined) as [string, string | string[]][];
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', path: '/hook', agent: false }, (response) => {
      retryAfter = response.headers['retry-after'];
      response.resume().on('end', () => resolve(response.statusCode));
    });
    for (const [name, value] of given) sent.setHeader(name, value);
    sent.on('error', reject).end(body);
  });
  return [status, received.length];
}

const hexOf = (timestamp: string, { secret = SECRET as string | Buffer, body = BODY } = {}) =>
  createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');

let sequence = 0;
/** The headers of one family for a delivery that is signed now. Each has a webhook id of its own. */
function family(prefix: 'SVC' | 'X-svc', changes: Headers = {}, timestamp = String(NOW)): Headers {
  const name = (part: string) =>
    prefix === 'SVC' ? (part === 'Webhook-Id' ? 'SVC-Webhook-Id' : `SVC-${part}`) : `X-svc-${part}`;
  const values: Headers = {
    'Webhook-Id': `whk_${++sequence}`,
    'Event-Type': 'run.completed',
    Timestamp: timestamp,
    Signature: `sha256=${hexOf(timestamp)}`,
    'Signature-Algorithm': 'v1',
    ...changes,
  };
  return Object.fromEntries(Object.entries(values).map(([part, value]) => [name(part), value]));
}

const ACCEPTED = [expect.toSatisfy((status: number) => status >= 200 && status < 300), 1];
const REJECTED = [expect.toSatisfy((status: number) => status >= 400 && status < 500), 0];

describe(
  covers(
    'webhooks.verify.hmac',
    'webhooks.verify.raw-body',
    'webhooks.signature.key',
    'webhooks.signature.algorithm-absent-is-v1',
    'webhooks.signature.family-b-only-accepted',
  ),
  () => {
    test.each<[string, () => Headers, string?]>([
      [
        'of both families',
        () => {
          const a = family('SVC');
          return { ...a, ...family('X-svc', { 'Webhook-Id': a['SVC-Webhook-Id'] }) };
        },
      ],
      ['of family A alone', () => family('SVC')],
      ['of family B alone', () => family('X-svc')],
      ['without an algorithm', () => family('SVC', { 'Signature-Algorithm': undefined })],
      ['of family B without an algorithm', () => family('X-svc', { 'Signature-Algorithm': undefined })],
    ])('a delivery is accepted: %s', async (_title, headers) => {
      expect(await post(headers())).toEqual(ACCEPTED);
      expect(received[0]).toMatchObject({ event: { type: 'run.completed', sequence: 4 } });
    });

    const signed = (hex: string) => family('SVC', { Signature: `sha256=${hex}` });
    test.each<[string, Headers, string?]>([
      ['with another body', family('SVC'), BODY.replace('1.0e2', '100')],
      ['with its body serialised again', family('SVC'), JSON.stringify(JSON.parse(BODY))],
      ['signed over the body serialised again', signed(hexOf(String(NOW), { body: JSON.stringify(JSON.parse(BODY)) }))],
      ['signed with another secret', signed(hexOf(String(NOW), { secret: SECRET.replace(/.$/, 'g') }))],
      ['signed with the secret decoded', signed(hexOf(String(NOW), { secret: Buffer.from(SECRET, 'hex') }))],
      ['signed for another time', signed(hexOf(String(NOW - 1)))],
      ['signed without the time', signed(createHmac('sha256', SECRET).update(BODY).digest('hex'))],
    ])('a delivery is rejected: %s', async (_title, headers, body) => {
      expect(await post(headers, body)).toEqual(REJECTED);
    });
  },
);

describe(covers('webhooks.verify.freshness', 'webhooks.verify.timestamp-grammar'), () => {
  test.each([-300, -299, 0, 299, 300])('a timestamp %i s from the clock is accepted', async (offset) => {
    expect(await post(family('SVC', {}, String(NOW + offset)))).toEqual(ACCEPTED);
  });
  test.each([-301, 301, -86_400, 86_400])('a timestamp %i s from the clock is rejected', async (offset) => {
    expect(await post(family('SVC', {}, String(NOW + offset)))).toEqual(REJECTED);
  });
  test.each([
    `+${NOW}`,
    `${NOW}.0`,
    `0x${NOW.toString(16)}`,
    `${NOW}s`,
    '1.8e9',
    new Date(NOW * 1000).toISOString(),
    '',
  ])('the timestamp %j is rejected', async (timestamp) => {
    expect(await post(family('SVC', {}, timestamp))).toEqual(REJECTED);
  });
});

describe(
  covers(
    'webhooks.verify.headers-required',
    'webhooks.verify.signature-prefix',
    'webhooks.verify.families-disagree',
    'webhooks.verify.repeated-header',
  ),
  () => {
    const hex = hexOf(String(NOW));
    const both = (changes: Headers): Headers => ({
      ...family('SVC', { 'Webhook-Id': 'whk' }),
      ...family('X-svc', { 'Webhook-Id': 'whk' }),
      ...changes,
    });
    test.each<[string, Headers]>([
      ['without a timestamp', family('SVC', { Timestamp: undefined })],
      ['without a signature', family('SVC', { Signature: undefined })],
      ['without any header', {}],
      ['with a bare signature', family('SVC', { Signature: hex })],
      ['with another prefix', family('SVC', { Signature: `sha1=${hex}` })],
      ['with a short signature', family('SVC', { Signature: `sha256=${hex.slice(2)}` })],
      ['with a long signature', family('SVC', { Signature: `sha256=${hex}00` })],
      ['with a signature that is not hexadecimal', family('SVC', { Signature: `sha256=${'g'.repeat(64)}` })],
      ['with two ids', both({ 'X-svc-Webhook-Id': 'whk_other' })],
      ['with two event types', both({ 'X-svc-Event-Type': 'run.failed' })],
      ['with two times', both({ 'X-svc-Timestamp': String(NOW + 1) })],
      ['with two signatures', both({ 'X-svc-Signature': `sha256=${'0'.repeat(64)}` })],
      ['with two algorithms', both({ 'X-svc-Signature-Algorithm': 'v2' })],
      ['with a repeated signature', family('SVC', { Signature: [`sha256=${hex}`, `sha256=${'0'.repeat(64)}`] })],
      ['with a repeated time', family('SVC', { Timestamp: [String(NOW), String(NOW + 1)] })],
    ])('a delivery is rejected: %s', async (_title, headers) => {
      expect(await post(headers)).toEqual(REJECTED);
    });
  },
);

test.each(['v2', 'V1', 'hmac-sha256'])(`${covers('webhooks.verify.unknown-algorithm')} %j`, async (algorithm) => {
  expect(await post(family('SVC', { 'Signature-Algorithm': algorithm }))).toEqual([400, 0]);
});

test(`${covers('webhooks.verify.dedup')} over HTTP`, async () => {
  const headers = family('SVC');
  expect(await post(headers)).toEqual(ACCEPTED);
  // The repetition is acknowledged, so that the host stops, and is not handled again.
  expect(await post(headers)).toEqual(ACCEPTED);
  expect(await post(family('SVC'))).toEqual([expect.any(Number), 2]);
});

test(`${covers('webhooks.verify.open-claim')} over HTTP`, async () => {
  let end = () => {};
  const began = new Promise<void>((began) => {
    work = () =>
      new Promise<void>((resolve) => {
        end = resolve;
        began();
      });
  });
  const headers = family('SVC');
  const first = post(headers);
  await began;
  seconds += 42;
  expect(await post(headers)).toEqual([409, 0]);
  expect(retryAfter).toBe('18');
  end();
  expect(await first).toEqual(ACCEPTED);
  expect(retryAfter).toBeUndefined();
});
