import { runtimes } from '@svc/tools/portable';
import { describe, expect, test } from 'vitest';

const SUITE = new URL('./portable-suite.mjs', import.meta.url);

describe.each(runtimes())('in $name', ({ name, missing, run }) => {
  if (missing !== undefined) console.warn(`versioning is not tested in ${name}: ${missing}`);

  test.skipIf(missing !== undefined)(
    'every rule has its outcome',
    async () => {
      const { total, failures } = await run(SUITE);
      expect(failures).toEqual([]);
      expect(total).toBeGreaterThan(15);
    },
    90_000,
  );
});
