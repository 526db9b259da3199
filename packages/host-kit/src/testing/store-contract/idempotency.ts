import type { IdempotencyClaim, IdempotencyKey } from '../../ports/idempotency.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';

/** Tests of `IdempotencyStore`. */
export function idempotencyContract(contract: StoreContract): void {
  keys(contract);
  replies(contract);
}

function keys({ onStore, assert }: StoreContract): void {
  onStore('a key is claimed once, and returns its reply until it expires', async (store) => {
    const { begin, complete } = on(store);
    assert.deepEqual(await begin('one'), { kind: 'claimed' });
    assert.deepEqual(await begin('other'), { kind: 'in-flight', leaseUntil: 100 });
    assert.deepEqual(await begin('other', { digest: 'another' }), { kind: 'mismatch' });
    assert.deepEqual(await complete('one', 7), true);
    assert.deepEqual(await begin('other', { now: 499 }), { kind: 'completed', sealed: Uint8Array.of(7) });
    assert.deepEqual(await begin('other', { now: 499, digest: 'another' }), { kind: 'mismatch' });
    assert.deepEqual(await begin('other', { now: 500, digest: 'another' }), { kind: 'claimed' });
  });

  onStore('one of many concurrent claims gets the key', async (store) => {
    const { begin } = on(store);
    const owners = Array.from({ length: 20 }, (_, index) => `owner-${index}`);
    const kinds = (await Promise.all(owners.map((owner) => begin(owner)))).map(({ kind }) => kind);
    assert.deepEqual(kinds.filter((kind) => kind === 'claimed').length, 1);
    assert.deepEqual(kinds.filter((kind) => kind === 'in-flight').length, 19);
  });

  onStore(
    'one claimant takes over a lease that ran out, and the former owner can no longer complete it',
    async (store) => {
      const { begin, complete } = on(store);
      await begin('dead');
      const late = { now: 100, leaseUntil: 200 };
      assert.deepEqual(await begin('next', { ...late, digest: 'another' }), { kind: 'mismatch' });
      const kinds = (await Promise.all(['a', 'b', 'c'].map((owner) => begin(owner, late)))).map(({ kind }) => kind);
      assert.deepEqual([...kinds].sort(), ['claimed', 'in-flight', 'in-flight']);
      assert.deepEqual(await complete('dead', 1), false);
      await store.idempotency.release({ ...KEY, owner: 'dead' });
      assert.deepEqual(await begin('late', late), { kind: 'in-flight', leaseUntil: 200 });
      assert.deepEqual(await complete(['a', 'b', 'c'][kinds.indexOf('claimed')] ?? '', 2), true);
      assert.deepEqual(await begin('late', late), { kind: 'completed', sealed: Uint8Array.of(2) });
    },
  );

  onStore('a lease that only a clock a day ahead can have stamped keeps no one out', async (store) => {
    const { begin, complete } = on(store);
    const aheadMs = 86_400_000;
    await begin('ahead', { now: aheadMs, leaseUntil: aheadMs + 30_000, expiresAt: 2 * aheadMs });
    assert.deepEqual(await begin('next', { leaseUntil: 30_000, expiresAt: aheadMs }), { kind: 'claimed' });
    assert.deepEqual(await complete('ahead', 1), false);
    assert.deepEqual(await complete('next', 2), true);
  });

  onStore('a released key can be claimed again; a completed one cannot be released', async (store) => {
    const { begin, complete } = on(store);
    await begin('one');
    await store.idempotency.release(claim('one'));
    assert.deepEqual(await begin('two', { digest: 'another' }), { kind: 'claimed' });
    await complete('two', 3);
    await store.idempotency.release(claim('two'));
    assert.deepEqual(await begin('three', { digest: 'another' }), { kind: 'completed', sealed: Uint8Array.of(3) });
  });

  onStore('tenants, modes and operations have separate keys', async (store) => {
    const { begin } = on(store);
    await begin('one');
    const others: Partial<IdempotencyKey>[] = [
      { tenant: 'other' },
      { mode: 'test' },
      { operation: 'registerWebhook' },
      { keyHash: 'other' },
    ];
    for (const other of others) assert.deepEqual(await begin('one', {}, other), { kind: 'claimed' });
  });
}

function replies({ onStore, assert }: StoreContract): void {
  onStore('a rolled-back reply is not stored', async (store) => {
    const { begin } = on(store);
    await begin('one');
    const failing = store.transaction(async (transaction) => {
      await store.idempotency.complete(claim('one'), { sealed: Uint8Array.of(1), expiresAt: 500 }, transaction);
      throw new Error('rolled back');
    });
    await assert.rejects(failing);
    assert.deepEqual(await begin('other'), { kind: 'in-flight', leaseUntil: 100 });
  });

  onStore('sweep deletes expired keys up to its limit', async (store) => {
    const { begin, complete } = on(store);
    for (const keyHash of ['a', 'b', 'c']) await begin('one', {}, { keyHash });
    await begin('one', { expiresAt: 900 }, { keyHash: 'd' });
    await complete('one', 1, { keyHash: 'a' });
    assert.deepEqual(await store.idempotency.sweep(499, 10), 0);
    assert.deepEqual(await store.idempotency.sweep(500, 2), 2);
    assert.deepEqual(await store.idempotency.sweep(500, 2), 1);
    assert.deepEqual(await store.idempotency.sweep(500, 2), 0);
    assert.deepEqual(await begin('two', {}, { keyHash: 'd' }), { kind: 'in-flight', leaseUntil: 100 });
  });

  onStore('page lists the replies of all tenants, and reseal replaces those that have not changed', async (store) => {
    const { begin, complete } = on(store);
    for (const keyHash of ['a', 'b', 'c', 'pending']) await begin('one', {}, { keyHash });
    for (const keyHash of ['a', 'b', 'c']) await complete('one', 1, { keyHash });
    const first = await store.idempotency.page({ after: undefined, limit: 2 });
    const rest = await store.idempotency.page({ after: first.at(-1), limit: 2 });
    assert.deepEqual(
      [...first, ...rest],
      ['a', 'b', 'c'].map((keyHash) => ({ ...KEY, keyHash, sealed: Uint8Array.of(1) })),
    );
    const reseal = (sealed: number, anew: number) =>
      store.transaction((transaction) => {
        const reply = { ...KEY, keyHash: 'a', sealed: Uint8Array.of(sealed) };
        return store.idempotency.reseal(reply, Uint8Array.of(anew), transaction);
      });
    await reseal(1, 2);
    await reseal(1, 3);
    assert.deepEqual(await begin('other', {}, { keyHash: 'a' }), { kind: 'completed', sealed: Uint8Array.of(2) });
  });
}

const KEY: IdempotencyKey = { tenant: 'acme', mode: 'live', operation: 'createRun', keyHash: 'hash' };

function claim(owner: string, key: Partial<IdempotencyKey> = {}): IdempotencyClaim {
  return { ...KEY, ...key, owner };
}

/** Returns `begin` and `complete` with defaults: they begin at 0 with a lease until 100, and expire at 500. */
function on(store: Store) {
  return {
    begin: (
      owner: string,
      options: { digest?: string; now?: number; leaseUntil?: number; expiresAt?: number } = {},
      key: Partial<IdempotencyKey> = {},
    ) =>
      store.idempotency.begin(claim(owner, key), { digest: 'd', now: 0, leaseUntil: 100, expiresAt: 500, ...options }),
    complete: (owner: string, sealed: number, key: Partial<IdempotencyKey> = {}) =>
      store.transaction((transaction) => {
        const reply = { sealed: Uint8Array.of(sealed), expiresAt: 500 };
        return store.idempotency.complete(claim(owner, key), reply, transaction);
      }),
  };
}
