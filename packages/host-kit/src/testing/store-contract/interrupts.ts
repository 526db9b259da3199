import type { Interrupt } from '../../ports/interrupts.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';

function sampleInterrupt(fields: Partial<Interrupt>): Interrupt {
  return {
    interruptId: 'int_1',
    runId: 'run_1',
    nodeId: 'gate',
    key: 'k',
    kind: 'approval',
    data: { title: 'é\u0000"', actions: ['accept'] },
    status: 'pending',
    requestedAt: 1,
    votes: [],
    ...fields,
  };
}

async function insert(store: Store, ...interrupts: readonly Interrupt[]): Promise<void> {
  await store.transaction(async (transaction) => {
    for (const interrupt of interrupts) await store.interrupts.insert(interrupt, transaction);
  });
}

/** Tests of `InterruptStore`. */
export function interruptsContract({ onStore, assert }: StoreContract): void {
  onStore('an interrupt is read back unchanged by its id, its key and its node', async (store) => {
    const whole = sampleInterrupt({
      ...{ resumeSchema: { type: 'object' }, timeoutMs: 5, dueAt: 6 },
      escalation: [{ afterMs: 3, approversList: ['p_2'], approverGroupRefs: ['g'] }],
    });
    await insert(store, whole, sampleInterrupt({ interruptId: 'int_0', key: 'other' }));
    const found = await store.transaction(async (transaction) => [
      await store.interrupts.byId('run_1', 'int_1', transaction),
      await store.interrupts.byKey('run_1', 'gate', 'k', transaction),
      await store.interrupts.ofNode('run_1', 'gate', transaction),
      await store.interrupts.byId('run_2', 'int_1', transaction),
      await store.interrupts.byKey('run_1', 'gate', 'none', transaction),
      await store.interrupts.ofNode('run_1', 'other', transaction),
    ]);
    assert.deepEqual(found, [whole, whole, whole, undefined, undefined, undefined]);
  });

  onStore('the next transaction reads an answered interrupt, and no longer lists it as pending', async (store) => {
    const asked = sampleInterrupt({ dueAt: 6 });
    const { dueAt: _, ...kept } = asked;
    const answered: Interrupt = {
      ...kept,
      status: 'resolved',
      votes: [{ principal: 'p_1', action: 'accept' }],
      resolution: { resumeValue: { action: 'accept' }, at: 3, decision: 'granted', by: { principal: 'p_1' } },
    };
    await insert(store, asked);
    const first = store.transaction(async (transaction) => {
      await store.interrupts.update(answered, transaction);
    });
    const second = store.transaction((transaction) => store.interrupts.byId('run_1', 'int_1', transaction));
    await first;
    const later = await store.transaction((transaction) => store.interrupts.byId('run_1', 'int_1', transaction));
    await second;
    assert.deepEqual(later, answered);
    assert.deepEqual(await store.interrupts.due(100, 10), []);
    const pending = await store.transaction((transaction) => store.interrupts.pendingOf('run_1', transaction));
    assert.deepEqual(pending, []);
  });

  onStore('due interrupts are listed by their due time', async (store) => {
    await insert(
      store,
      sampleInterrupt({ interruptId: 'int_1', dueAt: 30 }),
      sampleInterrupt({ interruptId: 'int_2', key: '2', dueAt: 10 }),
      sampleInterrupt({ interruptId: 'int_3', key: '3', dueAt: 20 }),
      sampleInterrupt({ interruptId: 'int_4', key: '4' }),
      sampleInterrupt({ interruptId: 'int_5', key: '5', runId: 'run_2', dueAt: 5, status: 'closed' }),
    );
    const ids = (found: readonly Interrupt[]) => found.map(({ interruptId }) => interruptId);
    assert.deepEqual(ids(await store.interrupts.due(25, 10)), ['int_2', 'int_3']);
    assert.deepEqual(ids(await store.interrupts.due(100, 1)), ['int_2']);
    const pending = await store.transaction((transaction) => store.interrupts.pendingOf('run_1', transaction));
    assert.deepEqual(ids(pending).sort(), ['int_1', 'int_2', 'int_3', 'int_4']);
  });

  onStore('due interrupts are listed in pages, each once, also those of the same time', async (store) => {
    const due = [
      sampleInterrupt({ interruptId: 'int_2', dueAt: -5 }),
      sampleInterrupt({ interruptId: 'int_9', key: '9', dueAt: 10 }),
      sampleInterrupt({ interruptId: 'int_1', runId: 'run_2', dueAt: 10 }),
      sampleInterrupt({ interruptId: 'int_2', runId: 'run_2', key: '2', dueAt: 10 }),
      sampleInterrupt({ interruptId: 'int_0', runId: 'run_2', key: '0', dueAt: 20 }),
    ];
    await insert(store, ...due.toReversed(), sampleInterrupt({ interruptId: 'int_8', key: '8', dueAt: 26 }));
    for (const limit of [1, 2, 3]) {
      const listed: Interrupt[] = [];
      for (let last: Interrupt | undefined, page: readonly Interrupt[] = due; page.length > 0; last = page.at(-1)) {
        page = await store.interrupts.due(25, limit, last && { ...last, dueAt: last.dueAt ?? 0 });
        listed.push(...page);
      }
      assert.deepEqual(listed, due);
    }
  });

  onStore('a rolled-back interrupt is not found', async (store) => {
    const failing = store.transaction(async (transaction) => {
      await store.interrupts.insert(sampleInterrupt({}), transaction);
      throw new Error('no');
    });
    await assert.rejects(failing);
    assert.deepEqual(
      await store.transaction((transaction) => store.interrupts.byId('run_1', 'int_1', transaction)),
      undefined,
    );
  });
}
