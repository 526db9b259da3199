import { assert, asyncProperty, constantFrom } from 'fast-check';
import { expect, test } from 'vitest';
import { deferred } from './deferred.ts';
import { settledOrAborted } from './settled-or-aborted.ts';

/** The events that may come first and second, each with the end of the wait when it comes first. */
const OUTCOMES = { resolve: 'resolved', reject: 'rejected', abort: 'resolved' } as const;
type Happening = keyof typeof OUTCOMES;

test('the first of an end and an abort decides, in every order', async () => {
  const happenings = constantFrom<Happening>('resolve', 'reject', 'abort');
  await assert(
    asyncProperty(happenings, happenings, async (first, second) => {
      const work = deferred<string>();
      const leaving = new AbortController();
      const happen = (event: Happening) => {
        if (event === 'resolve') work.resolve('done');
        else if (event === 'reject') work.reject(new Error('broken'));
        else leaving.abort();
      };
      const wait = settledOrAborted(work.promise, leaving.signal).then(
        () => 'resolved',
        () => 'rejected',
      );
      happen(first);
      await Promise.resolve();
      await Promise.resolve();
      happen(second);
      expect(await wait).toBe(OUTCOMES[first]);
    }),
  );
});

test('an abort that came before ends the wait at once', async () => {
  await expect(settledOrAborted(new Promise(() => {}), AbortSignal.abort())).resolves.toBeUndefined();
});
