import { expect, test } from 'vitest';
import { gathered } from '../../src/stores/postgres/gathered.ts';

/** Reads that land when the test says so. */
function reads() {
  const asked: (readonly string[])[] = [];
  const landing: { land(): void; fail(): void }[] = [];
  let value = 0;
  const read = gathered<number>(
    (keys) =>
      new Promise((resolve, reject) => {
        asked.push(keys);
        landing.push({
          land: () => resolve(new Map(keys.filter((key) => key !== 'absent').map((key) => [key, value]))),
          fail: () => reject(new Error('away')),
        });
      }),
  );
  return {
    asked,
    read,
    async lands(index: number, now: number) {
      await turn();
      value = now;
      landing[index]?.land();
    },
    async fails(index: number) {
      await turn();
      landing[index]?.fail();
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what is asked for while a read is on its way is read by the next, also when it is the same', async () => {
  const { asked, read, lands } = reads();
  const first = [read('a')];
  await turn();
  const second = [read('a'), read('b'), read('a'), read('absent')];
  await lands(0, 1);
  expect(await Promise.all(first)).toEqual([1]);
  await lands(1, 2);
  expect(await Promise.all(second)).toEqual([2, 2, 2, undefined]);
  expect(asked).toEqual([['a'], ['a', 'b', 'absent']]);
});

test('a read that fails fails for all who wait for it, and for nobody who asks later', async () => {
  const { asked, read, lands, fails } = reads();
  const first = Promise.allSettled([read('a'), read('b'), read('a')]);
  await turn();
  const second = Promise.all([read('a'), read('c')]);
  await fails(0);
  expect((await first).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await lands(1, 2);
  expect(await second).toEqual([2, 2]);
  expect(asked).toEqual([
    ['a', 'b'],
    ['a', 'c'],
  ]);
});
