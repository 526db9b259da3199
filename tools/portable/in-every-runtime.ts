import { describe, expect, test } from 'vitest';
import { runtimes } from './index.ts';

const DEADLINE_MS = 90_000;

/**
 * Runs a package's portable suite in every runtime that it promises.
 *
 * @param least the least number of cases, so that an empty suite does not pass
 */
export function testInEveryRuntime(name: string, suite: URL, least: number): void {
  describe.each(runtimes())('in $name', ({ name: runtime, missing, run }) => {
    if (missing !== undefined) console.warn(`${name} is not tested in ${runtime}: ${missing}`);

    test.skipIf(missing !== undefined)(
      'passes every case of the portable suite',
      async () => {
        const { total, failures } = await run(suite);
        expect(failures).toEqual([]);
        expect(total).toBeGreaterThanOrEqual(least);
      },
      DEADLINE_MS,
    );
  });
}
