import { type AuditEntry, type AuditFact, nextEntry, type StoredEntry } from '@svc/auth/audit';
import { type AuditPosting, MOST_EXAMINED, type TreeGrowth } from '../../ports/audit.ts';
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
      const none = { from: 0, runs: [], postings: [] };
      const checkpoint = { checkpoint: 'cp_1', atSequence: 2, merkleRoot: 'a', signature: 'b' };
      await store.transaction((transaction) => store.audit.seal(checkpoint, 0, none, transaction));
      await store.transaction((transaction) =>
        // Another host made this one before it knew of the first.
        store.audit.seal({ ...checkpoint, checkpoint: 'cp_2', atSequence: 3 }, 0, none, transaction),
      );
      assert.deepEqual(await store.audit.checkpoints(1, 3), [checkpoint]);
      assert.deepEqual(
        (await store.audit.unsealed(10)).map(({ atSequence }) => atSequence),
        [3],
      );
      assert.deepEqual((await store.audit.head())?.atSequence, 3);
    },
  );

  onStore('appends of both orders at the same time make one chain', async (store) => {
    const fact = {
      action: 'run.create',
      actor: 'p',
      target: null,
      occurredAt: '2026-06-01T00:00:00.000Z',
      details: {},
    };
    await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        store.transaction((transaction) =>
          store.audit.append([fact, fact], transaction, at % 2 === 0 ? 'last' : undefined),
        ),
      ),
    );
    const found: AuditEntry[] = [];
    for await (const entry of store.audit.entries(1, 100)) found.push(entry);
    assert.deepEqual(
      found.map(({ atSequence }) => atSequence),
      Array.from({ length: 24 }, (_, at) => at + 1),
    );
    // A chain with two ends would name one entry twice.
    assert.deepEqual(new Set(found.map(({ prevHash }) => prevHash)).size, 24);
  });

  onStore(
    'the entries of the audit log are those of nextEntry, with every character that a fact may have',
    async (store) => {
      const of = (actor: string | null, target: string | null, details: AuditFact['details']): AuditFact => ({
        ...{ action: 'run.create', actor, target, occurredAt: '2026-06-01T00:00:00.123456Z', details },
      });
      const facts = [
        of('p_1', 'acme/run_1', {
          workspace: 'prod',
          mode: 'live',
          status: 201,
          ratio: 1e-7,
          big: 1e21,
          ok: true,
          none: null,
        }),
        of(`quotes"and'backslash\\`, null, {}),
        of('é\u{1f600}$1', `$$;'--`, { z: 'a ~:=/{}*,-', A: '' }),
        of(null, null, {}),
      ];
      await store.transaction(async (transaction) => {
        await store.audit.append(facts.slice(0, 1), transaction);
        await store.audit.append(facts.slice(1), transaction);
      });
      let last: StoredEntry | undefined;
      const expected = facts.map((fact) => {
        last = nextEntry(last, fact);
        return last;
      });
      const found: StoredEntry[] = [];
      for await (const entry of store.audit.entries(1, 10)) found.push(entry);
      assert.deepEqual(found, expected);
      await assert.rejects(
        store.transaction((transaction) => store.audit.append([of('half-\ud800', null, {})], transaction)),
      );
      await assert.rejects(
        store.transaction((transaction) => store.audit.append([{ ...of('p', null, {}), action: 'A' }], transaction)),
      );
      assert.deepEqual((await store.audit.head())?.atSequence, 4);
    },
  );

  onStore('the tree of the audit log grows where it ends, in its transaction', async (store) => {
    const digest = (n: number) => n.toString(16).padStart(64, '0');
    const run = (level: number, first: number, count: number) => ({
      level,
      first,
      hashes: Array.from({ length: count }, (_, at) => digest(first + at)),
    });
    assert.deepEqual(await store.audit.treeSize(), 0);
    assert.deepEqual(await store.audit.note(), undefined);
    await store.transaction((transaction) =>
      store.audit.grow({ from: 0, runs: [run(0, 0, 3)], postings: [] }, transaction),
    );
    const more = { from: 3, runs: [run(0, 3, 253), run(0, 256, 10), run(1, 0, 1)], postings: [], note: 'note of 266' };
    await assert.rejects(
      store.transaction(async (transaction) => {
        await store.audit.grow(more, transaction);
        throw new Error('no');
      }),
    );
    const checkpoint = { checkpoint: 'cp_1', atSequence: 266, merkleRoot: 'a', signature: 'b' };
    await store.transaction((transaction) => store.audit.seal(checkpoint, 0, more, transaction));
    // Another host has added both before.
    const late = { ...more, note: 'late' };
    await store.transaction((transaction) => store.audit.grow(late, transaction));
    await store.transaction((transaction) =>
      store.audit.seal({ ...checkpoint, checkpoint: 'cp_2' }, 0, late, transaction),
    );
    assert.deepEqual(await store.audit.treeSize(), 266);
    assert.deepEqual(await store.audit.note(), 'note of 266');
    assert.deepEqual(await store.audit.hashes(0, 0, 2), [digest(0), digest(1)]);
    assert.deepEqual(await store.audit.hashes(0, 1, 4), [1, 2, 3, 4].map(digest));
    assert.deepEqual(
      await store.audit.hashes(0, 254, 20),
      Array.from({ length: 12 }, (_, at) => digest(254 + at)),
    );
    assert.deepEqual(await store.audit.hashes(1, 0, 256), [digest(0)]);
    assert.deepEqual(await store.audit.hashes(2, 0, 256), []);
  });

  onStore('a list of the audit log has the entries of a tenancy, newest first, in pages', async (store) => {
    const fact = (actor: string, action: string, details: Record<string, string>) => ({
      action,
      actor,
      target: null,
      occurredAt: '2026-06-01T00:00:00.000Z',
      details,
    });
    const acme = { tenant: 'acme', mode: 'live' };
    const facts = [
      fact('p_1', 'run.create', { ...acme, workspace: 'prod' }),
      fact('p_2', 'run.create', { ...acme, workspace: 'dev' }),
      fact('p_1', 'request', acme),
      fact('p_1', 'run.create', { ...acme, tenant: 'other' }),
      fact('p_1', 'run.create', { ...acme, mode: 'test' }),
      fact('public', 'request.refused', {}),
      fact('p_1', 'run.cancel', { ...acme, workspace: 'prod' }),
    ];
    await store.transaction((transaction) => store.audit.append(facts, transaction));
    const all = { tenant: 'acme', mode: 'live', workspaces: 'all' } as const;
    const listed = async (tenancy: Parameters<typeof store.audit.list>[0], query: object = {}) => {
      const { entries, next } = await store.audit.list(tenancy, { limit: 10, ...query });
      return [entries.map(({ atSequence }) => atSequence), next];
    };
    const check = async () => {
      assert.deepEqual(await listed(all), [[7, 3, 2, 1], undefined]);
      assert.deepEqual(await listed(all, { limit: 2 }), [[7, 3], 3]);
      assert.deepEqual(await listed(all, { limit: 2, before: 3 }), [[2, 1], undefined]);
      assert.deepEqual(await listed(all, { limit: 2, before: 1 }), [[], undefined]);
      assert.deepEqual(await listed({ ...all, workspaces: ['prod'] }), [[7, 1], undefined]);
      assert.deepEqual(await listed({ ...all, workspaces: ['prod', 'dev'] }), [[7, 2, 1], undefined]);
      assert.deepEqual(await listed({ ...all, workspaces: ['elsewhere'] }), [[], undefined]);
      assert.deepEqual(await listed({ ...all, mode: 'test' }), [[5], undefined]);
      assert.deepEqual(await listed({ ...all, tenant: 'other' }), [[4], undefined]);
      assert.deepEqual(await listed({ ...all, tenant: 'third' }), [[], undefined]);
      assert.deepEqual(await listed(all, { action: 'run.create' }), [[2, 1], undefined]);
      assert.deepEqual(await listed(all, { action: 'request' }), [[3], undefined]);
      assert.deepEqual(await listed(all, { principal: 'p_1' }), [[7, 3, 1], undefined]);
      assert.deepEqual(await listed(all, { principal: 'p_1', action: 'run.create' }), [[1], undefined]);
      assert.deepEqual(await listed(all, { principal: `p_1' OR '1'='1` }), [[], undefined]);
    };
    await check();
    await store.transaction((transaction) => store.audit.grow(sealedAs(facts, 1, 5), transaction));
    await check();
    await store.transaction((transaction) => store.audit.grow(sealedAs(facts, 6, 7), transaction));
    await check();
    const { entries } = await store.audit.list(all, { limit: 1 });
    assert.deepEqual(entries[0]?.details, { ...acme, workspace: 'prod' });
  });

  onStore('a page of the audit log examines a bounded number of entries', async (store) => {
    const fact = (n: number, workspace: string) => ({
      ...{ action: 'request', actor: `p_${n}`, target: null, occurredAt: '2026-06-01T00:00:00.000Z' },
      details: { tenant: 'acme', mode: 'live', workspace },
    });
    const facts = Array.from({ length: MOST_EXAMINED + 11 }, (_, n) => fact(n, n === 0 ? 'prod' : 'dev'));
    await store.transaction((transaction) => store.audit.append(facts, transaction));
    const tenancy = { tenant: 'acme', mode: 'live', workspaces: ['prod'] } as const;
    const check = async () => {
      const first = await store.audit.list(tenancy, { limit: 5 });
      assert.deepEqual(first, { entries: [], next: 12 });
      const second = await store.audit.list(tenancy, { limit: 5, before: first.next });
      assert.deepEqual([second.entries.map(({ atSequence }) => atSequence), second.next], [[1], undefined]);
    };
    await check();
    await store.transaction((transaction) => store.audit.grow(sealedAs(facts, 1, facts.length), transaction));
    await check();
  });
}

/** The growth by the entries of some facts: their postings, and any hashes. */
function sealedAs(facts: readonly AuditFact[], first: number, last: number): TreeGrowth {
  const postings = new Map<string, AuditPosting & { sequences: number[] }>();
  const hashes: string[] = [];
  for (let sequence = first; sequence <= last; sequence++) {
    hashes.push('a'.repeat(64));
    const { action, actor, details = {} } = facts[sequence - 1] ?? {};
    const { tenant, mode } = details;
    if (typeof tenant !== 'string' || typeof mode !== 'string') continue;
    for (const [by, value] of [
      ['tenant', ''],
      ['action', action],
      ['actor', actor],
    ] as const) {
      if (typeof value !== 'string') continue;
      const name = JSON.stringify([tenant, mode, by, value]);
      const posting = postings.get(name) ?? { tenant, mode, by, value, first, sequences: [] };
      posting.sequences.push(sequence);
      postings.set(name, posting);
    }
  }
  return { from: first - 1, runs: [{ level: 0, first: first - 1, hashes }], postings: [...postings.values()] };
}
