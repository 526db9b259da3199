import { gzipSync } from 'node:zlib';
import { egressPolicy } from '@svc/egress-guard';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { type StreamServer, streamServer } from './stream-server.ts';
import { echoEngine, type TriggerHost, type TriggerHostOptions, triggerHost } from './trigger-host.ts';

const WAIT = { timeout: 60_000, interval: 10 };
let server: StreamServer;
let world: TriggerHost;
let used = 0;
/** A stream of its own for each test. */
let stream = '';

function hostOf(more: Partial<TriggerHostOptions> = {}, streams: object = {}): Promise<TriggerHost> {
  const egress = egressPolicy({ allowLoopback: [server.port] });
  const { triggers, ...others } = more;
  return triggerHost({
    store: memoryStore(),
    ...others,
    // A slow machine moves the clock far while it waits for a message.
    triggers: { maxBodyBytes: 2000, streams: { idleSeconds: 1_000_000, ...streams }, ...triggers },
    more: { egress },
  });
}

beforeAll(async () => {
  server = await streamServer();
  world = await hostOf();
});
beforeEach(() => {
  stream = `orders-${used++}`;
});
afterAll(async () => {
  await world.host.stop(0);
  await server.close();
});

const RULES = {
  ...{ source: 'stream', webhook: undefined, secret: undefined },
  mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body/order' } } },
};

function register(rules: object = {}, fields: object = {}, host = world) {
  return host.register({ ...RULES, stream: { url: server.url(stream), format: 'sse', ...rules }, ...fields });
}

const order = (name: string) => JSON.stringify({ order: name });

/** Moves the clocks of hosts until a value is as expected. */
function eventually(value: () => unknown, expected: unknown, hosts: readonly TriggerHost[] = [world]) {
  const moved = async () => {
    for (const { clock } of hosts) clock.advance(500);
    return value();
  };
  return expect.poll(moved, WAIT).toEqual(expected);
}

async function ordersOf(prefix: string, host = world): Promise<readonly unknown[]> {
  const orders = (await host.runs()).map(({ inputs }) => inputs.order);
  return orders.filter((name) => String(name).startsWith(prefix)).sort();
}

async function operate(triggerId: string, method: string, suffix = '', body?: object, host = world) {
  return host.call('owner', method, `/host/example/triggers/${triggerId}${suffix}`, body);
}

const shownOf = async (triggerId: string, host = world) => (await operate(triggerId, 'GET', '', undefined, host)).body;
const messagesOf = async (triggerId: string) => (await operate(triggerId, 'GET', '/messages')).body.messages;

describe(covers('triggers.stream.durable', 'triggers.subscription.registration'), () => {
  test('each event starts a run of the registrar, and the trigger shows its place', async () => {
    const { triggerId, subscription, binding, secret } = await register();
    expect([subscription.source, subscription.state, binding, secret]).toEqual(['stream', 'active', {}, undefined]);
    server.emit(stream, { id: '1', data: order('first-1') }, { id: '2', data: order('first-2') });
    await eventually(() => ordersOf('first-'), ['first-1', 'first-2']);
    const shown = await shownOf(triggerId);
    expect(shown).toMatchObject({
      stream: { url: server.url(stream), format: 'sse' },
      reading: { state: 'reading', failures: 0, cursor: '2' },
    });
    const run = (await world.runs()).find(({ inputs }) => inputs.order === 'first-2');
    const messages: readonly { readonly deliveryId: string }[] = await messagesOf(triggerId);
    const ids = messages.map(({ deliveryId }) => deliveryId.split('/')[1]);
    expect(ids).toContain(run?.causationId);
    expect(run?.owner?.principal).toBe('p_owner');
  });

  test('after a lost connection the stream is resumed behind the last durable event', async () => {
    await register();
    server.emit(stream, { id: '1', data: order('lost-1') }, { id: '2', data: order('lost-2') });
    await eventually(() => ordersOf('lost-'), ['lost-1', 'lost-2']);
    server.cut(stream);
    server.emit(stream, { id: '3', data: order('lost-3') });
    await eventually(() => ordersOf('lost-'), ['lost-1', 'lost-2', 'lost-3']);
    expect(server.requests(stream).map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2']);
  });

  test('an event that the server sends again starts no second run', async () => {
    const { triggerId } = await register();
    for (const id of ['1', '1', '2', '1', '3']) server.emit(stream, { id, data: order(`again-${id}`) });
    await eventually(() => ordersOf('again-'), ['again-1', 'again-2', 'again-3']);
    expect(await messagesOf(triggerId)).toHaveLength(3);
  });

  test('types select events, and those between them move the cursor', async () => {
    await register({ types: ['created'] });
    server.emit(stream, { id: '1', type: 'created', data: order('type-1') }, { id: '2', data: order('type-2') });
    await eventually(() => ordersOf('type-'), ['type-1']);
    server.emit(stream, { id: '3', type: 'created', data: order('type-3') });
    await eventually(() => ordersOf('type-'), ['type-1', 'type-3']);
  });

  test('lines of JSON are resumed by the cursor that they contain', async () => {
    server.answer(stream, (request, response) => {
      const after = Number(new URL(request.url ?? '', server.url('')).searchParams.get('after') ?? 0);
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      const lines = [1, 2, 3, 4].filter((seq) => seq > after).slice(0, 2);
      response.end(
        `\n${lines.map((seq) => `{"seq":${seq},"order":"line-${seq}"}\n`).join('\r\n')}{"seq":9,"order":"cut`,
      );
    });
    const { triggerId } = await register({ format: 'ndjson', cursorPointer: '/seq', cursorParameter: 'after' });
    await eventually(() => ordersOf('line-'), ['line-1', 'line-2', 'line-3', 'line-4']);
    expect((await shownOf(triggerId)).reading.cursor).toBe('4');
    const urls = () =>
      server
        .requests(stream)
        .slice(0, 3)
        .map(({ url }) => url);
    await eventually(urls, [`/${stream}`, `/${stream}?after=2`, `/${stream}?after=4`]);
  });

  test('the pause that the server asks for counts, within its bounds', async () => {
    server.answer(stream, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 60000\n\n');
    });
    const { triggerId } = await register();
    await eventually(async () => (await shownOf(triggerId)).reading?.state, 'waiting');
    const before = server.requests(stream).length;
    for (let second = 0; second < 50; second++) {
      world.clock.advance(1000);
      await world.store.probe();
    }
    expect(server.requests(stream)).toHaveLength(before);
    await eventually(() => server.requests(stream).length > before, true);
  });

  test('discovery names the source where streams are configured', async () => {
    const { body } = await world.call('owner', 'GET', '/.well-known/svc');
    expect(body.triggerBridge.sources).toEqual(['webhook', 'schedule', 'form', 'stream']);
  });
});

describe(covers('triggers.stream.refused'), () => {
  test.each([
    ['is no JSON', '[DONE]', 'message: is not JSON'],
    ['is too large', order('x'.repeat(3000)), 'message: has more than 2000 bytes'],
    ['does not fit the mapping', '{}', 'mapping.inputs.order'],
  ])(
    'an event that %s is a dead letter with one audit fact, and the next one starts its run',
    async (_what, data, problem) => {
      const facts = (await world.facts('trigger.dead-letter')).length;
      const { triggerId } = await register();
      server.emit(stream, { id: '1', data }, { id: '2', data: order(`${stream}-2`) });
      await eventually(() => ordersOf(`${stream}-`), [`${stream}-2`]);
      const letters = (await messagesOf(triggerId)).filter(
        ({ outcome }: { outcome: string }) => outcome !== 'delivered',
      );
      expect(letters).toMatchObject([{ outcome: 'dead-lettered', problem: expect.stringContaining(problem) }]);
      expect(await world.facts('trigger.dead-letter')).toHaveLength(facts + 1);
    },
  );
});

describe(covers('triggers.stream.bounds', 'triggers.stream.egress'), () => {
  const EVENTS = { 'content-type': 'text/event-stream' };

  test.each<[string, Parameters<StreamServer['answer']>[1], string]>([
    [
      'sends an endless line',
      (_request, response) => void response.writeHead(200, EVENTS).end(`data: ${'x'.repeat(20_000)}`),
      'more than 16000 bytes without a message',
    ],
    [
      'sends endless comments',
      (_request, response) => void response.writeHead(200, EVENTS).end(':\n'.repeat(10_000)),
      'more than 16000 bytes without a message',
    ],
    [
      'compresses',
      (_request, response) =>
        void response.writeHead(200, { ...EVENTS, 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1_000_000))),
      'the response is compressed',
    ],
    [
      'sends another content type',
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('data: {}\n\n'),
      'a content type that is not text/event-stream',
    ],
    ['refuses the credential', (_request, response) => void response.writeHead(401).end(), 'the status 401'],
    [
      'redirects to an address of this network',
      (_request, response) => void response.writeHead(302, { location: 'https://10.0.0.1/' }).end(),
      'its URL, or that of a redirect, is not allowed',
    ],
    ['breaks off', (_request, response) => void response.destroy(), 'the connection broke off'],
  ])('a server that %s is left, and called again later', async (_what, answer, problem) => {
    server.answer(stream, answer);
    const { triggerId } = await register();
    await eventually(async () => (await shownOf(triggerId)).reading?.failures >= 2, true);
    const { state, reading } = await shownOf(triggerId);
    expect([state, reading.problem]).toEqual(['active', expect.stringContaining(problem)]);
    await operate(triggerId, 'DELETE');
  });

  test('a server that sends a byte now and then, and never a line, is left', async () => {
    const host = await hostOf({}, { idleSeconds: 90 });
    let timer: NodeJS.Timeout | undefined;
    server.answer(stream, (_request, response) => {
      response.writeHead(200, EVENTS).flushHeaders();
      timer = setInterval(() => response.write('x'), 5);
    });
    const { triggerId } = await register({}, {}, host);
    const problem = async () => (await shownOf(triggerId, host)).reading?.problem;
    await eventually(problem, 'stream: the server was silent for too long', [host]);
    clearInterval(timer);
    await host.host.stop(0);
  });

  test('lines without an event are a sign of life, and their id moves the cursor', async () => {
    const host = await hostOf({}, { idleSeconds: 90 });
    const { triggerId } = await register({}, {}, host);
    const cursor = async () => (await shownOf(triggerId, host)).reading?.cursor;
    host.clock.advance(1000);
    await expect.poll(async () => (await shownOf(triggerId, host)).reading?.state, WAIT).toBe('reading');
    for (let n = 1; n <= 12; n++) {
      host.clock.advance(10_000);
      server.write(stream, `id: ${n}\n\n`);
      await expect.poll(cursor, WAIT).toBe(`${n}`);
    }
    expect(server.requests(stream)).toHaveLength(1);
    await host.host.stop(0);
  });

  test('a host reads at most as many streams at once as its limits allow', async () => {
    const host = await hostOf({}, { maxAtOnce: 3, maxPerTenant: 2 });
    const names = ['a', 'b', 'c', 'd'].map((name) => `${stream}-${name}`);
    for (const name of names) {
      await register({ url: server.url(name) }, {}, host);
      host.clock.advance(10);
    }
    await eventually(() => names.map((name) => server.open(name)), [1, 1, 0, 0], [host]);
    await host.host.stop(0);
    expect(names.map((name) => server.requests(name).length)).toEqual([1, 1, 0, 0]);
  });

  test.each([
    ['an address of this network', { url: 'https://169.254.169.254/' }, 'stream.url'],
    ['plain HTTP', { url: 'http://events.example/' }, 'stream.url'],
    ['a password in its URL', { url: 'https://a:b@events.example/' }, 'stream.url'],
    ['lines without an identity', { format: 'ndjson' }, 'cursorPointer'],
    ['types of lines', { format: 'ndjson', cursorPointer: '/a', types: ['a'] }, 'types'],
    ['a header that the host sets', { credential: { header: 'Last-Event-ID' } }, 'header'],
    ['a credential without its secret', { credential: {} }, 'secret'],
    ['another format', { format: 'csv' }, 'format'],
  ])('a registration with %s is rejected', async (_what, rules, field) => {
    const body = { ...RULES, stream: { url: server.url('a'), format: 'sse', ...rules } };
    const answer = await world.call('owner', 'POST', '/trigger-subscriptions', body);
    expect([answer.status, JSON.stringify(answer.body.details)]).toEqual([400, expect.stringContaining(field)]);
  });

  test('a host without the option reads no stream', async () => {
    const host = await triggerHost({ store: memoryStore() });
    const body = { ...RULES, stream: { url: 'https://events.example/', format: 'sse' } };
    const answer = await host.call('owner', 'POST', '/trigger-subscriptions', body);
    expect([answer.status, JSON.stringify(answer.body.details)]).toEqual([400, expect.stringContaining('source')]);
    await host.host.stop(0);
  });

  test('the credential is sent, can be rotated, and is shown nowhere', async () => {
    const credential = { prefix: 'Bearer ' };
    const { triggerId, ...registered } = await register({ credential }, { secret: 'token-of-the-shop-1' });
    await eventually(() => server.requests(stream).at(-1)?.headers.authorization, 'Bearer token-of-the-shop-1');
    const rotated = await operate(triggerId, 'POST', '/rotate-secret', { secret: 'token-of-the-shop-2' });
    expect(rotated.status).toBe(200);
    await eventually(() => server.requests(stream).at(-1)?.headers.authorization, 'Bearer token-of-the-shop-2');
    const shown = [registered, rotated.body, await shownOf(triggerId), await messagesOf(triggerId)];
    expect(JSON.stringify(shown)).not.toContain('token-of-the-shop');
    expect((await operate(triggerId, 'POST', '/rotate-secret', {})).status).toBe(400);
  });
});

describe(covers('triggers.stream.state'), () => {
  test('a paused stream is not read, and a resume goes on at its cursor', async () => {
    const { triggerId } = await register();
    server.emit(stream, { id: '1', data: order('pause-1') });
    await eventually(() => ordersOf('pause-'), ['pause-1']);
    await operate(triggerId, 'POST', '/pause');
    await eventually(() => server.open(stream), 0);
    server.emit(stream, { id: '2', data: order('pause-2') });
    await operate(triggerId, 'POST', '/resume');
    await eventually(() => ordersOf('pause-'), ['pause-1', 'pause-2']);
    expect(server.requests(stream).at(-1)?.headers['last-event-id']).toBe('1');
  });

  test.each([204, 410])('a stream that the server ends with %i is paused, with one audit fact', async (status) => {
    const facts = (await world.facts('trigger.state')).length;
    server.answer(stream, (_request, response) => void response.writeHead(status).end());
    const { triggerId } = await register();
    await eventually(async () => (await shownOf(triggerId)).stateReason, 'source-removed');
    expect((await shownOf(triggerId)).state).toBe('paused');
    expect(await world.facts('trigger.state')).toHaveLength(facts + 1);
    expect(server.requests(stream)).toHaveLength(1);
    await operate(triggerId, 'POST', '/resume');
    await eventually(() => server.requests(stream).length, 2);
    // The server ends it again.
    await eventually(async () => (await shownOf(triggerId)).state, 'paused');
  });

  test('the stream waits while too many messages wait at the host', async () => {
    const engine = echoEngine();
    const triggers = { maxWaiting: 1, retryPolicy: { maxAttempts: 20, backoff: 'fixed' as const } };
    const host = await hostOf({ engine, triggers });
    engine.fault = new Error('The engine is away.');
    const { triggerId } = await register({}, {}, host);
    server.emit(stream, ...['full-1', 'full-2', 'full-3'].map((name) => ({ id: name, data: order(name) })));
    await eventually(
      async () => (await shownOf(triggerId, host)).reading?.problem,
      'stream: too many messages of the trigger wait at the host',
      [host],
    );
    engine.fault = undefined;
    await eventually(() => ordersOf('full-', host), ['full-1', 'full-2', 'full-3'], [host]);
    await host.host.stop(0);
  });

  test('a trial tells the run of an event, and which types start none', async () => {
    const { triggerId } = await register({ types: ['created'] });
    const tried = async (body: object) => (await operate(triggerId, 'POST', '/try', body)).body;
    expect(await tried({ body: { order: 'try-1' }, type: 'created' })).toMatchObject({
      would: 'start',
      inputs: { order: 'try-1' },
    });
    expect(await tried({ body: { order: 'try-1' } })).toEqual({ would: 'ignore' });
  });
});

test('a stop ends the connections', async () => {
  const host = await hostOf();
  await register({}, {}, host);
  await eventually(() => server.open(stream), 1, [host]);
  await host.host.stop(0);
  await expect.poll(() => server.open(stream), WAIT).toBe(0);
});
