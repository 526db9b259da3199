import { describe, expect, test } from 'vitest';
import { runtimes } from './index.ts';

const DEADLINE_MS = 90_000;

/**
 * Runs a package's portable suite in every runtime that it promises.
 *
 * @param least how many cases the suite has at the least, so that an empty one is no success
 */
export function testInEveryRuntime(name: string, suite: URL, least: number): void {
  describe.each(runtimes())('in $name', ({ name: runtime, missing, run }) => {
    if (missing !== undefined) console.warn(`${name} is not tested in ${runtime}: ${missing}`);

    test.skipIf(missing !== undefined)(
      'every case of the portable suite has its outcome',
      async () => {
        const { total, failures } = await run(suite);
        expect(failures).toEqual([]);
        expect(total).toBeGreaterThanOrEqual(least);
      },
      DEADLINE_MS,
    );
  });
}
