import { covers } from '@svc/tools/covers';
import { describe, expect, test } from 'vitest';
import type { DedupStore } from '../src/dedup/dedup.ts';
import { memoryDedupStore } from '../src/dedup/memory.ts';
import { type ReceiveOptions, receive, type Verifier } from '../src/receive.ts';
import { testDelivery } from '../src/testing/index.ts';

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
    expect(await handle(body, headers)).toEqual({ status: 409 });
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
