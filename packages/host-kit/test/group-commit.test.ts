import { chance } from '@svc/tools/chance';
import { describe, expect, test } from 'vitest';
import { groupCommit } from '../src/group-commit.ts';
import { type Transaction, transactionMark } from '../src/ports/transaction.ts';

/**
 * The behaviour of the store for one transaction: it keeps it, refuses it before anything was done, undoes it and tries
 * it again, or commits it and loses the answer.
 */
type Weather = 'kept' | 'away' | 'tried-again' | 'answer-lost';

/** A store that runs one transaction at a time, and the jobs that each one had. */
function world({ weather = [], refused = [], largest = 100 }: Partial<World>) {
  const transactions: string[][] = [];
  const kept: string[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let count = 0;
  const ask = groupCommit<string, string>({
    transaction(work) {
      const result = last.then(async () => {
        const now = weather[count++] ?? 'kept';
        if (now === 'away') throw new Error('away');
        if (now === 'tried-again') await work(TRANSACTION);
        const done = await work(TRANSACTION);
        kept.push(...(transactions.at(-1) ?? []));
        if (now === 'answer-lost') throw new Error('answer lost');
        return done;
      });
      last = result.catch(() => {});
      return result;
    },
    async work(asked) {
      transactions.push([...asked]);
      await Promise.resolve();
      if (asked.some((each) => refused.includes(each))) throw new Error('refused');
      return asked.map((value) =>
        value.endsWith('?') ? { status: 'rejected', reason: new Error('no') } : { status: 'fulfilled', value },
      );
    },
    keyOf: (asked) => asked.charAt(0),
    largest: () => largest,
  });
  const askAll = async (...all: readonly string[]) =>
    (await Promise.allSettled(all.map(ask))).map((each) =>
      each.status === 'fulfilled' ? each.value : each.reason.message,
    );
  return { transactions, kept, askAll };
}

interface World {
  readonly weather: readonly Weather[];
  readonly refused: readonly string[];
  readonly largest: number;
}

const TRANSACTION: Transaction = { [transactionMark]: true };

describe('jobs of about the same time', () => {
  test('share a transaction, and each gets its own outcome', async () => {
    const { transactions, askAll } = world({});
    expect(await askAll('a1', 'b1?', 'c1')).toEqual(['a1', 'no', 'c1']);
    expect(transactions).toEqual([['a1', 'b1?', 'c1']]);
  });

  test('are split by the largest size of a transaction, in their order', async () => {
    const { transactions, askAll } = world({ largest: 2 });
    expect(await askAll('a1', 'a2', 'a3', 'b1', 'a4')).toEqual(['a1', 'a2', 'a3', 'b1', 'a4']);
    expect(transactions).toEqual([['a1', 'a2'], ['a3', 'b1'], ['a4']]);
  });

  test('run one by one when the store refuses them together, in order for each key', async () => {
    const { transactions, kept, askAll } = world({ refused: ['b1'] });
    expect(await askAll('a1', 'b1', 'c1', 'a2')).toEqual(['a1', 'refused', 'c1', 'a2']);
    expect(transactions[0]).toEqual(['a1', 'b1', 'c1', 'a2']);
    expect(transactions.slice(1).flat().toSorted()).toEqual(['a1', 'a2', 'b1', 'c1']);
    expect(kept.indexOf('a1')).toBeLessThan(kept.indexOf('a2'));
  });

  test('do not overtake a job of the same key that runs by itself', async () => {
    const { kept, askAll } = world({ refused: ['b1'] });
    const first = askAll('a1', 'b1', 'a2');
    await new Promise((resolve) => setTimeout(resolve));
    const second = askAll('a3', 'd1');
    expect(await first).toEqual(['a1', 'refused', 'a2']);
    expect(await second).toEqual(['a3', 'd1']);
    expect(kept.filter((each) => each.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
  });
});

describe('a transaction that fails', () => {
  test('before its work began rejects its jobs, and later jobs run', async () => {
    const { transactions, askAll } = world({ weather: ['away'] });
    expect(await askAll('a1', 'b1')).toEqual(['away', 'away']);
    expect(await askAll('a1')).toEqual(['a1']);
    expect(transactions).toEqual([['a1']]);
  });

  test('and is tried again by the store has the same jobs as before', async () => {
    const { transactions, askAll } = world({ weather: ['tried-again'] });
    expect(await Promise.all([askAll('a1', 'b1'), askAll('c1')])).toEqual([['a1', 'b1'], ['c1']]);
    expect(transactions).toEqual([
      ['a1', 'b1', 'c1'],
      ['a1', 'b1', 'c1'],
    ]);
  });

  test('after its work was done is not repeated, because it may be committed', async () => {
    const { transactions, kept, askAll } = world({ weather: ['answer-lost'] });
    expect(await askAll('a1', 'b1')).toEqual(['answer lost', 'answer lost']);
    expect(transactions).toEqual([['a1', 'b1']]);
    expect(kept).toEqual(['a1', 'b1']);
  });
});

test('settles every job under random failures; no job of a key is lost, doubled or out of order', async () => {
  for (let seed = 1; seed <= 200; seed++) expect(await rough(seed)).toEqual({ seed, lost: [], wrong: [] });
});

/** Runs 50 jobs, one by one and together, on a store that randomly is away, refuses, tries again and loses answers. */
async function rough(seed: number) {
  const luck = chance(seed);
  const pass = () => new Promise<void>((resolve) => (luck.happens(0.5) ? resolve() : setImmediate(resolve)));
  const kept: Asked[] = [];
  let open: Asked[] = [];
  const ask = groupCommit<Asked, void>({
    async transaction(work) {
      await pass();
      if (luck.happens(0.05)) throw new Error('away');
      for (;;) {
        const own: Asked[] = [];
        open = own;
        const done = await work(TRANSACTION);
        await pass();
        if (luck.happens(0.2)) continue;
        const isLost = luck.happens(0.05);
        if (!isLost || luck.happens(0.5)) kept.push(...own);
        if (isLost) throw new Error('answer lost');
        return done;
      }
    },
    async work(asked) {
      const own = open;
      for (const each of asked) {
        await pass();
        if (luck.happens(0.03)) throw new Error('refused');
        own.push(each);
      }
      return asked.map(() => ({ status: 'fulfilled', value: undefined }));
    },
    keyOf: ({ key }) => key,
    largest: () => 1 + luck.below(6),
  });
  const lost: Asked[] = [];
  const all: Promise<void>[] = [];
  for (let place = 0; place < 50; place++) {
    const asked = { key: luck.pick(KEYS), place };
    const answered = ask(asked).then(
      () => void (kept.includes(asked) || lost.push(asked)),
      () => {},
    );
    all.push(answered);
    if (luck.happens(0.4)) await pass();
  }
  await Promise.all(all);
  const places = KEYS.map((key) => kept.filter((each) => each.key === key).map(({ place }) => place));
  const isRising = (of: readonly number[]) => of.every((place, index) => place > (of[index - 1] ?? -1));
  return { seed, lost, wrong: places.filter((of) => !isRising(of)) };
}

interface Asked {
  readonly key: string;
  readonly place: number;
}

const KEYS = ['a', 'b', 'c', 'd'] as const;
