import type { Tenancy } from '@svc/auth';
import type { ApiKeyPage, QuotaDraw, StoredApiKey } from '../../ports/api-keys.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';

/** Tests of `ApiKeyStore`. */
export function apiKeysContract({ onStore, assert }: StoreContract): void {
  onStore('a key is added once, and its id and its hash are taken from then on', async (store) => {
    const key = sampleKey('a');
    assert.deepEqual(await add(store, key), [true]);
    assert.deepEqual(await add(store, { ...sampleKey('b'), id: key.id }), [false]);
    assert.deepEqual(await add(store, { ...sampleKey('b'), hash: key.hash }), [false]);
    assert.deepEqual(await store.apiKeys.find(TENANCY, key.id), key);
  });

  onStore('a key is found by its hash alone, in one query for many', async (store) => {
    const keys = [sampleKey('a'), sampleKey('b'), sampleKey('c')];
    await add(store, ...keys);
    const hashes = [sampleKey('a').hash, sampleKey('c').hash, sampleKey('unknown').hash];
    const found = await store.apiKeys.candidates(hashes);
    assert.deepEqual(found.map(({ id }) => id).sort(), ['a', 'c']);
    assert.deepEqual(await store.apiKeys.candidates([sampleKey('unknown').hash]), []);
  });

  onStore('a replaced key keeps its last use, and its former hash is free', async (store) => {
    const key = sampleKey('a');
    await add(store, key);
    await store.transaction((transaction) => store.apiKeys.used(new Map([['a', 7]]), transaction));
    const replacing = { ...key, hash: sampleKey('z').hash, scopes: [], ended: 'now' as const, revokedAt: 9 };
    await store.transaction((transaction) => store.apiKeys.replace(replacing, transaction));
    assert.deepEqual(await store.apiKeys.candidates([key.hash]), []);
    assert.deepEqual(await store.apiKeys.candidates([replacing.hash]), [{ ...replacing, lastUsedAt: 7 }]);
    assert.deepEqual(await add(store, { ...sampleKey('b'), hash: key.hash }), [true]);
  });

  onStore('a removed key is not found, and a rollback brings it back', async (store) => {
    const key = sampleKey('a');
    await add(store, key);
    const failing = store.transaction(async (transaction) => {
      await store.apiKeys.remove('a', transaction);
      throw new Error('rolled back');
    });
    await assert.rejects(failing);
    assert.deepEqual(await store.apiKeys.candidates([key.hash]), [key]);
    await store.transaction((transaction) => store.apiKeys.remove('a', transaction));
    assert.deepEqual(
      [await store.apiKeys.candidates([key.hash]), await store.apiKeys.find(TENANCY, 'a')],
      [[], undefined],
    );
  });

  onStore('a key is found in its own tenant and mode, by callers that reach all of its workspaces', async (store) => {
    await add(store, sampleKey('a', { workspaces: ['w1', 'w2'] }), sampleKey('b', { workspaces: 'all' }));
    const found = async (tenancy: Partial<Tenancy>) => {
      const reach = { ...TENANCY, ...tenancy };
      const listed = await store.apiKeys.list(reach, FIRST_PAGE);
      const each = await Promise.all(['a', 'b'].map((id) => store.apiKeys.find(reach, id)));
      assert.deepEqual(
        listed,
        each.filter((key) => key !== undefined),
      );
      return listed.map(({ id }) => id);
    };
    assert.deepEqual(await found({}), ['a', 'b']);
    assert.deepEqual(await found({ workspaces: ['w1', 'w2', 'w3'] }), ['a']);
    assert.deepEqual(await found({ workspaces: ['w1'] }), []);
    // A workspace may be called `all`.
    assert.deepEqual(await found({ workspaces: ['all'] }), []);
    assert.deepEqual(await found({ tenant: 'other' }), []);
    assert.deepEqual(await found({ mode: 'test' }), []);
  });

  onStore('keys are listed in pages by id, by their state and their principal', async (store) => {
    await add(
      store,
      sampleKey('a'),
      sampleKey('b', { expiresAt: 100 }),
      sampleKey('c', { revokedAt: 100, ended: 'grace' }),
      sampleKey('d', { revokedAt: 500, ended: 'now' }),
      sampleKey('e', { principal: 'p_other', revokedAt: 50, ended: 'grace', expiresAt: 50 }),
    );
    const ids = async (page: Partial<ApiKeyPage>) =>
      (await store.apiKeys.list(TENANCY, { ...FIRST_PAGE, ...page })).map(({ id }) => id);
    assert.deepEqual(await ids({ limit: 2 }), ['a', 'b']);
    assert.deepEqual(await ids({ after: 'b', limit: 2 }), ['c', 'd']);
    assert.deepEqual(await ids({ state: 'active', now: 99 }), ['a', 'b', 'c']);
    assert.deepEqual(await ids({ state: 'active', now: 100 }), ['a']);
    assert.deepEqual(await ids({ state: 'expired', now: 100 }), ['b']);
    assert.deepEqual(await ids({ state: 'revoked', now: 100 }), ['c', 'd', 'e']);
    assert.deepEqual(await ids({ principal: 'p_other' }), ['e']);
    assert.deepEqual(await ids({ principal: 'p_other', state: 'active', now: 100 }), []);
  });

  onStore('the last use only moves forwards, and the first use is told once', async (store) => {
    await add(store, sampleKey('a'), sampleKey('b'));
    const use = async (times: Record<string, number>) => {
      const noted = new Map(Object.entries(times));
      const first = await store.transaction((transaction) => store.apiKeys.used(noted, transaction));
      return first.map(({ id, lastUsedAt }) => `${id} ${lastUsedAt}`);
    };
    assert.deepEqual(await use({ a: 5, unknown: 5 }), ['a 5']);
    assert.deepEqual(await use({ a: 4, b: 6 }), ['b 6']);
    assert.deepEqual(
      (await store.apiKeys.list(TENANCY, FIRST_PAGE)).map(({ lastUsedAt }) => lastUsedAt),
      [5, 6],
    );
  });

  onStore('an expiry is noted once, and again when the key expires at another time', async (store) => {
    const key = sampleKey('a', { expiresAt: 100 });
    await add(store, key, sampleKey('b'), sampleKey('c', { expiresAt: 50, revokedAt: 1, ended: 'now' }));
    const due = async (now: number) => (await store.apiKeys.unnotedExpiries(now, 10)).map(({ id }) => id);
    const note = () => store.transaction((transaction) => store.apiKeys.noteExpiry(key, transaction));
    assert.deepEqual([await due(99), await due(100)], [[], ['a']]);
    assert.deepEqual([await note(), await note(), await due(100)], [true, false, []]);
    await store.transaction((transaction) => store.apiKeys.replace({ ...key, expiresAt: 200 }, transaction));
    assert.deepEqual([await note(), await due(200)], [false, ['a']]);
  });

  onStore('keys of a configuration are told from others', async (store) => {
    await add(store, sampleKey('a'), sampleKey('b', { source: 'configuration', tenant: 'other' }));
    assert.deepEqual(
      (await store.apiKeys.configured()).map(({ id }) => id),
      ['b'],
    );
  });

  onStore(
    'draws on a quota grant its limit in all, in every order, and are undone with their transaction',
    async (store) => {
      const draw = (wanted: number, fields: Partial<QuotaDraw> = {}) =>
        store.transaction((transaction) => store.apiKeys.draw([drawOf({ wanted, ...fields })], transaction));
      const grants = await Promise.all([draw(6), draw(6), draw(6)]);
      assert.deepEqual(
        grants.flat().reduce((sum, { granted }) => sum + granted, 0),
        10,
      );
      const undone = store.transaction(async (transaction) => {
        await store.apiKeys.draw([drawOf({ wanted: 0, reservedIn: 0, used: 2, returned: 4 })], transaction);
        throw new Error('undone');
      });
      await assert.rejects(undone);
      const taken = { period: 'day', startsAt: 0, taken: 10, used: 0 };
      assert.deepEqual([...(await store.apiKeys.quotaCounts(['a', 'unknown']))], [['a', taken]]);
      assert.deepEqual(await draw(1, { reservedIn: 0, used: 2, returned: 4 }), [
        { granted: 1, count: { period: 'day', startsAt: 0, taken: 7, used: 2 } },
      ]);
    },
  );

  onStore(
    'one draw may name an account twice, and a new period or another kind of it renews the count',
    async (store) => {
      const draw = (...draws: readonly QuotaDraw[]) =>
        store.transaction((transaction) => store.apiKeys.draw(draws, transaction));
      const both = await draw(
        drawOf({ wanted: 10, limit: 12 }),
        drawOf({ account: 'b', period: 'month', endsAt: 2_678_400_000, limit: 1e12, wanted: 9e11 }),
        drawOf({ wanted: 10, limit: 11 }),
      );
      assert.deepEqual(
        both.map(({ granted }) => granted),
        [10, 9e11, 1],
      );
      const [next] = await draw(
        drawOf({ startsAt: 86_400_000, endsAt: 172_800_000, wanted: 3, reservedIn: 0, returned: 5 }),
      );
      assert.deepEqual(next, { granted: 3, count: { period: 'day', startsAt: 86_400_000, taken: 3, used: 0 } });
      // A host whose clock is behind draws on the count of the others.
      const [behind] = await draw(drawOf({ wanted: 8 }));
      assert.deepEqual([behind?.granted, behind?.count.startsAt], [7, 86_400_000]);
      assert.deepEqual(await draw(), []);
      assert.deepEqual((await store.apiKeys.quotaCounts([])).size, 0);
    },
  );

  onStore('a sweep deletes the counts of periods that ended, at most so many, and no other one', async (store) => {
    const DAY = 86_400_000;
    const MONTH = 31 * DAY;
    const draws = [
      ...['d0', 'd1', 'd2'].map((account) => drawOf({ account, wanted: 3 })),
      drawOf({ account: 'today', startsAt: DAY, endsAt: 2 * DAY, wanted: 3 }),
      drawOf({ account: 'm0', period: 'month', endsAt: MONTH, wanted: 3 }),
      drawOf({ account: 'm1', period: 'month', startsAt: MONTH, endsAt: 2 * MONTH, wanted: 3 }),
    ];
    const accounts = draws.map(({ account }) => account);
    await store.transaction((transaction) => store.apiKeys.draw(draws, transaction));
    const left = async () => [...(await store.apiKeys.quotaCounts(accounts)).keys()].sort();
    assert.deepEqual(await store.apiKeys.sweepCounts({ day: 0, month: 0 }, 10), 0);
    assert.deepEqual(await store.apiKeys.sweepCounts({ day: DAY, month: 0 }, 2), 2);
    assert.deepEqual((await left()).length, 4);
    assert.deepEqual(await store.apiKeys.sweepCounts({ day: DAY, month: MONTH }, 10), 2);
    assert.deepEqual(await left(), ['m1', 'today']);
    assert.deepEqual(await store.apiKeys.sweepCounts({ day: DAY, month: MONTH }, 10), 0);
    // A swept count begins anew.
    const [again] = await store.transaction((transaction) =>
      store.apiKeys.draw([drawOf({ account: 'd0', startsAt: DAY, endsAt: 2 * DAY, wanted: 10 })], transaction),
    );
    assert.deepEqual(again?.granted, 10);
  });

  onStore('draws and sweeps at the same time grant no more than the limit', async (store) => {
    for (let round = 0; round < 10; round++) {
      const account = `swept-${round}`;
      await store.transaction((transaction) =>
        store.apiKeys.draw([drawOf({ account, startsAt: -172_800_000, endsAt: -86_400_000, wanted: 5 })], transaction),
      );
      const draw = () =>
        store.transaction((transaction) => store.apiKeys.draw([drawOf({ account, wanted: 4 })], transaction));
      const sweep = async () => {
        await store.apiKeys.sweepCounts({ day: 0, month: 0 }, 10);
        return [];
      };
      const grants = await Promise.all([draw(), sweep(), draw(), sweep(), draw(), sweep(), draw()]);
      assert.deepEqual(
        grants.flat().reduce((sum, { granted }) => sum + granted, 0),
        10,
      );
    }
  });

  onStore('a transaction that reads a key for a change holds back others that do', async (store) => {
    await add(store, sampleKey('a'));
    const bump = () =>
      store.transaction(async (transaction) => {
        const key = await store.apiKeys.readForChange('a', transaction);
        if (key !== undefined) await store.apiKeys.replace({ ...key, name: `${key.name}+` }, transaction);
      });
    await Promise.all([bump(), bump(), bump()]);
    assert.deepEqual((await store.apiKeys.find(TENANCY, 'a'))?.name, 'Key a+++');
  });
}

const TENANCY: Tenancy = { tenant: 'acme', workspaces: 'all', mode: 'live' };
function drawOf(fields: Partial<QuotaDraw>): QuotaDraw {
  const first = { account: 'a', period: 'day' as const, startsAt: 0, endsAt: 86_400_000 };
  return { ...first, limit: 10, wanted: 0, used: 0, returned: 0, ...fields };
}

const FIRST_PAGE: ApiKeyPage = { after: '', limit: 100, now: 0 };

function add(store: Store, ...keys: readonly StoredApiKey[]): Promise<boolean[]> {
  return store.transaction(async (transaction) => {
    const added: boolean[] = [];
    for (const key of keys) added.push(await store.apiKeys.add(key, transaction));
    return added;
  });
}

function sampleKey(id: string, fields: Partial<StoredApiKey> = {}): StoredApiKey {
  return {
    id,
    // Keys of different ids differ in the characters that are looked up.
    hash: Buffer.from(id.padEnd(32, '.')).toString('hex'),
    tenant: 'acme',
    workspaces: ['w1'],
    principal: 'p_1',
    scopes: ['runs:read'],
    mode: 'live',
    name: `Key ${id}`,
    prefix: 'svc_live_1f2e3d4c',
    metadata: { team: 'billing' },
    createdAt: 1,
    source: 'operation',
    ...fields,
  };
}
