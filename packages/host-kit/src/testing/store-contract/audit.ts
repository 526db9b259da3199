import type { StoreContract } from './contract.ts';

/** Tests of `AuditStore`. */
export function auditContract({ onStore, assert }: StoreContract): void {
  onStore(
    'the audit log appends facts in order, in their transaction, and takes each checkpoint once',
    async (store) => {
      const fact = (n: number) => ({
        action: 'run.create',
        actor: `p_${n}`,
        target: null,
        occurredAt: '2026-06-01T00:00:00.000Z',
        details: { n },
      });
      await store.transaction((transaction) => store.audit.append([fact(1), fact(2)], transaction));
      await assert.rejects(
        store.transaction(async (transaction) => {
          await store.audit.append([fact(3)], transaction);
          throw new Error('no');
        }),
      );
      await store.transaction((transaction) => store.audit.append([fact(4)], transaction));
      const found: unknown[] = [];
      for await (const { atSequence, actor } of store.audit.entries(1, 10)) found.push([atSequence, actor]);
      assert.deepEqual(found, [
        [1, 'p_1'],
        [2, 'p_2'],
        [3, 'p_4'],
      ]);
      assert.deepEqual((await store.audit.unsealed(2)).length, 2);
      const checkpoint = { checkpoint: 'cp_1', atSequence: 2, merkleRoot: 'a', signature: 'b' };
      await store.transaction((transaction) => store.audit.seal(checkpoint, 0, transaction));
      await store.transaction((transaction) =>
        // Another host made this one before it knew of the first.
        store.audit.seal({ ...checkpoint, checkpoint: 'cp_2', atSequence: 3 }, 0, transaction),
      );
      assert.deepEqual(await store.audit.checkpoints(1, 3), [checkpoint]);
      assert.deepEqual(
        (await store.audit.unsealed(10)).map(({ atSequence }) => atSequence),
        [3],
      );
      assert.deepEqual((await store.audit.head())?.atSequence, 3);
    },
  );
}
