import { expect, test } from 'vitest';
import { storeCheck } from '../../src/health/store-check.ts';
import { virtualClock } from '../simulation/virtual-clock.ts';

/** A check of a store whose answers the test gives one by one, on a virtual clock. */
function asked() {
  const world = virtualClock(0);
  const questions: { answer(): void; fail(): void }[] = [];
  const check = storeCheck(
    {
      probe: () =>
        new Promise((resolve, reject) => {
          questions.push({ answer: resolve, fail: () => reject(new Error('The disk at /var/lib is gone.')) });
        }),
    },
    world.forHost(),
  );
  const wait = async (ms: number) => {
    const until = world.now() + ms;
    world.at(until, () => {});
    while (await world.step(until));
  };
  return { check, questions, wait };
}

const OK = { name: 'store', ok: true };
const FAILED = { name: 'store', ok: false, reason: 'failed' };
const NO_ANSWER = { name: 'store', ok: false, reason: 'no-answer' };

test('asks the store once for 1000 concurrent checks, and reuses the answer for one second', async () => {
  const { check, questions, wait } = asked();
  const flood = Promise.all(Array.from({ length: 1000 }, check));
  expect(questions.length).toBe(1);
  questions[0]?.answer();
  expect(new Set(await flood)).toEqual(new Set([OK]));
  await wait(999);
  expect(await check()).toEqual(OK);
  expect(questions.length).toBe(1);
  await wait(1);
  const again = check();
  expect(questions.length).toBe(2);
  questions[1]?.fail();
  expect(await again).toEqual(FAILED);
});

test('reports no-answer after two seconds, and asks again only after the store has answered', async () => {
  const { check, questions, wait } = asked();
  const first = check();
  await wait(1999);
  await wait(1);
  expect(await first).toEqual(NO_ANSWER);
  await wait(60_000);
  expect(await check()).toEqual(NO_ANSWER);
  expect(questions.length).toBe(1);
  questions[0]?.answer();
  await wait(1);
  expect(await check()).toEqual(OK);
});

test('reports failed when the store throws instead of rejecting', async () => {
  const probe = () => {
    throw new Error('closed');
  };
  expect(await storeCheck({ probe }, virtualClock(0).forHost())()).toEqual(FAILED);
});
