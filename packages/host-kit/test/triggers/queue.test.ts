import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { QueueConnection } from '../../src/ports/queues.ts';
import { postgresQueues, postgresQueueTable } from '../../src/queues/postgres/index.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { postgresStore } from '../../src/stores/postgres/index.ts';
import { echoEngine, type TriggerHost, triggerHost } from './trigger-host.ts';

const QUEUES = Array.from({ length: 30 }, (_, n) => `orders-${n}`);
const WAIT = { timeout: 60_000, interval: 10 };
const postgres = await startPostgres();
const database = new pg.Pool({ connectionString: postgres.url, max: 2 });
// The server is crashed.
database.on('error', () => {});
let world: TriggerHost;
/** A queue of its own for each test. */
let queue = '';
let used = 0;

function shop(more: Partial<QueueConnection> = {}): { readonly shop: QueueConnection } {
  const consumer = postgresQueues({ url: postgres.url });
  const grants = [
    { tenant: 'acme', queues: QUEUES },
    { tenant: 'umbrella', queues: ['theirs'] },
    { tenant: 'acme', mode: 'test' as const, queues: ['trials'] },
  ];
  return { shop: { consumer, grants, ...more } };
}

beforeAll(async () => {
  await database.query(postgresQueueTable());
  world = await triggerHost({ store: memoryStore(), triggers: { maxBodyBytes: 2000, queues: shop() } });
});
beforeEach(() => {
  queue = QUEUES[used++] ?? '';
});
afterAll(async () => {
  await world.host.stop(0);
  await database.end();
  await postgres.stop();
});

const RULES = {
  ...{ source: 'queue', webhook: undefined, secret: undefined },
  mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body/order' } } },
};

function register(fields: object = {}, host = world) {
  return host.register({ ...RULES, queue: { connection: 'shop', name: queue }, ...fields });
}

async function send(content: unknown, messageId?: string): Promise<void> {
  const body = typeof content === 'string' ? content : JSON.stringify(content);
  const id = messageId === undefined ? [] : [messageId];
  const columns = messageId === undefined ? 'queue, body' : 'queue, body, message_id';
  const places = messageId === undefined ? '$1, $2' : '$1, $2, $3';
  await database.query(`INSERT INTO svc_queue (${columns}) VALUES (${places})`, [queue, body, ...id]);
}

async function left(): Promise<number> {
  const { rows } = await database.query('SELECT count(*)::int AS count FROM svc_queue WHERE queue = $1', [queue]);
  return rows[0].count;
}

/** Moves the clocks of hosts until a value is as expected. */
function eventually(value: () => Promise<unknown>, expected: unknown, hosts: readonly TriggerHost[] = [world]) {
  const moved = () => {
    for (const { clock } of hosts) clock.advance(500);
    return value();
  };
  return expect.poll(moved, WAIT).toEqual(expected);
}

async function ordersOf(host = world): Promise<unknown[]> {
  return (await host.runs()).map(({ inputs }) => inputs.order).sort();
}

const startedOf = async (prefix: string, host = world) =>
  (await ordersOf(host)).filter((order) => String(order).startsWith(prefix));

async function operate(triggerId: string, method: string, suffix = '', body?: object) {
  return world.call('owner', method, `/host/example/triggers/${triggerId}${suffix}`, body);
}

async function messagesOf(triggerId: string): Promise<{ outcome: string; problem?: string }[]> {
  return (await operate(triggerId, 'GET', '/messages')).body.messages;
}

describe(covers('triggers.subscription.registration', 'triggers.queue.durable'), () => {
  test('a message of the queue starts a run of the registrar, and leaves the queue', async () => {
    const { triggerId, subscription, binding, secret } = await register();
    expect(subscription).toMatchObject({ source: 'queue', state: 'active' });
    expect([binding, secret]).toEqual([{}, undefined]);
    await send({ order: 'first-1' });
    await eventually(left, 0);
    const run = (await world.runs()).find(({ inputs }) => inputs.order === 'first-1');
    const [message] = (await operate(triggerId, 'GET', '/messages')).body.messages;
    expect(run).toMatchObject({ causationId: message.deliveryId.split('/')[1], owner: { principal: 'p_owner' } });
    const { body } = await world.call('owner', 'GET', '/host/example/triggers');
    const listed = body.triggers.find(({ subscriptionId }: { subscriptionId: string }) =>
      subscriptionId.endsWith(triggerId),
    );
    expect(listed.queue).toEqual({ connection: 'shop', name: queue });
  });

  test('more messages than the prefetch start a run each', async () => {
    await register();
    const orders = Array.from({ length: 35 }, (_, n) => `many-${String(n).padStart(2, '0')}`);
    await Promise.all(orders.map((order) => send({ order })));
    await eventually(left, 0);
    expect(await startedOf('many-')).toEqual(orders);
  });

  test('discovery names the source where a connection is configured', async () => {
    const { body } = await world.call('owner', 'GET', '/.well-known/svc');
    expect(body.triggerBridge.sources).toEqual(['webhook', 'schedule', 'form', 'queue']);
  });
});

describe(covers('triggers.message.dedup', 'triggers.queue.durable'), () => {
  test('a message that is delivered again starts no second run', async () => {
    const { triggerId } = await register();
    for (const order of ['again-1', 'again-other']) {
      await send({ order }, 'message-1');
      await eventually(left, 0);
    }
    expect(await startedOf('again-')).toEqual(['again-1']);
    expect(await messagesOf(triggerId)).toHaveLength(1);
  });

  test('the value at dedupPointer identifies a message, and the id of the broker one without it', async () => {
    await register({ queue: { connection: 'shop', name: queue, dedupPointer: '/order' } });
    for (let n = 0; n < 3; n++) await send({ order: 'named-1' });
    await eventually(left, 0);
    expect(await startedOf('named-')).toEqual(['named-1']);
    await send({ order: null });
    await send({ order: null });
    await eventually(left, 0);
    expect((await ordersOf()).filter((order) => order === null)).toHaveLength(2);
  });
});

describe(covers('triggers.queue.refused'), () => {
  test.each([
    ['is not JSON', 'order=1', 'message: is not JSON'],
    ['is too large', { order: 'x'.repeat(3000) }, 'message: has more than 2000 bytes'],
    ['is nested too deeply', `${'['.repeat(65)}${']'.repeat(65)}`, 'message: is not JSON'],
    ['does not fit the mapping', { other: 1 }, 'mapping.inputs.order'],
  ])('a message that %s is a dead letter with one audit fact, and leaves the queue', async (_how, content, problem) => {
    const { triggerId } = await register();
    const before = (await world.runs()).length;
    const facts = (await world.facts('trigger.dead-letter')).length;
    await send(content, 'bad');
    await eventually(left, 0);
    await send(content, 'bad');
    await eventually(left, 0);
    const messages = await messagesOf(triggerId);
    expect(messages).toMatchObject([{ outcome: 'dead-lettered', problem: expect.stringContaining(problem) }]);
    expect((await world.facts('trigger.dead-letter')).length).toBe(facts + 1);
    expect((await world.runs()).length).toBe(before);
    expect((await operate(triggerId, 'GET')).body.state).toBe('active');
    await send({ order: `after-${queue}` });
    await eventually(() => startedOf(`after-${queue}`), [`after-${queue}`]);
  });

  test('the redrive of a message that could not be read starts no run, even where the mapping reads nothing', async () => {
    const mapping = { workflowId: 'echo', inputs: { order: { constant: 'unread-1' } } };
    const { triggerId } = await register({ mapping });
    await send('order=1');
    await eventually(left, 0);
    expect((await operate(triggerId, 'POST', '/dead-letters/redrive', {})).body.redriven).toBe(1);
    await eventually(
      async () => (await messagesOf(triggerId)).map(({ problem }) => problem),
      ['message: its content could not be read. Send it again'],
    );
    expect(await startedOf('unread-')).toEqual([]);
  });
});

describe(covers('triggers.queue.state'), () => {
  test('the queue keeps the messages of a paused trigger, and a resume starts their runs', async () => {
    const { triggerId } = await register();
    await operate(triggerId, 'POST', '/pause');
    await send({ order: 'paused-1' });
    for (let n = 0; n < 20; n++) {
      world.clock.advance(500);
      await world.store.probe();
    }
    expect([await left(), await startedOf('paused-')]).toEqual([1, []]);
    await operate(triggerId, 'POST', '/resume');
    await eventually(() => startedOf('paused-'), ['paused-1']);
    // The acknowledgement follows the run.
    await eventually(left, 0);
  });

  test('of two triggers of one queue the older takes the messages, and after its removal the other', async () => {
    const first = await register({ description: 'first' });
    world.clock.advance(10);
    const second = await register({ description: 'second' });
    await send({ order: 'turn-1' });
    await eventually(() => startedOf('turn-'), ['turn-1']);
    expect(await messagesOf(first.triggerId)).toHaveLength(1);
    await operate(first.triggerId, 'DELETE');
    await send({ order: 'turn-2' });
    await eventually(async () => (await messagesOf(second.triggerId)).length, 1);
    expect(await startedOf('turn-')).toEqual(['turn-1', 'turn-2']);
  });

  test('messages wait in the queue while too many wait at the host', async () => {
    const engine = echoEngine();
    const triggers = { maxWaiting: 1, retryPolicy: { maxAttempts: 20, backoff: 'fixed' as const } };
    const more = { queues: shop({ prefetch: 1 }) };
    const host = await triggerHost({ store: memoryStore(), engine, triggers: { ...triggers, ...more } });
    try {
      engine.fault = new Error('The engine is away.');
      await register({}, host);
      for (const order of ['full-1', 'full-2', 'full-3']) await send({ order });
      await eventually(left, 2, [host]);
      for (let n = 0; n < 4; n++) {
        host.clock.advance(500);
        await host.store.probe();
      }
      expect(await left()).toBe(2);
      engine.fault = undefined;
      await eventually(() => startedOf('full-', host), ['full-1', 'full-2', 'full-3'], [host]);
    } finally {
      await host.host.stop(0);
    }
  });
});

describe(covers('triggers.queue.grants'), () => {
  test.each([
    ['a queue without a grant', { connection: 'shop', name: 'payments' }],
    ['a queue of another tenant', { connection: 'shop', name: 'theirs' }],
    ['a queue of the other mode', { connection: 'shop', name: 'trials' }],
    ['a connection that does not exist', { connection: 'other', name: 'orders-0' }],
    ['a connection with the name of a member of objects', { connection: '__proto__', name: 'orders-0' }],
  ])('%s is refused', async (_what, source) => {
    const { status, body } = await world.call('owner', 'POST', '/trigger-subscriptions', { ...RULES, queue: source });
    expect([status, body.error]).toEqual([403, 'forbidden']);
    expect(body.message).toContain('is not granted to this tenant and mode');
  });

  test.each([
    ['a secret', { secret: 'a secret of a sender' }, 'secret'],
    ['a URL of a broker', { queue: { connection: 'shop', name: 'orders-0', url: 'amqp://x' } }, 'queue'],
    ['no name', { queue: { connection: 'shop' } }, 'queue.name'],
    ['a place that is no pointer', { queue: { connection: 'shop', name: 'a', dedupPointer: 'id' } }, 'dedupPointer'],
  ])('a registration with %s is rejected', async (_name, fields, field) => {
    const body = { ...RULES, queue: { connection: 'shop', name: 'orders-0' }, ...fields };
    const answer = await world.call('owner', 'POST', '/trigger-subscriptions', body);
    expect([answer.status, JSON.stringify(answer.body.details)]).toEqual([400, expect.stringContaining(field)]);
  });

  test('a trigger whose grant was taken away takes no message', async () => {
    const store = memoryStore();
    const first = await triggerHost({ store: { ...store, close: async () => {} }, triggers: { queues: shop() } });
    await register({}, first);
    await first.host.stop(0);
    const second = await triggerHost({ store, triggers: { queues: shop({ grants: [] }) } });
    await send({ order: 'ungranted-1' });
    for (let n = 0; n < 10; n++) {
      second.clock.advance(500);
      await second.store.probe();
    }
    expect([await left(), await startedOf('ungranted-', second)]).toEqual([1, []]);
    await second.host.stop(0);
  });
});

describe(covers('triggers.queue.durable'), () => {
  test('two hosts that compete for the messages start one run for each', async () => {
    const open = () => postgresStore({ url: postgres.url, schema: 'queues', connections: 6 });
    // The keys are imported by the first host.
    const one = await triggerHost({ store: await open(), triggers: { queues: shop() } });
    const other = await triggerHost({ store: await open(), triggers: { queues: shop() } });
    try {
      await register({}, one);
      const orders = Array.from({ length: 60 }, (_, n) => `both-${String(n).padStart(2, '0')}`);
      await Promise.all(orders.map((order) => send({ order })));
      await eventually(left, 0, [one, other]);
      expect(await startedOf('both-', one)).toEqual(orders);
    } finally {
      await Promise.all([one.host.stop(0), other.host.stop(0)]);
    }
  });

  test('a host connects again after the broker was lost, and leaves no connection when it stops', async () => {
    const host = await triggerHost({ store: memoryStore(), triggers: { queues: shop() } });
    await register({}, host);
    await send({ order: 'lost-1' });
    await eventually(() => startedOf('lost-', host), ['lost-1'], [host]);
    await postgres.crash('SIGQUIT');
    await send({ order: 'lost-2' });
    await eventually(() => startedOf('lost-', host), ['lost-1', 'lost-2'], [host]);
    await host.host.stop(0);
    await world.host.stop(0);
    // The server notices the end of a connection by itself.
    await expect
      .poll(async () => {
        const { rows } = await database.query(
          "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'svc-queues'",
        );
        return rows[0]?.count;
      })
      .toBe(0);
  });
});
