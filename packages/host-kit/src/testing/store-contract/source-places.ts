import type { Store } from '../../ports/store.ts';
import type { TriggerRules } from '../../ports/triggers.ts';
import type { StoreContract } from './contract.ts';
import { TENANCY } from './samples.ts';
import { sampleTrigger, withTriggers } from './triggers.ts';

/** Tests of `SourcePlaceStore`. */
export function sourcePlacesContract({ onStore, assert }: StoreContract): void {
  onStore('active triggers of a source that hosts read are listed in pages', async (store) => {
    const stored = [
      sampleTrigger({ triggerId: 'trg_3' }, OF_STREAM),
      sampleTrigger({ triggerId: 'trg_1' }, OF_STREAM),
      sampleTrigger({ triggerId: 'trg_2', tenant: 'other' }, OF_STREAM),
      sampleTrigger({ triggerId: 'trg_4', state: 'paused' }, OF_STREAM),
      sampleTrigger({ triggerId: 'trg_5' }),
    ];
    await withTriggers(store, ...stored);
    const ids = async (after: string, limit: number) =>
      (await store.triggers.activeReadings({ source: 'stream', after, limit })).map(({ triggerId }) => triggerId);
    assert.deepEqual(await ids('', 9), ['trg_1', 'trg_2', 'trg_3']);
    assert.deepEqual(await ids('trg_1', 1), ['trg_2']);
    const page = { source: 'stream', after: 'trg_2', limit: 9 } as const;
    assert.deepEqual(await store.triggers.activeReadings(page), [stored[0]]);
    await store.transaction(async (transaction) => {
      await store.triggers.change('trg_4', (trigger) => ({ ...trigger, state: 'active' }), transaction);
      await store.triggers.remove({ ...TENANCY, workspaces: 'all' }, 'trg_3', transaction);
    });
    assert.deepEqual(await ids('', 9), ['trg_1', 'trg_2', 'trg_4']);
  });

  onStore('of concurrent claims of a place, one succeeds, and others do when its lease has ended', async (store) => {
    await withTriggers(store, sampleTrigger({}, OF_STREAM));
    const claim = (reader: string, now: number) =>
      store.triggers.claimPlace({ triggerId: 'trg_1', reader, now, leaseUntil: now + 100 });
    assert.deepEqual(await store.triggers.places(['trg_1']), []);
    const claimed = await Promise.all(['a', 'b', 'c'].map((reader) => claim(reader, 1000)));
    const [place, ...others] = claimed.filter((found) => found !== undefined);
    assert.deepEqual(others, []);
    const reading = { state: 'connecting', changedAt: 1000, failures: 0 } as const;
    assert.deepEqual(place, { triggerId: 'trg_1', reader: place?.reader, leaseUntil: 1100, reading });
    assert.deepEqual(await claim('other', 1099), undefined);
    assert.deepEqual(await claim(place?.reader ?? '', 1050), { ...place, leaseUntil: 1150 });
    assert.deepEqual(await claim('other', 1149), undefined);
    assert.deepEqual(await claim('other', 1150), { ...place, reader: 'other', leaseUntil: 1250 });
    assert.deepEqual((await claim('late', 1250 - 100 - 60_001))?.reader, 'late');
  });

  onStore('the reader of a place stores its cursor, and no other one does', async (store) => {
    await withTriggers(store, sampleTrigger({}, OF_STREAM));
    const { triggers } = store;
    const claim = { triggerId: 'trg_1', reader: 'a', now: 1000, leaseUntil: 2000 };
    await triggers.claimPlace(claim);
    const save = (reader: string, cursor: string | undefined) =>
      store.transaction((transaction) => {
        const place = { triggerId: 'trg_1', reader, reading: READING, ...(cursor !== undefined && { cursor }) };
        return triggers.savePlace(place, transaction);
      });
    assert.deepEqual(await save('a', 'é-1'), true);
    assert.deepEqual(await save('b', '2'), false);
    const saved = { triggerId: 'trg_1', reader: 'a', leaseUntil: 2000, cursor: 'é-1', reading: READING };
    assert.deepEqual(await triggers.places(['trg_1', 'trg_2']), [saved]);
    await triggers.releasePlace({ triggerId: 'trg_1', reader: 'b' });
    assert.deepEqual(await triggers.claimPlace({ ...claim, reader: 'b' }), undefined);
    await triggers.releasePlace({ triggerId: 'trg_1', reader: 'a' });
    assert.deepEqual(await triggers.claimPlace({ ...claim, reader: 'b' }), { ...saved, reader: 'b' });
    assert.deepEqual(await save('a', '3'), false);
    assert.deepEqual(await save('b', undefined), true);
    const [{ cursor } = { cursor: 'none' }] = await triggers.places(['trg_1']);
    assert.deepEqual(cursor, undefined);
  });

  onStore(
    'a cursor of a transaction that is undone is not stored, and a removed trigger has no place',
    async (store) => {
      await withTriggers(store, sampleTrigger({}, OF_STREAM));
      await store.triggers.claimPlace({ triggerId: 'trg_1', reader: 'a', now: 0, leaseUntil: 100 });
      const place = { triggerId: 'trg_1', reader: 'a', cursor: '1', reading: READING };
      await assert.rejects(
        store.transaction(async (transaction) => {
          await store.triggers.savePlace(place, transaction);
          throw new Error('undone');
        }),
      );
      assert.deepEqual(await cursorsOf(store), [undefined]);
      await store.transaction((transaction) => store.triggers.remove(TENANCY, 'trg_1', transaction));
      await store.triggers.sweep(0, 10);
      assert.deepEqual(await cursorsOf(store), []);
    },
  );
}

async function cursorsOf(store: Store): Promise<readonly (string | undefined)[]> {
  return (await store.triggers.places(['trg_1'])).map(({ cursor }) => cursor);
}

const OF_STREAM: TriggerRules = { source: 'stream', stream: { url: 'https://events.example/', format: 'sse' } };

const READING = { state: 'waiting', changedAt: 7, failures: 2, problem: 'stream: é' } as const;
