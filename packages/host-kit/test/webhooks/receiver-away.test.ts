import { DatabaseSync } from 'node:sqlite';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type TransportRequest, type TransportVerdict } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { sqliteDedupStore } from '@svc/webhook-verify/dedup/sqlite';
import { type Receive, receive } from '@svc/webhook-verify/receive';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type VirtualClock, virtualClock } from '../simulation/virtual-clock.ts';

const KEY = 'operator-key-of-the-receivers-0123456789';
const START = 1_780_000_000_000;
const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
const EVENTS = ['run.started', 'run.completed'];

/** How a handler works on an event: it resolves, or never ends. */
type Work = () => Promise<void>;

/** A receiver with the defaults of its package. Its processes come and go, and its database stays. */
class Receiver {
  readonly #world: VirtualClock;
  readonly #database = new DatabaseSync(':memory:');
  #handle: Receive | undefined;
  #kill = (): void => {};
  secret = '';
  work: Work = async () => {};
  /** The handlers that began and those that ended, by the type of their event. */
  readonly began: string[] = [];
  readonly handled: { readonly type: string; readonly at: number }[] = [];
  readonly statuses: number[] = [];

  constructor(world: VirtualClock) {
    this.#world = world;
  }

  start(): void {
    const clock = this.#world.forHost();
    let isAlive = true;
    const killed = new Promise<undefined>((resolve) => {
      this.#kill = () => {
        isAlive = false;
        clock.cut();
        this.#handle = undefined;
        resolve(undefined);
      };
    });
    const handle = receive({
      secret: this.secret,
      now: clock.now,
      after: clock.after,
      dedup: sqliteDedupStore(this.#database, { now: clock.now }),
      onDelivery: async ({ eventType }) => {
        this.began.push(eventType);
        // A killed process goes no further.
        await Promise.race([this.work(), killed]);
        if (!isAlive) await new Promise(() => {});
        this.handled.push({ type: eventType, at: this.#world.now() });
      },
    });
    this.#handle = async (body, headers) => {
      const answer = await Promise.race([handle(body, headers), killed]);
      if (answer === undefined) throw new Error('The connection was cut.');
      return answer;
    };
  }

  /** Ends the process as SIGKILL does: its handlers and its timers with it. */
  kill(): void {
    this.#kill();
  }

  readonly transport = async ({ body, headers, timeoutMs }: TransportRequest): Promise<TransportVerdict> => {
    if (this.#handle === undefined) return { kind: 'failed', reason: 'connection_refused', durationMs: 0 };
    const late = new Promise<undefined>((resolve) =>
      this.#world.at(this.#world.now() + timeoutMs, () => resolve(undefined)),
    );
    try {
      const answer = await Promise.race([this.#handle(body, headers), late]);
      if (answer === undefined) return { kind: 'failed', reason: 'timeout', durationMs: timeoutMs };
      this.statuses.push(answer.status);
      const { status, retryAfterSeconds } = answer;
      return { kind: 'answered', status, retryAfter: retryAfterSeconds?.toString(), durationMs: 0 };
    } catch {
      return { kind: 'failed', reason: 'connection_reset', durationMs: 0 };
    }
  };
}

/** Starts a host and a receiver, both with their defaults, and a subscription to the start and the end of runs. */
async function connected() {
  const world = virtualClock(START);
  const receiver = new Receiver(world);
  const scopes = ['runs:create', 'webhooks:manage'];
  const key = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['main'], principal: 'p_1', scopes };
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...key, mode: 'live' }]), now: world.now })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
    ports: { clock: world, transport: receiver.transport },
  });
  await host.start();
  onTestFinished(() => soon(host.stop(0)));

  /** Lets everything happen that is due now, until the promise is settled. */
  async function soon<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = promise.finally(() => {
      isSettled = true;
    });
    settled.catch(() => {});
    while (!isSettled) await world.run(world.now());
    return settled;
  }

  async function call(path: string, body?: object) {
    const request = new Request(`http://host.test${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const response = await soon(host.fetch(request));
    expect(response.status).toBeLessThan(300);
    return response.json();
  }

  const registration = { url: 'https://hooks.example/hook', events: EVENTS, tenantId: 'main' };
  const { webhookId, secret } = await call('/v1/webhooks', registration);
  receiver.secret = secret;
  return {
    world,
    receiver,
    pass: (ms: number) => world.run(world.now() + ms),
    run: () => call('/v1/runs', { workflowId: 'any' }),
    deadLetters: async () => (await call(`/v1/webhooks/${webhookId}/dead-letters?tenantId=main`)).deliveries,
    attempts: async () => (await call(`/host/example/webhooks/${webhookId}`)).lastAttempts.reverse(),
  };
}

describe(covers('webhooks.durable.at-least-once', 'webhooks.verify.open-claim'), () => {
  // The delay doubles, so a receiver that was away for a time waits for about as long again, and for six hours at most.
  test.each([
    ['3 seconds', 3 * SECOND, 70 * SECOND],
    ['3 minutes', 3 * MINUTE, 4 * MINUTE],
    ['3 hours', 3 * HOUR, 4 * HOUR],
    ['12 hours', 12 * HOUR, 6 * HOUR],
  ])(
    'a receiver that is killed within its handlers and is away for %s handles every event',
    async (_, away, within) => {
      const { world, receiver, pass, run, deadLetters } = await connected();
      receiver.start();
      receiver.work = () => new Promise(() => {});
      await run();
      await pass(SECOND);
      expect(receiver.began.toSorted()).toEqual(EVENTS.toSorted());
      receiver.kill();
      receiver.work = async () => {};
      await pass(away);
      const backAt = world.now();
      receiver.start();
      await pass(24 * HOUR);
      expect(receiver.handled.map(({ type }) => type).toSorted()).toEqual(EVENTS.toSorted());
      for (const { at } of receiver.handled) expect(at - backAt).toBeLessThan(within);
      expect(await deadLetters()).toEqual([]);
    },
  );

  test('a receiver that is back within its claim is asked again when the claim has expired', async () => {
    const { receiver, pass, run } = await connected();
    receiver.start();
    receiver.work = () => new Promise(() => {});
    await run();
    await pass(SECOND);
    receiver.kill();
    receiver.work = async () => {};
    receiver.start();
    await pass(2 * MINUTE);
    // One 409 for each event says when to come again.
    expect(receiver.statuses.toSorted()).toEqual([200, 200, 409, 409]);
  });

  test('a handler that takes an hour runs once, although the host gives up on each attempt after 5 seconds', async () => {
    const { world, receiver, pass, run, deadLetters } = await connected();
    receiver.start();
    receiver.work = () => new Promise((resolve) => world.at(START + HOUR, resolve));
    await run();
    await pass(24 * HOUR);
    expect(receiver.began.toSorted()).toEqual(EVENTS.toSorted());
    expect(receiver.handled).toHaveLength(2);
    expect(receiver.statuses.filter((status) => status === 200)).toHaveLength(2);
    expect(await deadLetters()).toEqual([]);
  });

  test('a receiver that never comes back has dead letters after 20 hours, and none before', async () => {
    const { pass, run, deadLetters, attempts } = await connected();
    await run();
    await pass(19 * HOUR);
    expect(await deadLetters()).toEqual([]);
    await pass(5 * HOUR);
    const letters = await deadLetters();
    expect(letters).toHaveLength(2);
    for (const letter of letters) expect(letter).toMatchObject({ attempts: 18, reason: 'retries_exhausted' });
    expect(await attempts()).toEqual(
      expect.arrayContaining([expect.objectContaining({ attempt: 18, reason: 'connection_refused' })]),
    );
  });
});
