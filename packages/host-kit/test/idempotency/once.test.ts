import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HostError } from '../../src/errors.ts';
import { outcomeOf } from '../../src/http/idempotency.ts';
import { type Keep, type KeyedRequest, type Outcome, once } from '../../src/idempotency/once.ts';
import { systemRandom } from '../../src/ports/random.ts';
import type { Store } from '../../src/ports/store.ts';
import { storeClock } from '../../src/ports/store-clock.ts';
import { secretBox } from '../../src/sealing/secret-box.ts';
import { memoryStore } from '../../src/stores/memory/index.ts';
import { type VirtualClock, virtualClock } from '../simulation/virtual-clock.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 5, 1);
const TENANCY = { tenant: 'acme', workspaces: ['acme-prod'], mode: 'live' } as const;

type Perform = (keep: Keep) => Promise<Outcome>;

function hostOn(store: Store, world: VirtualClock) {
  const secrets = secretBox(new Uint8Array(32), systemRandom);
  const clock = world.forHost();
  const log = () => {};
  const ofStore = storeClock({ clock, store, log });
  const options = { store, secrets, clock, storeClock: ofStore, random: systemRandom, log, retentionMs: DAY_MS };
  const doOnce = once(options);
  return (request: KeyedRequest, perform: Perform) => doOnce(request, { perform, refused });
}

function refused(error: unknown): Outcome {
  if (!HostError.is(error)) throw error;
  return { ...refusal(error.status, error.code), headers: error.headers };
}

function request(key: string, body = '{}', fields: Partial<KeyedRequest> = {}): KeyedRequest {
  return { tenancy: TENANCY, key, operation: 'createRun', parts: ['1', body], ...fields };
}

const created = (text: string): Outcome => ({ status: 201, headers: { etag: '"1"' }, body: JSON.stringify({ text }) });
const refusal = (status: number, error: string): Outcome => ({ status, headers: {}, body: JSON.stringify({ error }) });

describe('replays an outcome, or executes again', () => {
  const outcomes: readonly (readonly [string, Outcome, 'kept' | 'not kept'])[] = [
    ['a success', created('x'), 'kept'],
    ['a success without a body', { status: 204, headers: {}, body: undefined }, 'kept'],
    ['a missing resource', refusal(404, 'not_found'), 'kept'],
    ['a conflict', refusal(409, 'run_terminal'), 'kept'],
    ['an impossible request', refusal(422, 'fork_point_invalid'), 'kept'],
    ['a rejected URL', refusal(400, 'webhook_url_rejected'), 'kept'],
    ['a temporary conflict', { ...refusal(409, 'run_already_active'), headers: { 'retry-after': '1' } }, 'not kept'],
    ['a body that does not validate', refusal(400, 'validation_error'), 'not kept'],
    ['no credential', refusal(401, 'unauthenticated'), 'not kept'],
    ['no scope', refusal(403, 'forbidden'), 'not kept'],
    ['a limit', refusal(429, 'rate_limited'), 'not kept'],
    ['a failure', refusal(500, 'internal_error'), 'not kept'],
    ['a busy host', refusal(503, 'service_unavailable'), 'not kept'],
  ];
  test.each(outcomes)(
    `%s: ${covers('operations.idempotency.kept', 'operations.idempotency.not-kept')}`,
    async (...row) => {
      const [, outcome, expected] = row;
      const world = virtualClock(START);
      const host = hostOn(memoryStore(), world);
      let executions = 0;
      const work = async () => {
        executions++;
        return outcome;
      };
      const answers = [await host(request('k'), work), await host(request('k'), work)];
      expect(answers.map((answer) => answer.outcome)).toEqual([outcome, outcome]);
      expect(answers.map(({ replayed }) => replayed)).toEqual([false, expected === 'kept']);
      expect(executions).toBe(expected === 'kept' ? 1 : 2);
    },
  );
});

describe(covers('operations.idempotency.mismatch'), () => {
  test.each<[string, Partial<KeyedRequest>]>([
    ['another body', { parts: ['1', '{"a":1}'] }],
    ['another major', { parts: ['2', '{}'] }],
    ['the same text split at another place', { parts: ['1{', '}'] }],
    ['a caller who reaches other workspaces', { tenancy: { ...TENANCY, workspaces: 'all' } }],
  ])('rejects %s under the same key', async (_title, fields) => {
    const host = hostOn(memoryStore(), virtualClock(START));
    await host(request('k'), async () => created('first'));
    const again = host(request('k', '{}', fields), async () => created('second'));
    await expect(again).rejects.toMatchObject({ code: 'idempotency_key_mismatch', status: 409 });
  });

  test.each<[string, Partial<KeyedRequest>]>([
    ['tenant', { tenancy: { ...TENANCY, tenant: 'other' } }],
    ['mode', { tenancy: { ...TENANCY, mode: 'test' } }],
    ['operation', { operation: 'registerWebhook' }],
  ])('keeps the keys of each %s separate', async (_title, fields) => {
    const host = hostOn(memoryStore(), virtualClock(START));
    await host(request('k'), async () => created('first'));
    const other = await host(request('k', '{"a":1}', fields), async () => created('second'));
    expect(other).toEqual({ outcome: created('second'), replayed: false });
  });
});

describe(covers('operations.idempotency.once'), () => {
  test('replies with the outcome that was stored with the effect, not with a later one', async () => {
    const store = memoryStore();
    const host = hostOn(store, virtualClock(START));
    const work: Perform = async (keep) => {
      await store.transaction((transaction) => keep(created('asked for'), transaction));
      return created('come true');
    };
    expect(await host(request('k'), work)).toEqual({ outcome: created('asked for'), replayed: false });
    expect(await host(request('k'), work)).toEqual({ outcome: created('asked for'), replayed: true });
  });

  test.each([
    ['a conflict', new HostError('run_terminal', 'ended', { details: { runStatus: 'completed' } }), 409, true],
    ['a failure', new HostError('service_unavailable', 'away', { details: undefined }), 503, false],
  ])(
    'does not reply with an outcome that was rolled back, when it ends in %s',
    async (_name, error, status, isReplayed) => {
      const store = memoryStore();
      const host = hostOn(store, virtualClock(START));
      const first = await host(request('k'), (keep) =>
        store.transaction(async (transaction) => {
          await keep(created('undone'), transaction);
          throw error;
        }),
      );
      expect(first.outcome.status).toBe(status);
      const again = await host(request('k'), async () => created('done'));
      expect(again).toEqual(
        isReplayed ? { outcome: first.outcome, replayed: true } : { outcome: created('done'), replayed: false },
      );
    },
  );

  test('replays a committed outcome even if the host failed to reply', async () => {
    const store = memoryStore();
    const host = hostOn(store, virtualClock(START));
    const failed = await host(request('k'), async (keep) => {
      await store.transaction((transaction) => keep(created('done'), transaction));
      throw new HostError('service_unavailable', 'away', { details: undefined });
    });
    expect(failed.outcome.status).toBe(503);
    const again = await host(request('k'), async () => created('twice'));
    expect(again).toEqual({ outcome: created('done'), replayed: true });
  });
});

test(covers('operations.idempotency.retention'), async () => {
  const world = virtualClock(START);
  const host = hostOn(memoryStore(), world);
  await host(request('k'), async () => created('first'));
  world.at(START + DAY_MS - 1, () => {});
  await world.step(START + DAY_MS);
  expect((await host(request('k'), async () => created('second'))).outcome).toEqual(created('first'));
  world.at(START + DAY_MS, () => {});
  await world.step(START + DAY_MS);
  expect((await host(request('k'), async () => created('second'))).outcome).toEqual(created('second'));
});

describe(covers('operations.idempotency.concurrent'), () => {
  test('lets concurrent requests wait for one execution', async () => {
    const host = hostOn(memoryStore(), virtualClock(START));
    let finish = (): void => {};
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let executions = 0;
    const work = async () => {
      executions++;
      await gate;
      return created('once');
    };
    const answers = Promise.all(Array.from({ length: 50 }, () => host(request('k'), work)));
    finish();
    expect((await answers).filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set((await answers).map(({ outcome }) => JSON.stringify(outcome))).size).toBe(1);
    expect(executions).toBe(1);
  });

  test('rejects a concurrent request after 5 s', async () => {
    const world = virtualClock(START);
    const host = hostOn(memoryStore(), world);
    void host(request('k'), () => new Promise(() => {}));
    const waiting = host(request('k'), async () => created('never')).catch((error: unknown) => error);
    await world.step(START + 5000);
    expect(await waiting).toMatchObject({
      code: 'idempotency_in_flight',
      details: { retryAfter: 1 },
      headers: { 'retry-after': '1' },
    });
  });

  test('tells a request at another host when the lease expires', async () => {
    const world = virtualClock(START);
    const store = memoryStore();
    void hostOn(store, world)(request('k'), () => new Promise(() => {}));
    const other = hostOn(store, world)(request('k'), async () => created('never'));
    await expect(other).rejects.toMatchObject({ code: 'idempotency_in_flight', details: { retryAfter: 30 } });
  });
});

test(`${covers('operations.idempotency.sealed')} A stored reply is sealed, and opens under its own key only`, async () => {
  const store = memoryStore();
  const host = hostOn(store, virtualClock(START));
  await host(request('one'), async () => created('the-secret'));
  await host(request('two'), async () => created('another'));
  const [first, second] = await store.idempotency.page({ after: undefined, limit: 2 });
  if (first === undefined || second === undefined) throw new Error('Both must be kept.');
  expect(Buffer.from(first.sealed).includes('the-secret')).toBe(false);
  expect(JSON.stringify(first)).not.toContain('"one"');
  await store.transaction((transaction) => store.idempotency.reseal(first, second.sealed, transaction));
  await store.transaction((transaction) => store.idempotency.reseal(second, first.sealed, transaction));
  await expect(host(request('one'), async () => created('x'))).rejects.toThrow();
});

/** One request in a world of two hosts. */
interface Plan {
  readonly at: number;
  readonly host: 0 | 1;
  readonly key: 'a' | 'b';
  readonly body: 'x' | 'y';
  /** How long it works before it commits. After its lease another request may take over. */
  readonly takesMs: number;
  readonly ends: 'commits and keeps' | 'refuses' | 'fails' | 'dies before' | 'dies after';
}

describe('the state machine', () => {
  test(`${covers('operations.idempotency.once', 'operations.idempotency.take-over')} One effect for a key, with crashes and delays at any point`, async () => {
    const plan: fc.Arbitrary<Plan> = fc.record({
      at: fc.integer({ min: 0, max: 200_000 }),
      host: fc.constantFrom(0, 1),
      key: fc.constantFrom('a', 'b'),
      body: fc.constantFrom('x', 'x', 'x', 'y'),
      takesMs: fc.constantFrom(0, 0, 1_000, 20_000, 40_000, 70_000),
      ends: fc.constantFrom('commits and keeps', 'commits and keeps', 'refuses', 'fails', 'dies before', 'dies after'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(plan, { maxLength: 12 }), async (plans) => {
        const { heard, committed } = await lived(plans);
        for (const key of ['a', 'b'] as const) {
          const done = committed.filter((effect) => effect.key === key);
          expect(done.length).toBeLessThanOrEqual(1);
          const successes = heard.filter((one) => one.key === key && one.outcome?.status === 201);
          for (const { outcome, body } of successes) {
            expect(outcome?.body).toBe(JSON.stringify({ text: done[0]?.id }));
            expect(body).toBe(done[0]?.body);
          }
          expect(successes.filter(({ replayed }) => !replayed).length).toBeLessThanOrEqual(1);
        }
        for (const { error } of heard) {
          if (error !== undefined) expect(['idempotency_in_flight', 'idempotency_key_mismatch']).toContain(error);
        }
      }),
      { numRuns: 400 },
    );
  });
});

/** Executes the plans. Returns the replies that callers got, and the committed effects. */
async function lived(plans: readonly Plan[]) {
  const world = virtualClock(START);
  const store = memoryStore();
  const hosts = [hostOn(store, world), hostOn(store, world)] as const;
  const heard: { key: string; body: string; outcome?: Outcome; replayed?: boolean; error?: string }[] = [];
  const committed: { key: string; body: string; id: string }[] = [];

  for (const [index, { at, host, key, body, takesMs, ends }] of plans.entries()) {
    const work = async (keep: Keep): Promise<Outcome> => {
      await new Promise<void>((resolve) => world.at(world.now() + takesMs, resolve));
      if (ends === 'dies before') return new Promise(() => {});
      if (ends === 'refuses') return refusal(403, 'forbidden');
      if (ends === 'fails') throw new HostError('service_unavailable', 'away', { details: undefined });
      const outcome = created(`effect-${index}`);
      await store.transaction(async (transaction) => {
        await keep(outcome, transaction);
        committed.push({ key, body, id: `effect-${index}` });
      });
      if (ends === 'dies after') return new Promise(() => {});
      return outcome;
    };
    world.at(START + at, () => {
      hosts[host](request(key, body), work).then(
        ({ outcome, replayed }) => heard.push({ key, body, outcome, replayed }),
        (error: unknown) => {
          if (HostError.is(error) && error.code !== 'service_unavailable') heard.push({ key, body, error: error.code });
          else if (!HostError.is(error)) throw error;
        },
      );
    });
  }
  while (await world.step(START + 1_000_000));
  return { heard, committed };
}

test('a reply of bytes is stored as it was, with the U+FEFF at its start', () => {
  const body = new TextEncoder().encode('\ufeffname;value');
  expect(outcomeOf({ status: 200, headers: {}, body }).body).toBe('\ufeffname;value');
});
