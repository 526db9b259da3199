import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AccessCache } from '../../src/access/access-cache.ts';
import type { StoredRole } from '../../src/ports/access.ts';

const record = (id: string, epoch: number): StoredRole => ({
  kind: 'role',
  id,
  tenant: 'acme',
  epoch,
  scopes: [],
  source: 'operation',
  createdAt: 0,
  updatedAt: 0,
});

const NAMES = ['a', 'b', 'c'];

test('an answer is never older than its question, while records are stored, forgotten and lost', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('ask' as const), name: fc.constantFrom(...NAMES) }),
    fc.record({ kind: fc.constant('change' as const), name: fc.constantFrom(...NAMES) }),
    fc.record({ kind: fc.constantFrom('load' as const, 'lose' as const, 'follow' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const stored = new Map<string, number>();
      let isCurrent = true;
      const loads: (() => void)[] = [];
      const cache = new AccessCache({
        lookupOf: ({ id }) => id,
        isCurrent: () => isCurrent,
        maxLookups: 2,
        load: (lookups) => {
          const found = lookups.flatMap((id) => (stored.has(id) ? [record(id, stored.get(id) ?? 0)] : []));
          return new Promise((resolve) => loads.push(() => resolve(found)));
        },
      });
      const answers: Promise<void>[] = [];
      const settled = async () => {
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      };
      for (const { kind, ...rest } of steps) {
        const name = 'name' in rest ? rest.name : '';
        if (kind === 'ask') {
          const known = stored.get(name) ?? 0;
          const answer = Promise.resolve(cache.get(name));
          answers.push(answer.then((found) => expect(found[0]?.epoch ?? 0).toBeGreaterThanOrEqual(known)));
        } else if (kind === 'change') {
          stored.set(name, (stored.get(name) ?? 0) + 1);
          // A host without the feed is not told.
          if (isCurrent) cache.forget(name);
        } else if (kind === 'load') loads.shift()?.();
        else if (kind === 'lose') isCurrent = false;
        else if (!isCurrent) {
          cache.forget();
          isCurrent = true;
        }
        await settled();
      }
      while (loads.length > 0) {
        loads.shift()?.();
        await settled();
      }
      await Promise.all(answers);
    }),
  );
});

test('a lookup without records is in memory, until a record is announced', async () => {
  let loads = 0;
  let found: StoredRole[] = [];
  const load = async () => {
    loads++;
    return found;
  };
  const cache = new AccessCache({ load, lookupOf: ({ id }) => id, isCurrent: () => true, maxLookups: 10 });
  expect([await cache.get('a'), cache.get('a'), loads]).toEqual([[], [], 1]);
  found = [record('a', 1)];
  cache.forget('a');
  expect([await cache.get('a'), loads]).toEqual([found, 2]);
});

test('a load that fails rejects, and the next one is tried', async () => {
  const load = () => Promise.reject(new Error('down'));
  const cache = new AccessCache({ load, lookupOf: ({ id }) => id, isCurrent: () => true, maxLookups: 10 });
  await expect(cache.get('a')).rejects.toThrow('down');
  await expect(cache.get('a')).rejects.toThrow('down');
});
