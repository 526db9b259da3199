import { createHash, createHmac } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BootedHost, bootHost, eventually, scratch } from './booted-host.ts';
import { bearer, sender } from './callers.ts';
import { bootInProcess } from './host-in-process.ts';

const KEY = 'operator_brought_key_of_enough_characters';
const folder = scratch();
/** A public address that the operator denies. */
const OPERATOR_DENIES = '93.184.216.34';

/** A request of the host to a path of the receiver. */
interface Hook {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  answer(status: number): void;
}
/** The requests by path, and what a path answers. A path without an answer holds its requests. */
const hooks = new Map<string, Hook[]>();
const answers = new Map<string, number>();
const at = (path: string): readonly Hook[] => hooks.get(path) ?? [];

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const path = request.url ?? '';
  const size = /^\/bytes\/(\d+)$/.exec(path)?.[1];
  if (size !== undefined) return void response.writeHead(200).end(Buffer.alloc(Number(size)));
  const answer = (status: number) => void response.writeHead(status).end();
  const body = Buffer.concat(chunks).toString();
  hooks.set(path, [...at(path), { headers: request.headers, body, answer }]);
  const status = answers.get(path);
  if (status !== undefined) answer(status);
}

const plain = createServer(take);

/** A name server for the host, with the addresses of each name. */
const names = new Map<string, readonly string[]>();
const queries: string[] = [];
const nameServer: Socket = createSocket('udp4');
nameServer.on('message', (query, { port, address }) => {
  const labels: string[] = [];
  let end = 12;
  for (let size = query[end] ?? 0; size !== 0; size = query[end] ?? 0) {
    labels.push(query.subarray(end + 1, end + 1 + size).toString());
    end += size + 1;
  }
  const name = labels.join('.');
  const isA = query.readUInt16BE(end + 1) === 1;
  if (isA) queries.push(name);
  const addresses = isA ? (names.get(name) ?? []) : [];
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  const records = addresses.map((each) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...each.split('.').map(Number)]),
  );
  nameServer.send(Buffer.concat([header, query.subarray(12, end + 5), ...records]), port, address);
});

let host: BootedHost;
/** The end of a request to which the receiver never answers. */
let unanswered: ReturnType<typeof endOfUnanswered>;
const call = sender(() => host.url);
const portOf = (server: Server) => {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

beforeAll(async () => {
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => nameServer.bind(0, '127.0.0.1', resolve));
  // Every resolver of the process asks the name server of this test.
  writeFileSync(
    folder.path('names.mjs'),
    `import dns from 'node:dns/promises';
     import { syncBuiltinESMExports } from 'node:module';
     const { Resolver } = dns;
     dns.Resolver = class extends Resolver {
       constructor(options) { super(options); this.setServers(['127.0.0.1:${nameServer.address().port}']); }
     };
     syncBuiltinESMExports();`,
  );
  host = await bootHost(
    folder.path('host.json'),
    configuration('host', { backoff: 'fixed', delayMs: 100 }),
    // The host of the test's own process could not have a name server of its own.
    ['--import', folder.path('names.mjs')],
  );
  // Takes 30 s, in which the other tests run.
  unanswered = endOfUnanswered();
});
afterAll(async () => {
  host?.process.kill('SIGKILL');
  await host?.ended;
  plain.closeAllConnections();
  plain.close();
  nameServer.close();
  folder.remove();
});

function configuration(name: string, retryPolicy: object): object {
  return {
    listen: { port: 0 },
    store: `sqlite:${folder.path(`${name}.db`)}`,
    tenants: [{ id: 'acme', workspaces: ['acme-prod'] }],
    apiKeys: [{ id: 'key_1', key: KEY, tenant: 'acme', workspaces: ['acme-prod'], principal: 'p_1', scopes: ['*:*'] }],
    webhooks: {
      durable: false,
      circuit: { failureThreshold: 2, cooldownMs: 500, failureLimit: 5 },
      retryPolicy: { maxAttempts: 3, ...retryPolicy },
      concurrency: { perSubscription: 2 },
      attemptTimeoutMs: 20_000,
    },
    egress: { allowLoopback: [portOf(plain)], denyCidrs: [`${OPERATOR_DENIES}/32`] },
  };
}

const MAJOR_1 = { ...bearer(KEY), 'svc-version': '1' };
const MAJOR_2 = { ...bearer(KEY), 'svc-version': '2' };
const here = (path: string) => `http://127.0.0.1:${portOf(plain)}${path}`;

/** Registers under major 1, whose deliveries are best-effort here. */
async function bestEffort(path: string, events = ['run.completed']) {
  const body = { url: here(path), events, tenantId: 'acme-prod' };
  const { status, body: registered } = await call('/v1/webhooks', { headers: MAJOR_1, body });
  expect(status).toBe(201);
  return registered;
}

/** Registers under major 2, whose deliveries are durable. */
async function durable(url: string, send = call): Promise<string> {
  const { status, body } = await send('/webhooks', { headers: MAJOR_2, body: { url, events: ['run.completed'] } });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body.webhookId;
}

async function run(send = call): Promise<void> {
  const { status } = await send('/v1/runs', { headers: MAJOR_1, body: { workflowId: 'echo', inputs: {} } });
  expect(status).toBe(201);
}

interface Attempt {
  readonly deliveryId: string;
  readonly dedupKey: string;
  readonly attempt: number;
  readonly at: string;
  readonly outcome: string;
  readonly reason?: string;
}

async function view(webhookId: string, send = call) {
  const { body } = await send(`/host/example/webhooks/${encodeURIComponent(webhookId)}`, { headers: bearer(KEY) });
  const attempts: readonly Attempt[] = body.lastAttempts;
  return { state: String(body.state), circuit: String(body.circuit.state), failures: body.recentFailures, attempts };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const DENIED: Readonly<Record<string, readonly string[]>> = {
  'not https': ['http://hooks.example/', 'ftp://hooks.example/', 'file:///etc/passwd'],
  'RFC 1918': ['https://10.0.0.1/', 'https://172.16.0.1/', 'https://172.31.255.254/', 'https://192.168.0.1/'],
  'RFC 1918 in other spellings': ['https://0x0a000001/', 'https://167772161/', 'https://012.0.0.1/', 'https://10.1/'],
  'link-local': ['https://169.254.1.1/', 'https://[fe80::1]/', 'https://[febf::1]/'],
  'IPv6 ULA': ['https://[fc00::1]/', 'https://[fdff::1]/'],
  'cloud metadata': ['https://169.254.169.254/latest/', 'https://metadata.google.internal/'],
  'the name localhost': ['https://localhost/', 'https://LOCALHOST/', 'https://localhost./'],
  'the name metadata': ['https://metadata/', 'https://METADATA./'],
  'IPv4 in IPv6': ['https://[::ffff:10.0.0.1]/', 'https://[::ffff:a9fe:a9fe]/', 'https://[64:ff9b::a00:1]/'],
};

describe(
  covers(
    'webhooks.url.non-https',
    'webhooks.url.rfc-1918',
    'webhooks.url.link-local',
    'webhooks.url.ipv6-ula',
    'webhooks.url.cloud-metadata',
    'webhooks.url.name-localhost',
    'webhooks.url.name-metadata',
    'webhooks.url.v4-in-v6',
    'webhooks.url.loopback-switch',
  ),
  () => {
    const register = (url: string) =>
      Promise.all([
        call('/v1/webhooks', { headers: MAJOR_1, body: { url, events: ['run.failed'], tenantId: 'acme-prod' } }),
        call('/webhooks', { headers: MAJOR_2, body: { url, events: ['run.failed'] } }),
      ]);

    test.each(Object.entries(DENIED))('a URL is rejected under both majors: %s', async (_why, urls) => {
      for (const url of urls) {
        for (const { status, body } of await register(url))
          expect([url, status, body.error]).toEqual([url, 400, 'webhook_url_rejected']);
      }
    });

    test('the switch opens its ports on loopback, and nothing else', async () => {
      for (const { status } of await register(here('/open'))) expect(status).toBe(201);
      const port = portOf(plain);
      for (const url of [
        `http://127.0.0.1:${port + 1}/`,
        `http://10.0.0.1:${port}/`,
        `http://169.254.169.254:${port}/`,
      ])
        for (const { status } of await register(url)) expect([url, status]).toEqual([url, 400]);
    });
  },
);

test(`${covers('webhooks.registration.never-sent-400')} in both majors`, async () => {
  for (const [path, headers, type, scope] of [
    ['/v1/webhooks', MAJOR_1, 'run.dead_lettered', { tenantId: 'acme-prod' }],
    ['/webhooks', MAJOR_2, 'run.dead-lettered', {}],
  ] as const) {
    const body = { url: here('/never'), events: ['run.completed', type], ...scope };
    const { status, text } = await call(path, { headers, body });
    expect([status, text]).toEqual([400, expect.stringContaining(type)]);
    expect(text).not.toContain('run.completed');
  }
});

test(
  covers(
    'webhooks.headers.timestamp',
    'webhooks.headers.signature',
    'webhooks.signature.key',
    'webhooks.secret.fingerprint-form',
  ),
  async () => {
    answers.set('/signed', 200);
    const { secret, secretFingerprint } = await bestEffort('/signed');
    expect(secretFingerprint).toBe(createHash('sha256').update(secret).digest('hex').slice(0, 8));
    const before = Math.floor(Date.now() / 1000);
    await run();
    await eventually(() => at('/signed').length === 1);
    const [hook] = at('/signed');
    const after = Math.floor(Date.now() / 1000);
    const timestamp = String(hook?.headers['svc-timestamp']);
    expect(timestamp).toMatch(/^\d+$/);
    expect([Number(timestamp) >= before, Number(timestamp) <= after]).toEqual([true, true]);
    const signature = createHmac('sha256', secret).update(`${timestamp}.${hook?.body}`).digest('hex');
    expect(hook?.headers).toMatchObject({
      'svc-signature': `sha256=${signature}`,
      'x-svc-signature': `sha256=${signature}`,
      'x-svc-timestamp': timestamp,
    });
  },
);

test(covers('webhooks.circuit.half-open-after-cooldown', 'webhooks.circuit.single-probe'), async () => {
  answers.set('/probed', 500);
  const { webhookId } = await bestEffort('/probed');
  for (const failures of [1, 2]) {
    await run();
    await eventually(async () => (await view(webhookId)).failures === failures);
  }
  expect((await view(webhookId)).circuit).toBe('open');
  answers.delete('/probed');
  await pause(600);
  // The probe is held, while further events come.
  await run();
  await eventually(() => at('/probed').length === 3);
  for (let count = 0; count < 3; count++) await run();
  await eventually(
    async () => (await view(webhookId)).attempts.filter(({ outcome }) => outcome === 'skipped').length === 3,
  );
  expect(at('/probed')).toHaveLength(3);
  answers.set('/probed', 200);
  at('/probed').at(-1)?.answer(200);
  await eventually(async () => (await view(webhookId)).circuit === 'closed');
  await run();
  await eventually(() => at('/probed').length === 4);
});

test(covers('webhooks.circuit.hundred-failures-fail', 'webhooks.circuit.failed-until-reregistered'), async () => {
  answers.set('/failing', 500);
  const { webhookId } = await bestEffort('/failing');
  for (let failures = 1; failures <= 5; failures++) {
    await eventually(async () => {
      await run();
      await pause(100);
      return (await view(webhookId)).failures >= failures;
    });
    const expected = (await view(webhookId)).failures >= 5 ? 'failed' : 'active';
    expect((await view(webhookId)).state).toBe(expected);
  }
  answers.set('/failing', 200);
  const before = at('/failing').length;
  answers.set('/control', 200);
  await bestEffort('/control');
  // Longer than the cooldown: a circuit would admit a probe now.
  await pause(600);
  await run();
  await eventually(() => at('/control').length === 1);
  expect([(await view(webhookId)).state, at('/failing').length]).toEqual(['failed', before]);
  await bestEffort('/failing');
  await run();
  await eventually(() => at('/failing').length === before + 1);
  expect((await view(webhookId)).state).toBe('failed');
});

const STATES = ['active', 'paused', 'failed', 'dead-lettered'];

test(covers('webhooks.durable.subscription-states', 'webhooks.durable.dedup-key'), async () => {
  answers.set('/durable', 500);
  const webhookId = await durable(here('/durable'));
  const path = `/host/example/webhooks/${encodeURIComponent(webhookId)}`;
  const states = [(await view(webhookId)).state];
  await run();
  await eventually(async () => (await view(webhookId)).attempts.length === 3);
  const { attempts } = await view(webhookId);
  expect(STATES).toContain((await view(webhookId)).state);
  expect(attempts.map(({ attempt }) => attempt)).toEqual([3, 2, 1]);
  expect(new Set(attempts.map(({ dedupKey }) => dedupKey)).size).toBe(1);
  answers.set('/durable', 200);
  await run();
  await eventually(async () => (await view(webhookId)).attempts[0]?.outcome === 'delivered');
  expect((await view(webhookId)).attempts[0]?.dedupKey).not.toBe(attempts[0]?.dedupKey);
  states.push((await view(webhookId)).state);
  for (const action of ['pause', 'resume']) {
    expect((await call(`${path}/${action}`, { method: 'POST', headers: bearer(KEY) })).status).toBe(200);
    states.push((await view(webhookId)).state);
  }
  answers.set('/durable', 410);
  await run();
  await eventually(async () => (await view(webhookId)).state === 'failed');
  expect(states).toEqual(['active', 'active', 'paused', 'active']);
});

test(covers('webhooks.delivery.in-flight-cap'), async () => {
  const webhookId = await durable(here('/held'));
  for (let count = 0; count < 5; count++) await run();
  await eventually(() => at('/held').length === 2);
  // Time in which a third attempt would begin.
  await pause(500);
  expect(at('/held')).toHaveLength(2);
  answers.set('/held', 200);
  for (const { answer } of at('/held')) answer(200);
  await eventually(() => at('/held').length === 5);
  await eventually(async () => (await view(webhookId)).attempts.length === 5);
});

test.each<[string, number, number]>([
  ['none', 0, 0],
  ['fixed', 300, 300],
  ['exponential', 300, 600],
])(`${covers('webhooks.durable.backoff')} %s: %i ms, then %i ms`, async (backoff, first, second) => {
  const config = configuration(backoff, { backoff, delayMs: 300, maxDelayMs: 700 });
  const other = await bootInProcess(folder.path(`${backoff}.json`), config);
  try {
    const send = sender(() => other.url);
    answers.set(`/${backoff}`, 500);
    const within = ({ most }: { most: boolean }, gaps: readonly number[]) =>
      [first, second].every((delay, index) => {
        const gap = gaps[index] ?? Number.NaN;
        return most ? gap <= delay * 1.1 + 280 : gap >= delay * 0.9 - 2;
      });
    // A busy machine lengthens a delay, and never shortens it. So the upper bound must hold in one round of eight.
    for (let round = 1; ; round++) {
      const gaps = await gapsOfRetries(`/${backoff}`, send);
      expect([backoff, gaps, within({ most: false }, gaps)]).toEqual([backoff, gaps, true]);
      if (within({ most: true }, gaps)) break;
      expect([backoff, gaps, round < 8]).toEqual([backoff, gaps, true]);
    }
  } finally {
    await other.end();
  }
});

/** The times between three attempts of a delivery to a new subscription, in ms. */
async function gapsOfRetries(path: string, send: typeof call): Promise<readonly [number, number]> {
  const webhookId = await durable(here(path), send);
  await run(send);
  await eventually(async () => (await view(webhookId, send)).attempts.length === 3);
  const times = (await view(webhookId, send)).attempts.map(({ at }) => Date.parse(at)).reverse();
  const [one = 0, two = 0, three = 0] = times;
  expect(
    (await send(`/webhooks/${encodeURIComponent(webhookId)}`, { method: 'DELETE', headers: MAJOR_2 })).status,
  ).toBe(204);
  return [two - one, three - two];
}

describe(covers('webhooks.delivery.resolve-each-attempt', 'webhooks.delivery.same-ranges'), () => {
  test.each(['10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '100.64.0.1', '127.0.0.1', OPERATOR_DENIES])(
    'each of three attempts resolves the name again, and denies the answer %s',
    async (address) => {
      const name = `h${address.replaceAll('.', '-')}.hook.test`;
      names.set(name, [address]);
      const webhookId = await durable(`https://${name}/`);
      await run();
      await eventually(async () => (await view(webhookId)).attempts.length === 3);
      const { attempts } = await view(webhookId);
      expect(attempts.map(({ outcome, reason }) => [outcome, reason])).toEqual(
        Array(3).fill(['failed', 'unavailable']),
      );
      expect(queries.filter((each) => each === name)).toHaveLength(3);
      // The log of the operator says why: the address was denied, and no connection failed.
      const denied = () =>
        host.stderr
          .map((line) => JSON.parse(line))
          .filter((record) => webhookId.endsWith(record.webhookId) && record.outcome === 'denied');
      await eventually(() => denied().length === 3);
      const gone = `/webhooks/${encodeURIComponent(webhookId)}`;
      expect((await call(gone, { method: 'DELETE', headers: MAJOR_2 })).status).toBe(204);
    },
  );
});

describe(covers('limits.http-client.defaults'), () => {
  test.each([
    [10_485_760, 'completed'],
    [10_485_761, 'failed'],
  ])('a response of %i bytes: %s', async (bytes, status) => {
    expect(await fetched(`/bytes/${bytes}`)).toBe(status);
  });

  test('a request without a response ends after 30 s', async () => {
    const { status, seconds } = await unanswered;
    expect([status, seconds >= 29.5]).toEqual(['failed', true]);
  });
});

async function endOfUnanswered(): Promise<{ readonly status: string; readonly seconds: number }> {
  const began = performance.now();
  const status = await fetched('/never-answered');
  return { status, seconds: (performance.now() - began) / 1000 };
}

/** Runs the workflow that fetches from a path of the receiver, and returns the status of its end. */
async function fetched(path: string): Promise<string> {
  const body = { workflowId: 'fetch', inputs: { url: here(path) } };
  const { body: created } = await call('/v1/runs', { headers: MAJOR_1, body });
  let status = '';
  await eventually(async () => {
    status = (await call(`/v1/runs/${created.runId}`, { headers: MAJOR_1 })).body.status;
    return status === 'completed' || status === 'failed';
  });
  return status;
}
