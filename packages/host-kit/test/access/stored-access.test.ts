import type { CredentialFacts, Principal, TokenFacts } from '@svc/auth';
import { roleAuthorizer } from '@svc/auth';
import type { AuditFact } from '@svc/auth/audit';
import { type ConfiguredRoles, type StoredAccess, storedAccess, systemClock } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, test } from 'vitest';
import type { AccessServices } from '../../src/access/access-parts.ts';
import { assign, unassign } from '../../src/access/assignments.ts';
import { forgetEnded } from '../../src/access/forget-ended.ts';
import { createRole, MOST_ROLES, updateRole } from '../../src/access/roles.ts';
import { MOST_OF_HOST, MOST_WITHDRAWALS, reachedWithdrawal, restore, withdraw } from '../../src/access/withdraw.ts';
import { createKey } from '../../src/keys/manage.ts';
import { systemRandom } from '../../src/ports/random.ts';

const MANAGER = ['roles:manage', 'withdrawals:manage', 'runs:read'];
const ROLES: ConfiguredRoles = {
  tenants: ['acme', 'globex'],
  catalog: [
    { role: 'manager', scopes: MANAGER },
    { role: 'canceller', scopes: ['runs:cancel'] },
  ],
  assignments: [
    { principal: 'p_boss', tenant: 'acme', workspace: 'w1', role: 'manager' },
    { principal: 'p_boss', tenant: 'acme', workspace: 'w1', role: 'canceller' },
    { principal: 'p_wide', tenant: 'acme', workspace: 'w1', role: 'manager' },
    { principal: 'p_wide', tenant: 'acme', workspace: 'w2', role: 'manager' },
  ],
};
const save = async () => {};

function caller(id: string, fields: Partial<Principal['tenancy']> = {}, tokens: readonly TokenFacts[] = []): Principal {
  const tenancy = { tenant: 'acme', workspaces: ['w1'], mode: 'live', ...fields } as const;
  const subject = { issuer: 'urn:a', subjectId: id, tenant: tenancy.tenant, lane: 'oidc', kind: 'user' } as const;
  const base = { id, kind: 'user', credentialId: `oidc:${id}`, lane: 'oidc', binding: 'bearer' } as const;
  return { ...base, tenancy, scopes: ['*:*'], subject, tokens };
}
const boss = caller('p_boss');
const wide = caller('p_wide', { workspaces: ['w1', 'w2'] });

async function start(roles: ConfiguredRoles = ROLES, store = memoryStore()) {
  let offset = 0;
  const clock = { ...systemClock, now: () => Date.now() + offset };
  const facts: AuditFact[] = [];
  const access = storedAccess({ store, roles });
  const recordAudit = async (fact: AuditFact) => void facts.push(fact);
  await access.begin({ store, clock, log: () => {}, recordAudit });
  const services: AccessServices = { store, clock, access, recordAudit, hasWorkspace: () => true };
  const authorizer = roleAuthorizer({ catalog: roles.catalog, directory: access.directory });
  const may = async (id: string, scope: string, workspaces: readonly string[] = ['w1', 'w2']) => {
    const decision = await authorizer.authorize(caller(id, { workspaces }), scope);
    return decision.allowed ? decision.tenancy.workspaces : [];
  };
  return { store, access, services, facts, may, pass: (ms: number) => (offset += ms) };
}

const credential = (tenant: string, token: Partial<TokenFacts> = {}): CredentialFacts => ({
  tenant,
  mode: 'live',
  principals: ['u_1'],
  tokens: [{ issuer: 'https://idp.example', jti: 'j', sid: 's', subject: 'u', issuedAt: 1000, ...token }],
});
const isDenied = async (access: StoredAccess, facts: CredentialFacts) => access.isDenied(facts);

describe('a caller gives no more than it holds', () => {
  test('by a new role that takes the name of one whose assignments are left', async () => {
    const { store, services, may } = await start();
    await createRole(services, wide, { role: 'gone', scopes: ['runs:read'] }, save);
    await assign(services, wide, { principal: 'p_x', workspace: 'w2', role: 'gone' }, save);
    const left = await store.access.find('role', 'acme', 'gone');
    if (left === undefined) throw new Error('the role was not stored');
    await store.transaction((transaction) => store.access.remove(left, transaction));
    await services.access.settle(left);
    expect(await may('p_x', 'runs:read')).toEqual([]);
    const again = { role: 'gone', scopes: ['runs:read'] };
    await expect(createRole(services, boss, again, save)).rejects.toMatchObject({ code: 'forbidden' });
    await createRole(services, wide, again, save);
    expect(await may('p_x', 'runs:read')).toEqual(['w2']);
  });

  test('after it lost its role, although its request was authenticated before', async () => {
    const { services } = await start();
    await createRole(services, wide, { role: 'deputy', scopes: MANAGER }, save);
    const given = await assign(services, wide, { principal: 'p_deputy', workspace: 'w1', role: 'deputy' }, save);
    const deputy = caller('p_deputy');
    await createRole(services, deputy, { role: 'before', scopes: ['runs:read'] }, save);
    await unassign(services, wide, given.id);
    const late = createRole(services, deputy, { role: 'after', scopes: ['runs:read'] }, save);
    await expect(late).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('after it was withdrawn, although its request was authenticated before', async () => {
    const { services } = await start();
    const token = { issuer: 'https://idp.example', jti: 'stolen' };
    const thief = caller('p_boss', {}, [token]);
    await withdraw(services, wide, { withdraws: 'token', issuer: token.issuer, name: token.jti });
    const late = createRole(services, thief, { role: 'after', scopes: ['runs:read'] }, save);
    await expect(late).rejects.toMatchObject({ code: 'key_revoked' });
    await expect(restore(services, thief, 'wdr_x')).rejects.toMatchObject({ code: 'key_revoked' });
  });

  test('by two changes at the same time', async () => {
    const { services, may } = await start();
    await createRole(services, boss, { role: 'shift', scopes: ['runs:read'] }, save);
    const results = await Promise.allSettled([
      assign(services, wide, { principal: 'p_x', workspace: 'w2', role: 'shift' }, save),
      updateRole(services, boss, 'shift', { scopes: ['runs:cancel'], epoch: undefined }),
    ]);
    const accepted = results.map(({ status }) => status);
    // Whichever came first, p_x has no scope in w2 that its giver lacks there.
    expect(accepted.filter((status) => status === 'fulfilled')).toHaveLength(1);
    expect(await may('p_x', 'runs:cancel')).toEqual([]);
  });
});

describe('withdrawals', () => {
  test.each([
    ['of a token', { kind: 'token', issuer: 'https://idp.example', jti: 'j' } as const],
    ['of a session', { kind: 'session', issuer: 'https://idp.example', sid: 's' } as const],
    ['of a subject', { kind: 'subject', issuer: 'https://idp.example', subject: 'u', issuedBefore: 2000 } as const],
  ])('%s by the host hold for every tenant, and no tenant ends them', async (_title, withdrawal) => {
    const { access, services, store } = await start();
    expect(await isDenied(access, credential('acme'))).toBe(false);
    await access.deny(withdrawal);
    expect(await isDenied(access, credential('acme'))).toBe(true);
    expect(await isDenied(access, credential('globex'))).toBe(true);
    expect(await isDenied(access, credential('acme', { issuer: 'https://other.example' }))).toBe(false);
    const [record] = await store.access.list('withdrawal', '', { after: '', limit: 10 });
    await expect(reachedWithdrawal(services, boss, record?.id ?? '')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('end at their time, are never made shorter, and are deleted then', async () => {
    const { access, services, store, pass } = await start();
    const terms = { withdraws: 'token', issuer: 'https://idp.example', name: 'j' } as const;
    const until = services.clock.now() + 60_000;
    await withdraw(services, boss, { ...terms, until });
    expect((await withdraw(services, boss, { ...terms, until: until - 30_000 })).until).toBe(until);
    expect(await isDenied(access, credential('acme'))).toBe(true);
    pass(60_001);
    expect(await isDenied(access, credential('acme'))).toBe(false);
    pass(3_600_000);
    await forgetEnded(services)(new AbortController().signal);
    expect(await store.access.list('withdrawal', 'acme', { after: '', limit: 10 })).toEqual([]);
  });

  test('of a claim with spaces, slashes or half a surrogate pair find their token alone', async () => {
    const { access } = await start();
    for (const jti of ['a b', 'a/b', '\ud800', 'é'.repeat(1000)]) {
      await access.deny({ kind: 'token', issuer: 'https://idp.example', jti });
      expect(await isDenied(access, credential('acme', { jti }))).toBe(true);
      expect(await isDenied(access, credential('acme', { jti: `${jti}x` }))).toBe(false);
    }
  });

  test('of a host that has not started refuse each caller', () => {
    const access = storedAccess({ store: memoryStore() });
    expect(() => access.isDenied(credential('acme'))).toThrow('has not started');
  });
});

test('a tenant has a bounded number of roles and of withdrawals', async () => {
  const { store, services } = await start();
  const base = { tenant: 'acme', epoch: 1, source: 'operation', createdAt: 0, updatedAt: 0 } as const;
  await store.transaction(async (transaction) => {
    for (let index = ROLES.catalog.length; index < MOST_ROLES; index++)
      await store.access.put({ ...base, kind: 'role', id: `r${index}`, scopes: [] }, transaction);
    for (let index = 0; index < MOST_WITHDRAWALS; index++) {
      const named = { withdraws: 'token', issuer: 'i', name: `${index}` } as const;
      await store.access.put({ ...base, kind: 'withdrawal', id: `w${index}`, ...named }, transaction);
    }
  });
  const code = 'validation_error';
  await expect(createRole(services, boss, { role: 'x', scopes: ['runs:read'] }, save)).rejects.toMatchObject({ code });
  await expect(withdraw(services, boss, { withdraws: 'principal', name: 'p_x' })).rejects.toMatchObject({ code });
});

test('the host has a bounded number of withdrawals for every tenant, apart from those of tenants', async () => {
  const { store, access, services } = await start();
  const base = { tenant: '', epoch: 1, source: 'operation', createdAt: 0, updatedAt: 0 } as const;
  await store.transaction(async (transaction) => {
    for (let index = 0; index < MOST_OF_HOST; index++) {
      const named = { withdraws: 'session', issuer: 'i', name: `${index}` } as const;
      await store.access.put({ ...base, kind: 'withdrawal', id: `w${index}`, ...named }, transaction);
    }
  });
  const denied = access.deny({ kind: 'session', issuer: 'i', sid: 'another' });
  await expect(denied).rejects.toMatchObject({ code: 'validation_error' });
  await withdraw(services, boss, { withdraws: 'principal', name: 'p_x' });
});

test('an import that changes nothing is no event, and takes over what an operation made', async () => {
  const { store, facts, services } = await start();
  expect(facts).toHaveLength(ROLES.tenants.length * ROLES.catalog.length + ROLES.assignments.length);
  const again = await start(ROLES, store);
  expect(again.facts).toEqual([]);
  await createRole(services, boss, { role: 'own', scopes: ['runs:read'] }, save);
  const catalog = [...ROLES.catalog, { role: 'own', scopes: ['runs:cancel'] }];
  const taken = await start({ ...ROLES, catalog }, store);
  expect(taken.facts.map(({ action, target }) => `${action} ${target}`)).toEqual([
    'role.updated own',
    'role.created own',
  ]);
  expect(await store.access.find('role', 'acme', 'own')).toMatchObject({ source: 'configuration', epoch: 2 });
});

test('a withdrawn caller makes no key, although its request was authenticated before', async () => {
  const { services } = await start();
  const keys = { settle: async () => {} };
  const made = () =>
    createKey({ ...services, keys, random: systemRandom }, caller('u_1'), { name: 'k', scopes: ['runs:read'] }, save);
  await made();
  await withdraw(services, wide, { withdraws: 'principal', name: 'u_1' });
  await expect(made()).rejects.toMatchObject({ code: 'key_revoked' });
});
