import { expect, test } from 'vitest';
import { gathered } from '../../src/stores/postgres/gathered.ts';

/** Queries that end when the test says so. */
function reads() {
  const asked: (readonly string[])[] = [];
  const queries: { end(): void; fail(): void }[] = [];
  let value = 0;
  const read = gathered<number>(
    (keys) =>
      new Promise((resolve, reject) => {
        asked.push(keys);
        queries.push({
          end: () => resolve(new Map(keys.filter((key) => key !== 'absent').map((key) => [key, value]))),
          fail: () => reject(new Error('away')),
        });
      }),
  );
  return {
    asked,
    read,
    async ends(index: number, now: number) {
      await turn();
      value = now;
      queries[index]?.end();
    },
    async fails(index: number) {
      await turn();
      queries[index]?.fail();
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('reads that arrive during a query share the next one, also reads of the same key', async () => {
  const { asked, read, ends } = reads();
  const first = [read('a')];
  await turn();
  const second = [read('a'), read('b'), read('a'), read('absent')];
  await ends(0, 1);
  expect(await Promise.all(first)).toEqual([1]);
  await ends(1, 2);
  expect(await Promise.all(second)).toEqual([2, 2, 2, undefined]);
  expect(asked).toEqual([['a'], ['a', 'b', 'absent']]);
});

test('a failed query rejects the reads that wait for it, and no later ones', async () => {
  const { asked, read, ends, fails } = reads();
  const first = Promise.allSettled([read('a'), read('b'), read('a')]);
  await turn();
  const second = Promise.all([read('a'), read('c')]);
  await fails(0);
  expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await ends(1, 2);
  expect(await second).toEqual([2, 2]);
  expect(asked).toEqual([
    ['a', 'b'],
    ['a', 'c'],
  ]);
});
