import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import { type DedupStore, dedupKey } from '../src/dedup/dedup.ts';
import { memoryDedupStore } from '../src/dedup/memory.ts';
import { type ReceiveOptions, receive, type Verifier } from '../src/receive.ts';
import { testDelivery } from '../src/testing/index.ts';
import { Webhook } from '../src/webhook.ts';

const secret = 'a secret of the tests';

/** Sends deliveries one after the other, and returns the statuses. */
async function statuses(options: Partial<ReceiveOptions>, ...sequences: readonly number[]): Promise<number[]> {
  const handle = receive({ secret, onDelivery: () => {}, ...options });
  const answers: number[] = [];
  for (const sequence of sequences) {
    const { body, headers } = testDelivery({ secret, sequence });
    answers.push((await handle(body, headers)).status);
  }
  return answers;
}

describe(covers('webhooks.verify.dedup'), () => {
  test('an event is handled once, and again only after a failure', async () => {
    const handled: number[] = [];
    let failing = true;
    const onDelivery: ReceiveOptions['onDelivery'] = ({ event }) => {
      if (failing && event.sequence === 1) {
        failing = false;
        throw new Error('not now');
      }
      handled.push(event.sequence);
    };
    expect(await statuses({ dedup: memoryDedupStore(), onDelivery }, 1, 1, 1, 2)).toEqual([500, 200, 200, 200]);
    expect(handled).toEqual([1, 2]);
  });

  test('an event whose handler runs is answered with 409', async () => {
    let finish = () => {};
    const onDelivery = () => new Promise<void>((resolve) => (finish = resolve));
    const handle = receive({ secret, dedup: memoryDedupStore(), onDelivery });
    const { body, headers } = testDelivery({ secret });
    const first = handle(body, headers);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await handle(body, headers)).toEqual({ status: 409, retryAfterSeconds: 60 });
    finish();
    expect(await first).toEqual({ status: 200 });
    expect(await handle(body, headers)).toEqual({ status: 200 });
  });

  test('a repeat is handled again without a store', async () => {
    let handled = 0;
    expect(await statuses({ onDelivery: () => void handled++ }, 1, 1)).toEqual([200, 200]);
    expect(handled).toBe(2);
  });
});

describe(`${covers('webhooks.verify.open-claim')} An open claim`, () => {
  const { body, headers } = testDelivery({ secret });
  const ONCE: DedupStore = { claim: () => ({ state: 'claimed', token: '1' }), confirm: () => {}, release: () => {} };

  test.each([
    [0, 1],
    [-5, 1],
    [0.001, 1],
    [1, 1],
    [1.001, 2],
    [59.1, 60],
    [61, 60],
    [Number.POSITIVE_INFINITY, 60],
    [Number.NaN, 60],
    [undefined, 60],
  ])('with %s seconds left is answered 409 with Retry-After: %d', async (secondsLeft, retryAfterSeconds) => {
    const dedup: DedupStore = { ...ONCE, claim: () => ({ state: 'in-flight', secondsLeft }) };
    const handle = receive({ secret, dedup, onDelivery: () => {} });
    expect(await handle(body, headers)).toEqual({ status: 409, retryAfterSeconds });
  });

  /** Makes a receiver whose handler runs until the test ends it, and whose timers the test runs. */
  function running(dedup: DedupStore) {
    const timers: { readonly ms: number; readonly run: () => void; isCancelled: boolean }[] = [];
    const failures: unknown[] = [];
    let end: (error?: Error) => void = () => {};
    const handle = receive({
      secret,
      dedup,
      onDelivery: () =>
        new Promise<void>((resolve, reject) => {
          end = (error) => (error === undefined ? resolve() : reject(error));
        }),
      onFailed: (error) => failures.push(error),
      after(ms, run) {
        const timer = { ms, run, isCancelled: false };
        timers.push(timer);
        return () => {
          timer.isCancelled = true;
        };
      },
    });
    const answer = handle(body, headers);
    return {
      timers,
      failures,
      repeat: () => handle(body, headers),
      async end(error?: Error) {
        await settled();
        end(error);
        return answer;
      },
      /** Runs the timer that was planned last. */
      async tick() {
        await settled();
        timers.at(-1)?.run();
        await settled();
      },
    };
  }

  /** Lets the promises that are under way go on as far as they can. */
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

  test('is prolonged every third of its length while the handler runs', async () => {
    let seconds = 0;
    const dedup = memoryDedupStore({ claimSeconds: 30, now: () => seconds * 1000 });
    const { timers, failures, repeat, tick, end } = running(dedup);
    for (seconds = 10; seconds <= 600; seconds += 10) await tick();
    expect([...new Set(timers.map(({ ms }) => ms))]).toEqual([10_000]);
    expect(await repeat()).toEqual({ status: 409, retryAfterSeconds: 20 });
    expect(await end()).toEqual({ status: 200 });
    expect(timers.at(-1)?.isCancelled).toBe(true);
    expect(timers).toHaveLength(61);
    expect(failures).toEqual([]);
  });

  test.each([undefined, new Error('the handler')])('is prolonged no more after a handler with %s', async (error) => {
    const { timers, tick, end } = running(memoryDedupStore());
    await end(error);
    expect(timers.map(({ isCancelled }) => isCancelled)).toEqual([true]);
    // A timer that fired in the same moment finds no claim, and plans no other.
    await tick();
    expect(timers).toHaveLength(1);
  });

  test('plans no other prolongation when the handler ends during one', async () => {
    let prolonged: (isHeld: boolean) => void = () => {};
    const dedup: DedupStore = {
      ...memoryDedupStore(),
      prolong: () => new Promise<boolean>((resolve) => (prolonged = resolve)),
    };
    const { timers, tick, end } = running(dedup);
    await tick();
    await end();
    prolonged(true);
    await settled();
    expect(timers).toHaveLength(1);
  });

  test('is not prolonged when another holds the delivery', async () => {
    let seconds = 0;
    const dedup = memoryDedupStore({ claimSeconds: 30, now: () => seconds * 1000 });
    const key = dedupKey(new Webhook(secret).verify(body, headers));
    const { timers, tick, end } = running(dedup);
    await settled();
    seconds = 30;
    await tick();
    expect(timers).toHaveLength(2);
    seconds = 61;
    const other = await dedup.claim(key);
    expect(other).toMatchObject({ state: 'claimed' });
    await tick();
    expect(timers).toHaveLength(2);
    expect(await end()).toEqual({ status: 200 });
    expect(await dedup.claim(key)).toMatchObject({ state: 'in-flight' });
  });

  test('goes on after a prolongation that failed, and onFailed is told', async () => {
    const problem = new Error('no prolong');
    let fails = true;
    const dedup: DedupStore = {
      ...memoryDedupStore(),
      prolong: () => (fails ? Promise.reject(problem) : true),
    };
    const { timers, failures, tick, end } = running(dedup);
    await tick();
    fails = false;
    await tick();
    expect(failures).toEqual([problem]);
    expect(timers).toHaveLength(3);
    expect(await end()).toEqual({ status: 200 });
  });

  test.each<[string, DedupStore]>([
    ['a store without prolong', { ...ONCE, claim: () => ({ state: 'claimed', token: '1', claimSeconds: 9 }) }],
    ['a store without a length', { ...ONCE, prolong: () => true }],
    [
      'a length of 0',
      { ...ONCE, claim: () => ({ state: 'claimed', token: '1', claimSeconds: 0 }), prolong: () => true },
    ],
  ])('of %s is not prolonged', async (_title, dedup) => {
    const { timers, end } = running(dedup);
    expect(await end()).toEqual({ status: 200 });
    expect(timers).toEqual([]);
  });

  test('of a length beyond the longest timer is prolonged in time', async () => {
    const { timers, end } = running(memoryDedupStore({ claimSeconds: 1e9 }));
    expect(await end()).toEqual({ status: 200 });
    expect(timers.map(({ ms }) => ms)).toEqual([2 ** 31 - 1]);
  });

  test('is prolonged by the timers of the runtime, which keep no process alive', async () => {
    let end: () => void = () => {};
    const prolonged = new Promise<void>((resolve) => {
      const dedup: DedupStore = {
        ...memoryDedupStore({ claimSeconds: 0.03 }),
        prolong: () => {
          resolve();
          return true;
        },
      };
      const onDelivery = () => new Promise<void>((resolve) => (end = resolve));
      void receive({ secret, dedup, onDelivery })(body, headers);
    });
    const timer = setTimeout(() => {}, 60_000);
    await prolonged;
    clearTimeout(timer);
    end();
  });
});

describe('a store that fails', () => {
  const broken = (method: keyof DedupStore): DedupStore => ({
    ...memoryDedupStore(),
    [method]: () => Promise.reject(new Error(`no ${method}`)),
  });

  test.each([
    ['claim', {}, 500, 0],
    ['confirm', {}, 200, 1],
    ['release', { fails: true }, 500, 1],
  ] as const)('at %s', async (method, { fails = false }: { fails?: boolean }, status, runs) => {
    const failures: unknown[] = [];
    let handled = 0;
    const found = await statuses(
      {
        dedup: broken(method),
        onDelivery: () => {
          handled += 1;
          if (fails) throw new Error('the handler');
        },
        onFailed: (error) => failures.push((error as Error).message),
      },
      1,
    );
    expect(found).toEqual([status]);
    expect(handled).toBe(runs);
    expect(failures).toEqual(fails ? ['the handler', 'no release'] : [`no ${method}`]);
  });
});

describe('observers', () => {
  test('get the error of a rejected delivery, while the sender gets the status', async () => {
    const codes: string[] = [];
    const handle = receive({ secret, onDelivery: () => {}, onRejected: ({ code }) => codes.push(code) });
    const { body, headers } = testDelivery({ secret });
    expect(await handle(`${body} `, headers)).toEqual({ status: 401 });
    expect(await handle(body, {})).toEqual({ status: 400 });
    expect(codes).toEqual(['signature_mismatch', 'missing_header']);
  });

  test('do not change the answer when they throw', async () => {
    const loud = () => {
      throw new Error('observer');
    };
    const handle = receive({ secret, onDelivery: () => Promise.reject(new Error()), onRejected: loud, onFailed: loud });
    const { body, headers } = testDelivery({ secret });
    expect(await handle(body, headers)).toEqual({ status: 500 });
    expect(await handle(body, {})).toEqual({ status: 400 });
  });
});

test('receive repeats the challenge of a custom verifier', async () => {
  const verifier = { safeVerify: () => ({ ok: true, challenge: 'c"1' }) as const };
  const handle = receive({ verifier, onDelivery: () => Promise.reject(new Error('not called')) });
  expect(await handle('', {})).toEqual({ status: 200, body: '{"challenge":"c\\"1"}' });
});

const ONREJECT = /^receive: unknown option onReject\. Did you mean onRejected\?$/;

describe('receive throws for', () => {
  const onDelivery = () => {};
  test.each([
    ['neither secret nor verifier', { onDelivery }, /^secret: must be set unless verifier is/],
    [
      'both',
      { onDelivery, secret, verifier: { safeVerify: () => ({ ok: true, challenge: '' }) as const } },
      /never beside it/,
    ],
    ['a secret of another type', { onDelivery, secret: 1 as unknown as string }, /^secret: must be/],
    ['a secret with white space', { onDelivery, secret: ' a' }, /white space/],
    ['an unknown option', { onDelivery, secret, onReject: () => {} }, ONREJECT],
    ['a verifier of another type', { onDelivery, verifier: {} as unknown as Verifier }, /^verifier: must have/],
    ['no handler', { secret } as unknown as ReceiveOptions, /onDelivery/],
    ['a tolerance of nothing', { onDelivery, secret, toleranceSeconds: -1 }, /toleranceSeconds/],
  ])('%s', (_title, options, problem) => {
    expect(() => receive(options as ReceiveOptions)).toThrow(problem);
  });
});
