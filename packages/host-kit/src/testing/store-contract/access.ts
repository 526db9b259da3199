import type {
  AccessRecord,
  StoredAssignment,
  StoredBinding,
  StoredRole,
  StoredWithdrawal,
} from '../../ports/access.ts';
import { lookupOf } from '../../ports/access-lookup.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';

/** Tests of `AccessStore`. */
export function accessContract({ onStore, assert }: StoreContract): void {
  onStore('a record of access is found by its kind, tenant and id alone', async (store) => {
    const records = [
      role('a'),
      role('a', { tenant: 'other', scopes: [] }),
      assignment('a'),
      withdrawal('a'),
      binding('a', { scheme: 'spiffe' }),
    ];
    await put(store, ...records);
    for (const record of records) {
      assert.deepEqual(await store.access.find(record.kind, record.tenant, record.id), record);
    }
    assert.deepEqual(await store.access.find('withdrawal', 'other', 'a'), undefined);
  });

  onStore('a record replaces that of its id, and is found by its own lookup alone', async (store) => {
    const before = assignment('a');
    const after = assignment('a', { principal: 'p_2', epoch: 2 });
    await put(store, before);
    await put(store, after);
    assert.deepEqual(await store.access.lookUp([lookupOf(before)]), []);
    assert.deepEqual(await store.access.lookUp([lookupOf(after), lookupOf(after)]), [after]);
  });

  onStore('records of one lookup are found together, and many lookups in one query', async (store) => {
    const [one, two, three] = [assignment('a'), assignment('b', { role: 'other' }), withdrawal('c')];
    await put(store, one, two, three, role('d'));
    const found = await store.access.lookUp([lookupOf(one), lookupOf(three), 'unknown']);
    assert.deepEqual(found.map(({ id }) => id).sort(), ['a', 'b', 'c']);
  });

  onStore('a binding is found by its tenant, issuer and subject', async (store) => {
    const records = [binding('a'), binding('b', { subject: 'b' }), binding('c', { issuer: 'c' })];
    await put(store, ...records);
    for (const record of records) assert.deepEqual(await store.access.lookUp([lookupOf(record)]), [record]);
    assert.deepEqual(await store.access.lookUp([lookupOf(binding('a', { tenant: 'other' }))]), []);
  });

  onStore('a removed record is not found, and a rollback brings it back', async (store) => {
    const record = assignment('a');
    await put(store, record);
    const failing = store.transaction(async (transaction) => {
      await store.access.remove(record, transaction);
      assert.deepEqual(await store.access.find('assignment', 'acme', 'a', transaction), undefined);
      assert.deepEqual(await store.access.lookUp([lookupOf(record)], transaction), []);
      throw new Error('rolled back');
    });
    await assert.rejects(failing);
    assert.deepEqual(await store.access.lookUp([lookupOf(record)]), [record]);
    await store.transaction((transaction) => store.access.remove(record, transaction));
    assert.deepEqual(
      [await store.access.find('assignment', 'acme', 'a'), await store.access.lookUp([lookupOf(record)])],
      [undefined, []],
    );
  });

  onStore('records are listed in pages by id, by principal and by role', async (store) => {
    await put(
      store,
      assignment('a'),
      assignment('b', { principal: 'p_2' }),
      assignment('c', { role: 'other' }),
      assignment('d', { tenant: 'other' }),
      role('e'),
      withdrawal('f'),
      withdrawal('g', { withdraws: 'token', issuer: 'https://idp.example', name: 'p_1' }),
      binding('h'),
      binding('i', { principal: 'p_2', workspaces: 'all' }),
      binding('j', { tenant: 'other' }),
    );
    const ids = async (kind: AccessRecord['kind'], page: object = {}) =>
      (await store.access.list(kind, 'acme', { after: '', limit: 100, ...page })).map(({ id }) => id);
    assert.deepEqual(await ids('assignment', { limit: 2 }), ['a', 'b']);
    assert.deepEqual(await ids('assignment', { after: 'b', limit: 2 }), ['c']);
    assert.deepEqual(await ids('assignment', { principal: 'p_1' }), ['a', 'c']);
    assert.deepEqual(await ids('assignment', { role: 'operator', principal: 'p_1' }), ['a']);
    assert.deepEqual(await ids('role'), ['e']);
    assert.deepEqual(await ids('withdrawal', { principal: 'p_1' }), ['f']);
    assert.deepEqual([await ids('binding'), await ids('binding', { principal: 'p_2' })], [['h', 'i'], ['i']]);
  });

  onStore('records are counted by kind and tenant, with those of the transaction', async (store) => {
    await put(store, role('a'), role('b', { tenant: 'other' }), assignment('c'));
    await store.transaction(async (transaction) => {
      await store.access.put(role('d'), transaction);
      assert.deepEqual(await store.access.count('role', 'acme', transaction), 2);
    });
  });

  onStore('records of a configuration are told from others', async (store) => {
    await put(store, role('a'), role('b', { source: 'configuration', tenant: 'other' }));
    assert.deepEqual(
      (await store.access.configured()).map(({ id }) => id),
      ['b'],
    );
  });

  onStore('withdrawals that have ended are deleted, and others stay', async (store) => {
    await put(
      store,
      withdrawal('a', { until: 100 }),
      withdrawal('b', { until: 101, name: 'p_2' }),
      withdrawal('c'),
      role('d'),
    );
    assert.deepEqual([await store.access.removeEnded(99, 10), await store.access.removeEnded(100, 10)], [0, 1]);
    const left = await store.access.list('withdrawal', 'acme', { after: '', limit: 10 });
    assert.deepEqual(
      left.map(({ id }) => id),
      ['b', 'c'],
    );
    assert.deepEqual(await store.access.removeEnded(1000, 10), 1);
  });

  onStore('a transaction that holds a tenant holds back others that do', async (store) => {
    await put(store, role('a'));
    const bump = () =>
      store.transaction(async (transaction) => {
        await store.access.hold('acme', transaction);
        const found = await store.access.find('role', 'acme', 'a', transaction);
        if (found !== undefined) await store.access.put({ ...found, epoch: found.epoch + 1 }, transaction);
      });
    await Promise.all([bump(), bump(), bump(), bump()]);
    assert.deepEqual((await store.access.find('role', 'acme', 'a'))?.epoch, 5);
  });
}

function put(store: Store, ...records: readonly AccessRecord[]): Promise<void> {
  return store.transaction(async (transaction) => {
    for (const record of records) await store.access.put(record, transaction);
  });
}

const BASE = { tenant: 'acme', epoch: 1, source: 'operation', createdAt: 1, updatedAt: 1 } as const;

function role(id: string, fields: Partial<StoredRole> = {}): StoredRole {
  return { ...BASE, kind: 'role', id, scopes: ['runs:read'], ...fields };
}

function assignment(id: string, fields: Partial<StoredAssignment> = {}): StoredAssignment {
  return { ...BASE, kind: 'assignment', id, principal: 'p_1', workspace: 'w1', role: 'operator', ...fields };
}

function withdrawal(id: string, fields: Partial<StoredWithdrawal> = {}): StoredWithdrawal {
  return { ...BASE, kind: 'withdrawal', id, mode: 'live', withdraws: 'principal', name: 'p_1', ...fields };
}

function binding(id: string, fields: Partial<StoredBinding> = {}): StoredBinding {
  const granted = { principal: 'p_1', workspaces: ['w1'], scopes: ['runs:read'], mode: 'live' } as const;
  return { ...BASE, kind: 'binding', id, issuer: 'https://idp.example', subject: 'a', ...granted, ...fields };
}
