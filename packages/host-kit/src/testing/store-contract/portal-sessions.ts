import type { Tenancy } from '@svc/auth';
import type { PortalSession } from '../../ports/portal-sessions.ts';
import type { Store } from '../../ports/store.ts';
import type { StoreContract } from './contract.ts';

/** Tests of `PortalSessionStore`. */
export function portalSessionsContract({ onStore, assert }: StoreContract): void {
  onStore('a portal session is found by a caller that reaches all of its workspaces', async (store) => {
    const [narrow, whole] = [sample({ sessionId: 'pts_1' }), sample({ sessionId: 'pts_2', tenancy: TENANT })];
    await insert(store, narrow, whole);
    const found = async (tenancy: Tenancy) => {
      const list = await store.portalSessions.list(tenancy, { before: undefined, limit: 10 });
      return list.map(({ sessionId }) => sessionId);
    };
    assert.deepEqual(await store.portalSessions.find(TENANT, 'pts_1'), narrow);
    assert.deepEqual(await store.portalSessions.find(TENANT, 'pts_2'), whole);
    assert.deepEqual(await found(TENANT), ['pts_2', 'pts_1']);
    assert.deepEqual(await found({ ...NARROW, workspaces: ['w1', 'w2', 'w3'] }), ['pts_1']);
    const elsewhere: Tenancy[] = [
      { ...NARROW, workspaces: ['w1'] },
      { ...TENANT, tenant: 'umbrella' },
      { ...TENANT, mode: 'test' },
    ];
    for (const tenancy of elsewhere) {
      assert.deepEqual(await found(tenancy), []);
      assert.deepEqual(await store.portalSessions.find(tenancy, 'pts_1'), undefined);
    }
  });

  onStore('portal sessions are listed in pages, newest first', async (store) => {
    await insert(store, ...['pts_1', 'pts_2', 'pts_3'].map((sessionId) => sample({ sessionId })));
    const page = async (before: string | undefined) =>
      (await store.portalSessions.list(TENANT, { before, limit: 2 })).map(({ sessionId }) => sessionId);
    assert.deepEqual(await page(undefined), ['pts_3', 'pts_2']);
    assert.deepEqual(await page('pts_2'), ['pts_1']);
  });

  onStore('a code is exchanged once, and never after a revocation', async (store) => {
    await insert(store, sample({ sessionId: 'pts_1' }), sample({ sessionId: 'pts_2' }));
    const exchange = (sessionId: string, tokenDigest: string) =>
      store.transaction((transaction) => store.portalSessions.exchange(sessionId, { tokenDigest, at: 5 }, transaction));
    const revoke = (sessionId: string, at: number) =>
      store.transaction((transaction) => store.portalSessions.revoke(sessionId, at, transaction));
    const [first, second] = await Promise.all([exchange('pts_1', 'b'.repeat(64)), exchange('pts_1', 'c'.repeat(64))]);
    assert.deepEqual([first, second].filter(Boolean).length, 1);
    const tokenDigest = (first ? 'b' : 'c').repeat(64);
    const exchanged = sample({ sessionId: 'pts_1', tokenDigest, exchangedAt: 5 });
    assert.deepEqual(await store.portalSessions.candidates('token', tokenDigest), [exchanged]);
    assert.deepEqual(await store.portalSessions.candidates('token', (first ? 'c' : 'b').repeat(64)), []);

    assert.deepEqual([await revoke('pts_2', 7), await revoke('pts_2', 8)], [true, false]);
    assert.deepEqual(await exchange('pts_2', 'd'.repeat(64)), false);
    assert.deepEqual(await store.portalSessions.find(TENANT, 'pts_2'), sample({ sessionId: 'pts_2', revokedAt: 7 }));
    assert.deepEqual([await revoke('pts_9', 7), await exchange('pts_9', 'd'.repeat(64))], [false, false]);
  });

  onStore('candidates are the sessions whose digest begins alike', async (store) => {
    const [one, two] = [`${'a'.repeat(16)}${'1'.repeat(48)}`, `${'a'.repeat(16)}${'2'.repeat(48)}`];
    await insert(
      store,
      sample({ sessionId: 'pts_1', codeDigest: one }),
      sample({ sessionId: 'pts_2', codeDigest: two }),
    );
    const candidates = await store.portalSessions.candidates('code', two);
    assert.deepEqual(candidates.map(({ codeDigest }) => codeDigest).toSorted(), [one, two]);
    assert.deepEqual(await store.portalSessions.candidates('code', 'e'.repeat(64)), []);
    assert.deepEqual(await store.portalSessions.candidates('token', one), []);
  });

  onStore('open portal sessions are counted by tenant and mode, and expired ones are deleted', async (store) => {
    await insert(
      store,
      sample({ sessionId: 'pts_1', expiresAt: 10 }),
      sample({ sessionId: 'pts_2', expiresAt: 20 }),
      sample({ sessionId: 'pts_3', expiresAt: 20, revokedAt: 3 }),
      sample({ sessionId: 'pts_4', tenancy: { ...TENANT, mode: 'test' } }),
    );
    const open = (now: number) =>
      store.transaction((transaction) => store.portalSessions.countOpen(TENANT, now, transaction));
    assert.deepEqual([await open(9), await open(10), await open(20)], [2, 1, 0]);
    assert.deepEqual([await store.portalSessions.sweep(10, 5), await store.portalSessions.sweep(11, 5)], [0, 1]);
    assert.deepEqual(await store.portalSessions.find(TENANT, 'pts_1'), undefined);
  });

  onStore('a portal session is not stored by a transaction that fails', async (store) => {
    await store
      .transaction(async (transaction) => {
        await store.portalSessions.insert(sample({}), transaction);
        throw new Error('not now');
      })
      .catch(() => {});
    assert.deepEqual(await store.portalSessions.find(TENANT, 'pts_1'), undefined);
  });
}

async function insert(store: Store, ...sessions: readonly PortalSession[]): Promise<void> {
  await store.transaction(async (transaction) => {
    for (const session of sessions) await store.portalSessions.insert(session, transaction);
  });
}

const TENANT: Tenancy = { tenant: 'acme', workspaces: 'all', mode: 'live' };
const NARROW: Tenancy = { tenant: 'acme', workspaces: ['w1', 'w2'], mode: 'live' };

function sample(fields: Partial<PortalSession>): PortalSession {
  return {
    sessionId: 'pts_1',
    tenancy: NARROW,
    eventTypes: ['run.failed'],
    actions: ['view', 'redrive'],
    origin: 'https://app.acme.example',
    theme: { scheme: 'auto', accent: 'blue', corners: 'round' },
    creator: {
      principal: 'p_1',
      credential: 'key_1',
      subject: { issuer: 'urn:svc:api-key', subjectId: 'p_1', tenant: 'acme', lane: 'api-key', kind: 'workload' },
    },
    createdAt: 1,
    expiresAt: 1000,
    codeDigest: 'a'.repeat(64),
    codeExpiresAt: 60,
    tokenDigest: undefined,
    exchangedAt: undefined,
    revokedAt: undefined,
    ...fields,
  };
}
