import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cachedKeyStore } from './cached-keys.ts';
import { type ApiKeyRecord, checkedApiKeyRecord } from './key-store.ts';

const hashOf = (index: number) => index.toString(16).padStart(16, '0').padEnd(64, 'f');
const recordOf = (index: number, fields: Partial<ApiKeyRecord> = {}) =>
  checkedApiKeyRecord({
    id: `key_${index}`,
    hash: hashOf(index),
    tenant: 'acme',
    workspaces: 'all',
    principal: 'p_1',
    scopes: [],
    mode: 'live',
    ...fields,
  });

/** A database that reads its records when a load begins, and answers when the test says so. */
function database() {
  const records = new Map<string, ApiKeyRecord>();
  const answers: (() => void)[] = [];
  const loads: (readonly string[])[] = [];
  return {
    records,
    loads,
    answer: () => answers.shift()?.(),
    load(hashes: readonly string[]): Promise<readonly ApiKeyRecord[]> {
      loads.push(hashes);
      const found = hashes.flatMap((hash) => records.get(hash) ?? []);
      return new Promise((resolve) => answers.push(() => resolve(found)));
    },
  };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a cache of keys', () => {
  test('returns a cached key without a promise, and asks for unknown ones every time', async () => {
    const { load, records, loads, answer } = database();
    records.set(hashOf(1), recordOf(1));
    const keys = cachedKeyStore({ load });
    const [known, unknown] = [keys.candidates({ hash: hashOf(1) }), keys.candidates({ hash: hashOf(2) })];
    await turn();
    answer();
    expect([await known, await unknown]).toEqual([[recordOf(1)], []]);
    expect(keys.candidates({ hash: hashOf(1) })).toEqual([recordOf(1)]);
    expect(keys.candidates({ hash: hashOf(2) })).toBeInstanceOf(Promise);
    await turn();
    // Both lookups of the first turn shared a load.
    expect(loads).toEqual([[hashOf(1), hashOf(2)], [hashOf(2)]]);
  });

  test('rejects the lookups of a load before which isCurrent throws, and answers the next ones', async () => {
    const { load, records, answer } = database();
    records.set(hashOf(1), recordOf(1));
    const currency: (() => boolean)[] = [
      () => true,
      () => {
        throw new Error('down');
      },
    ];
    const keys = cachedKeyStore({ load, isCurrent: () => currency.shift()?.() ?? true });
    await expect(keys.candidates({ hash: hashOf(1) })).rejects.toThrow('down');
    const next = keys.candidates({ hash: hashOf(1) });
    await turn();
    answer();
    expect(await next).toEqual([recordOf(1)]);
  });

  test('does not store a record that was forgotten while it was loaded', async () => {
    const { load, records, answer } = database();
    records.set(hashOf(1), recordOf(1));
    const keys = cachedKeyStore({ load });
    const before = keys.candidates({ hash: hashOf(1) });
    await turn();
    records.set(hashOf(1), recordOf(1, { revokedAt: 0 }));
    keys.forget(hashOf(1));
    const after = keys.candidates({ hash: hashOf(1) });
    answer();
    expect(await before).toEqual([recordOf(1)]);
    await turn();
    answer();
    expect(await after).toEqual([recordOf(1, { revokedAt: 0 })]);
  });

  test('answers nothing from memory while it is not current', async () => {
    let isCurrent = true;
    const keys = cachedKeyStore({ load: async (hashes) => hashes.map(() => recordOf(1)), isCurrent: () => isCurrent });
    await keys.candidates({ hash: hashOf(1) });
    isCurrent = false;
    expect(keys.candidates({ hash: hashOf(1) })).toBeInstanceOf(Promise);
  });

  test('holds at most maxKeys records', async () => {
    const load = async (hashes: readonly string[]) =>
      hashes.map((hash) => recordOf(Number.parseInt(hash.slice(0, 16), 16)));
    const keys = cachedKeyStore({ load, maxKeys: 10 });
    for (let index = 0; index < 100; index++) await keys.candidates({ hash: hashOf(index) });
    expect(keys.size()).toBeLessThanOrEqual(10);
    expect(keys.size()).toBeGreaterThanOrEqual(5);
  });

  test('rejects lookups that no load can serve in time, and goes on after a failed load', async () => {
    let isFailing = true;
    const load = async (hashes: readonly string[]) => {
      if (isFailing) throw new Error('down');
      return hashes.map(() => recordOf(1));
    };
    const keys = cachedKeyStore({ load, maxWaiting: 1 });
    const [first, second] = [keys.candidates({ hash: hashOf(1) }), keys.candidates({ hash: hashOf(2) })];
    await expect(second).rejects.toThrow('too many');
    await expect(first).rejects.toThrow('down');
    isFailing = false;
    expect(await keys.candidates({ hash: hashOf(1) })).toEqual([recordOf(1)]);
  });

  test('no lookup that begins after a change was forgotten gets the former record', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('look' as const), key: fc.nat(2) }),
      fc.record({ kind: fc.constant('change' as const), key: fc.nat(2) }),
      fc.record({ kind: fc.constantFrom('answer' as const, 'turn' as const), key: fc.constant(0) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { load, records, answer } = database();
        const keys = cachedKeyStore({ load, maxKeys: 2 });
        const versions = [0, 0, 0];
        const looks: Promise<void>[] = [];
        for (let key = 0; key < 3; key++) records.set(hashOf(key), recordOf(key, { expiresAt: 0 }));
        for (const { kind, key } of steps) {
          const version = versions[key] ?? 0;
          if (kind === 'answer') answer();
          else if (kind === 'turn') await turn();
          else if (kind === 'change') {
            versions[key] = version + 1;
            records.set(hashOf(key), recordOf(key, { expiresAt: version + 1 }));
            keys.forget(hashOf(key));
          } else {
            const look = async () => {
              const [found] = await keys.candidates({ hash: hashOf(key) });
              expect(found?.expiresAt).toBeGreaterThanOrEqual(version);
            };
            looks.push(look());
          }
        }
        const all = Promise.all(looks);
        let isDone = false;
        void all.finally(() => {
          isDone = true;
        });
        while (!isDone) {
          answer();
          await turn();
        }
        await all;
      }),
      { numRuns: 200 },
    );
  });
});
