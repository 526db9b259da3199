import type { Store } from '../../ports/store.ts';
import type { CallerPage, VersionUse } from '../../ports/version-uses.ts';
import type { StoreContract } from './contract.ts';

/** Tests of `VersionUses`. */
export function versionUsesContract({ onStore, assert }: StoreContract): void {
  onStore('requests of one credential, major and day are summed, and the later time is kept', async (store) => {
    await add(store, use({ requests: 2, lastAt: 50 }));
    await add(store, use({ requests: 3, lastAt: 40 }), use({ day: DAY_MS, requests: 1, lastAt: DAY_MS + 7 }));
    await add(store, use({ major: 2, requests: 9, lastAt: 60 }));
    assert.deepEqual(await store.versionUses.callers(ACME, page({})), [
      {
        ...{ lane: 'api-key', credential: 'key_1' },
        majors: [
          { major: 1, requests: 6, lastAt: DAY_MS + 7 },
          { major: 2, requests: 9, lastAt: 60 },
        ],
      },
    ]);
    assert.deepEqual(await store.versionUses.days(ACME, 0), [
      { day: 0, major: 1, requests: 5 },
      { day: 0, major: 2, requests: 9 },
      { day: DAY_MS, major: 1, requests: 1 },
    ]);
  });

  onStore('transactions that add to the same credentials at the same time are all counted', async (store) => {
    const uses = Array.from({ length: 20 }, (_, index) => use({ credential: `key_${String(index).padStart(2, '0')}` }));
    await Promise.all(Array.from({ length: 8 }, () => add(store, ...uses)));
    const callers = await store.versionUses.callers(ACME, page({ limit: 50 }));
    assert.deepEqual(
      callers.map(({ majors }) => majors.map(({ requests }) => requests)),
      uses.map(() => [8]),
    );
  });

  onStore('uses of a transaction that is undone are not counted', async (store) => {
    const undone = store.transaction(async (transaction) => {
      await store.versionUses.add([use({})], transaction);
      throw new Error('undo');
    });
    await assert.rejects(undone);
    assert.deepEqual(await store.versionUses.days(ACME, 0), []);
  });

  onStore('callers and days are those of one tenant and mode', async (store) => {
    await add(
      store,
      use({}),
      use({ mode: 'test', credential: 'key_2' }),
      use({ tenant: 'other', credential: 'key_3' }),
    );
    const names = async (tenant: string, mode: VersionUse['mode']) =>
      (await store.versionUses.callers({ tenant, mode }, page({}))).map(({ credential }) => credential);
    assert.deepEqual(await names('acme', 'live'), ['key_1']);
    assert.deepEqual(await names('acme', 'test'), ['key_2']);
    assert.deepEqual(await names('other', 'live'), ['key_3']);
    assert.deepEqual(await names('other', 'test'), []);
    assert.deepEqual(await store.versionUses.days({ tenant: 'other', mode: 'test' }, 0), []);
    assert.deepEqual(await store.versionUses.days(ACME, 0), [{ day: 0, major: 1, requests: 1 }]);
  });

  onStore('pages of callers have those of one major since a day, each once', async (store) => {
    const lanes = ['api-key', 'oidc'];
    for (const lane of lanes) {
      await add(store, ...['a', 'b', 'c'].map((credential) => use({ lane, credential, day: DAY_MS })));
    }
    await add(store, use({ credential: 'long-ago' }));
    await add(
      store,
      use({ credential: 'b', major: 2, day: DAY_MS }),
      use({ credential: 'moved', major: 2, day: DAY_MS }),
    );
    const found: string[] = [];
    let after: CallerPage['after'];
    for (;;) {
      const callers = await store.versionUses.callers(ACME, page({ since: DAY_MS, after, limit: 2 }));
      found.push(...callers.map(({ lane, credential }) => `${lane} ${credential}`));
      after = callers.at(-1);
      if (callers.length < 2) break;
    }
    assert.deepEqual(
      found,
      lanes.flatMap((lane) => ['a', 'b', 'c'].map((credential) => `${lane} ${credential}`)),
    );
    const moved = await store.versionUses.callers(ACME, page({ major: 2, since: DAY_MS }));
    assert.deepEqual(
      moved.map(({ credential, majors }) => [credential, majors.map(({ major }) => major)]),
      [
        ['b', [1, 2]],
        ['moved', [2]],
      ],
    );
  });

  onStore('uses are deleted when their day has passed, in steps', async (store) => {
    await add(
      store,
      use({}),
      use({ credential: 'key_2' }),
      use({ tenant: 'other' }),
      use({ tenant: 'other', day: DAY_MS }),
    );
    assert.deepEqual(await store.versionUses.sweep(DAY_MS, 2), 2);
    assert.deepEqual(await store.versionUses.sweep(DAY_MS, 2), 1);
    assert.deepEqual(await store.versionUses.sweep(DAY_MS, 2), 0);
    assert.deepEqual(await store.versionUses.days(ACME, 0), []);
    assert.deepEqual(await store.versionUses.days({ tenant: 'other', mode: 'live' }, 0), [
      { day: DAY_MS, major: 1, requests: 1 },
    ]);
  });
}

const DAY_MS = 86_400_000;
const ACME = { tenant: 'acme', mode: 'live' } as const;

function use(fields: Partial<VersionUse>): VersionUse {
  const name = { ...ACME, lane: 'api-key', credential: 'key_1' };
  return { ...name, major: 1, day: 0, requests: 1, lastAt: 1, ...fields };
}

function page(fields: Partial<CallerPage>): CallerPage {
  return { major: 1, since: 0, after: undefined, limit: 10, ...fields };
}

function add(store: Store, ...uses: readonly VersionUse[]): Promise<void> {
  return store.transaction((transaction) => store.versionUses.add(uses, transaction));
}
