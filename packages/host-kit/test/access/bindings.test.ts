import { AuthError, type Principal } from '@svc/auth';
import type { AuditFact } from '@svc/auth/audit';
import type { PresentedIdentity } from '@svc/auth/workload';
import {
  type ConfiguredRoles,
  type ConfiguredWorkload,
  type ConfiguredWorkloads,
  storedAccess,
  systemClock,
} from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, test } from 'vitest';
import type { AccessServices } from '../../src/access/access-parts.ts';
import { assign } from '../../src/access/assignments.ts';
import {
  bindWorkload,
  listBindings,
  MOST_BINDINGS,
  type NewBinding,
  reachedBinding,
  unbindWorkload,
  updateBinding,
} from '../../src/access/bindings.ts';
import { principalOfWorkload } from '../../src/access/bound-workload.ts';
import { createRole } from '../../src/access/roles.ts';
import type { StoredApiKey } from '../../src/ports/api-keys.ts';

const ISSUER = 'https://token.example';
const WIDE = ['roles:manage', 'runs:read', 'runs:create'];
const ROLES: ConfiguredRoles = {
  tenants: ['acme', 'globex'],
  catalog: [
    { role: 'manager', scopes: WIDE },
    { role: 'canceller', scopes: ['runs:cancel'] },
    { role: 'reader', scopes: ['runs:read'] },
  ],
  assignments: [
    { principal: 'p_boss', tenant: 'acme', workspace: 'w1', role: 'manager' },
    { principal: 'p_boss', tenant: 'acme', workspace: 'w1', role: 'canceller' },
    { principal: 'p_wide', tenant: 'acme', workspace: 'w1', role: 'manager' },
    { principal: 'p_wide', tenant: 'acme', workspace: 'w2', role: 'manager' },
    { principal: 'p_reader', tenant: 'acme', workspace: 'w1', role: 'reader' },
    { principal: 'p_strong', tenant: 'acme', workspace: 'w1', role: 'canceller' },
  ],
};
const GRANTS = [
  { tenant: 'acme', issuer: ISSUER, subjectPrefix: 'repo:acme/' },
  { tenant: 'globex', issuer: ISSUER, subjectPrefix: 'repo:globex/' },
];
const save = async () => {};

function caller(id: string, fields: Partial<Principal> = {}, tenancy: Partial<Principal['tenancy']> = {}): Principal {
  const reach = { tenant: 'acme', workspaces: ['w1'], mode: 'live', ...tenancy } as const;
  const subject = { issuer: 'urn:a', subjectId: id, tenant: reach.tenant, lane: 'oidc', kind: 'user' } as const;
  const base = { id, kind: 'user', credentialId: `oidc:${id}`, lane: 'oidc', binding: 'bearer' } as const;
  return { ...base, tenancy: reach, scopes: ['*:*'], subject, ...fields };
}
const boss = caller('p_boss');
const wide = caller('p_wide', {}, { workspaces: ['w1', 'w2'] });

async function start(given: {
  roles?: ConfiguredRoles;
  workloads?: ConfiguredWorkloads;
  store?: AccessServices['store'];
}) {
  const { roles, workloads = { grants: GRANTS, bindings: [] }, store = memoryStore() } = given;
  const facts: AuditFact[] = [];
  const access = storedAccess({ store, workloads, ...(roles !== undefined && { roles }) });
  const recordAudit = async (fact: AuditFact) => void facts.push(fact);
  await access.begin({ store, clock: systemClock, log: () => {}, recordAudit });
  const hasWorkspace = (_tenant: string, workspace: string) => /^w\d$/.test(workspace);
  const services: AccessServices = { store, clock: systemClock, access, recordAudit, hasWorkspace };
  const resolve = async (subject: string, issuer = ISSUER) =>
    access.resolveWorkload({ scheme: 'cloud-subject', issuer, subject });
  const bind = (by: Principal, asked: Partial<NewBinding> = {}) =>
    bindWorkload(
      services,
      by,
      { issuer: ISSUER, subject: 'repo:acme/a', scopes: ['runs:read'], mode: 'live', ...asked },
      save,
    );
  return { store, access, services, facts, resolve, bind };
}

const FORBIDDEN = { code: 'forbidden' };
const INVALID = { code: 'validation_error' };

describe('a bound workload', () => {
  test('is resolved from its binding until that is removed', async () => {
    const { bind, resolve, services, facts } = await start({ roles: ROLES });
    expect(await resolve('repo:acme/a')).toBeUndefined();
    const made = await bind(boss);
    expect(await resolve('repo:acme/a')).toMatchObject({
      tenant: 'acme',
      principal: principalOfWorkload('acme', made),
      workspaces: ['w1'],
      scopes: ['runs:read'],
      mode: 'live',
    });
    expect(await resolve('repo:acme/a', 'https://other.example')).toBeUndefined();
    await updateBinding(services, boss, made.id, { scopes: ['runs:create'] });
    expect(await resolve('repo:acme/a')).toMatchObject({ scopes: ['runs:create'] });
    await unbindWorkload(services, boss, made.id);
    expect(await resolve('repo:acme/a')).toBeUndefined();
    expect(facts.map(({ action }) => action).filter((action) => action.startsWith('binding'))).toEqual([
      'binding.created',
      'binding.updated',
      'binding.removed',
    ]);
  });

  test('is refused when the configuration grants its identity no more, or grants it to another tenant', async () => {
    const { bind, store } = await start({ roles: ROLES });
    const { id } = await bind(boss);
    const none = await start({ roles: ROLES, store, workloads: { grants: [], bindings: [] } });
    expect(await none.resolve('repo:acme/a')).toBeUndefined();
    await expect(none.bind(boss)).rejects.toMatchObject(FORBIDDEN);
    await expect(updateBinding(none.services, boss, id, { scopes: WIDE })).rejects.toMatchObject(FORBIDDEN);
    const grants = [{ tenant: 'globex', issuer: ISSUER }];
    const moved = await start({ roles: ROLES, store, workloads: { grants, bindings: [] } });
    expect(await moved.resolve('repo:acme/a')).toBeUndefined();
    expect((await reachedBinding(moved.services, boss, id)).id).toBe(id);
  });

  test('changes nothing after its binding was removed, although its request was authenticated before', async () => {
    const { bind, services } = await start({});
    const tenantWide = caller('p_admin', {}, { workspaces: 'all' });
    const made = await bind(tenantWide, { scopes: WIDE, workspaces: 'all' });
    const identity = { scheme: 'cloud-subject', subject: 'repo:acme/a', issuer: ISSUER } as const;
    const actor = { principalId: made.principal, kind: 'workload' } as const;
    const facts = {
      actor,
      onBehalfOf: undefined,
      depth: 0,
      issuerClass: 'cloud',
      audience: 'match',
      identity,
    } as const;
    const robot = caller(made.principal, { workload: facts, lane: 'workload' }, { workspaces: 'all' });
    await bind(robot, { subject: 'repo:acme/b' });
    await unbindWorkload(services, tenantWide, made.id);
    await expect(bind(robot, { subject: 'repo:acme/c' })).rejects.toMatchObject({ code: 'key_revoked' });
    // Bound to another principal meanwhile, it is another caller.
    await bind(caller('p_else', {}, { workspaces: 'all' }), { principal: 'p_else', scopes: WIDE, workspaces: 'all' });
    await expect(bind(robot, { subject: 'repo:acme/c' })).rejects.toMatchObject({ code: 'key_revoked' });
  });

  test('acts for no delegator whose binding was removed meanwhile', async () => {
    const sts = 'https://sts.example';
    const grants = [...GRANTS, { tenant: 'acme', issuer: sts }];
    const { bind, services } = await start({ workloads: { grants, bindings: [] } });
    const admin = caller('p_admin', {}, { workspaces: 'all' });
    const agent = await bind(admin, { scopes: WIDE, workspaces: 'all' });
    const user = await bind(admin, { issuer: sts, subject: 'u_1', scopes: WIDE, workspaces: 'all' });
    const identity = { scheme: 'cloud-subject', subject: agent.subject, issuer: ISSUER } as const;
    const delegated = caller(
      user.principal,
      {
        lane: 'workload',
        tokens: [
          { issuer: ISSUER, subject: agent.subject },
          { issuer: sts, subject: 'u_1' },
        ],
        workload: {
          actor: { principalId: agent.principal, kind: 'workload' },
          onBehalfOf: { principalId: user.principal, kind: 'workload' },
          ...{ depth: 1, issuerClass: 'cloud', audience: 'match', identity },
        },
      },
      { workspaces: 'all' },
    );
    await bind(delegated, { subject: 'repo:acme/b' });
    await unbindWorkload(services, admin, user.id);
    await expect(bind(delegated, { subject: 'repo:acme/c' })).rejects.toMatchObject({ code: 'key_revoked' });
  });
});

describe('a caller binds no more than it holds', () => {
  test.each<[string, Principal, Partial<NewBinding>]>([
    ['an issuer that is not granted', boss, { issuer: 'https://other.example' }],
    ['a subject of another tenant', boss, { subject: 'repo:globex/a' }],
    ['a subject beside the prefix', boss, { subject: 'repo:acme' }],
    ['a scope that its credential lacks', caller('p_boss', { scopes: ['roles:manage'] }), {}],
    ['a scope that no role of its own has', boss, { scopes: ['webhooks:manage'] }],
    ['scopes of two of its roles', boss, { scopes: ['runs:read', 'runs:cancel'] }],
    ['wildcards', boss, { scopes: ['runs:*'] }],
    ['a workspace beyond its reach', boss, { workspaces: ['w2'] }],
    ['a workspace that is not there', boss, { workspaces: ['nowhere'] }],
    ['all workspaces', boss, { workspaces: 'all' }],
    ['another principal without keys:assign', caller('p_boss', { scopes: WIDE }), { principal: 'p_wide' }],
    ['a principal with a role that it could not give', wide, { principal: 'p_strong', workspaces: ['w1'] }],
    ['with a credential for tests', caller('p_boss', {}, { mode: 'test' }), {}],
  ])('%s', async (_title, by, asked) => {
    const { bind, store } = await start({ roles: ROLES });
    await expect(bind(by, asked)).rejects.toMatchObject(FORBIDDEN);
    expect(await store.access.list('binding', 'acme', { after: '', limit: 10 })).toEqual([]);
  });

  test('also when it changes a binding', async () => {
    const { bind, services } = await start({ roles: ROLES });
    const { id } = await bind(boss);
    const change = (by: Principal, fields: object) => updateBinding(services, by, id, fields);
    await expect(change(boss, { scopes: ['runs:read', 'runs:cancel'] })).rejects.toMatchObject(FORBIDDEN);
    await expect(change(boss, { workspaces: ['w1', 'w2'] })).rejects.toMatchObject(FORBIDDEN);
    const made = await change(wide, { workspaces: ['w1', 'w2'] });
    expect([made.workspaces, made.epoch]).toEqual([['w1', 'w2'], 2]);
    // It reaches a part of the workspaces alone.
    await expect(change(boss, { scopes: ['runs:read'] })).rejects.toMatchObject({ code: 'not_found' });
    await expect(change(wide, { scopes: ['runs:read'], epoch: 1 })).rejects.toMatchObject(INVALID);
    // A caller that gives nothing needs no role beside its reach.
    expect((await change(caller('p_none', {}, { workspaces: ['w1', 'w2'] }), { workspaces: ['w2'] })).epoch).toBe(3);
  });

  test('nor what is left to the principal of a removed binding', async () => {
    const { bind, services, resolve } = await start({ roles: ROLES });
    const { id, principal } = await bind(wide, { workspaces: ['w1'] });
    await createRole(services, wide, { role: 'robot', scopes: ['runs:create'] }, save);
    await assign(services, wide, { principal, workspace: 'w1', role: 'robot' }, save);
    await unbindWorkload(services, wide, id);
    await expect(bind(caller('p_reader'))).rejects.toMatchObject(FORBIDDEN);
    expect(await resolve('repo:acme/a')).toBeUndefined();
    expect((await bind(wide, { workspaces: ['w1'] })).principal).toBe(principal);
  });

  test.each<[string, Partial<StoredApiKey>]>([
    ['addresses', { allowedAddresses: ['192.0.2.0/24'] }],
    ['a rate', { rateLimit: { limit: 10, windowSeconds: 60 } }],
    ['a quota', { quota: { limit: 10, period: 'day' } }],
  ])('with a key that is confined to %s', async (_title, restriction) => {
    const { bind, store } = await start({});
    const key: StoredApiKey = {
      ...{
        id: 'key_1',
        hash: 'a'.repeat(64),
        tenant: 'acme',
        workspaces: ['w1'],
        principal: 'p_boss',
        scopes: ['*:*'],
      },
      ...{ mode: 'live', name: 'n', prefix: 'svc_live_', metadata: {}, createdAt: 0, source: 'operation' },
      ...restriction,
    };
    await store.transaction(async (transaction) => void (await store.apiKeys.add(key, transaction)));
    const limited = caller('p_boss', { lane: 'api-key', credentialId: 'key_1' });
    await expect(bind(limited)).rejects.toMatchObject(FORBIDDEN);
  });

  test('to another principal, without the sign-in that the scope for it needs', async () => {
    const { services } = await start({});
    const asked: string[] = [];
    const requireSignIn = (scope: string) => {
      asked.push(scope);
      throw new AuthError('unauthenticated', 'Sign in again.', undefined);
    };
    const given = { ...{ issuer: ISSUER, subject: 'repo:acme/b', mode: 'live' as const }, scopes: ['runs:read'] };
    const other = { ...given, principal: 'p_x' };
    await expect(bindWorkload({ ...services, requireSignIn }, boss, other, save)).rejects.toThrow('Sign in again.');
    expect(asked).toEqual(['keys:assign']);
    expect((await bindWorkload({ ...services, requireSignIn }, boss, given, save)).principal).toMatch(/^wkl_/);
  });

  test('without roles, its credential alone decides', async () => {
    const { bind } = await start({});
    const all = caller('p_any', { scopes: WIDE }, { workspaces: 'all' });
    expect((await bind(all)).workspaces).toBe('all');
    await expect(bind(boss, { subject: 'repo:acme/b', workspaces: 'all' })).rejects.toMatchObject(FORBIDDEN);
    await expect(bind(all, { subject: 'repo:acme/b', scopes: ['byok:manage'] })).rejects.toMatchObject(FORBIDDEN);
    await expect(bind(all, { subject: 'repo:acme/b', principal: 'p_x' })).rejects.toMatchObject(FORBIDDEN);
    const assigner = caller('p_any', { scopes: [...WIDE, 'keys:assign'] }, { workspaces: 'all' });
    expect((await bind(assigner, { subject: 'repo:acme/b', principal: 'p_x' })).principal).toBe('p_x');
  });
});

test('an identity is bound once: the same request is the same record, and another one is refused', async () => {
  const { bind, services } = await start({ roles: ROLES });
  const [first, again] = await Promise.all([bind(boss), bind(boss)]);
  expect(again).toEqual(first);
  await expect(bind(boss, { scopes: ['runs:create'] })).rejects.toMatchObject(INVALID);
  await expect(bind(boss, { mode: 'test' })).rejects.toMatchObject(INVALID);
  expect(await listBindings(services, boss, { after: '', limit: 10 })).toEqual([first]);
});

test.each<[string, Partial<NewBinding>]>([
  ['a token for its subject', { subject: 'repo:acme/eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJqb2IifQ.c2lnbmF0dXJl' }],
  ['a subject of another trust domain', { issuer: 'spiffe://acme.example', subject: 'spiffe://evil.example/a' }],
  ['the trust domain itself', { issuer: 'spiffe://acme.example', subject: 'spiffe://acme.example' }],
])('a binding is invalid: %s', async (_title, asked) => {
  const grants = [...GRANTS, { tenant: 'acme', issuer: 'spiffe://acme.example' }];
  const { bind } = await start({ roles: ROLES, workloads: { grants, bindings: [] } });
  await expect(bind(boss, asked)).rejects.toMatchObject(INVALID);
});

test('a tenant has a bounded number of bindings', async () => {
  const { bind, store } = await start({});
  const base = { kind: 'binding', tenant: 'acme', epoch: 1, source: 'operation', createdAt: 0, updatedAt: 0 } as const;
  const granted = { issuer: ISSUER, principal: 'p', workspaces: 'all', scopes: [], mode: 'live' } as const;
  await store.transaction(async (transaction) => {
    for (let index = 0; index < MOST_BINDINGS; index++)
      await store.access.put({ ...base, ...granted, id: `b${index}`, subject: `repo:acme/${index}` }, transaction);
  });
  await expect(bind(boss)).rejects.toMatchObject(INVALID);
});

describe('bindings of a configuration', () => {
  const workload: ConfiguredWorkload = {
    ...{ issuer: 'https://ci.example', subject: 'job', principal: 'p_job', tenant: 'globex' },
    ...{ workspaces: 'all', scopes: ['runs:read'], mode: 'test' },
  };
  const identity: PresentedIdentity = { scheme: 'cloud-subject', issuer: workload.issuer, subject: 'job' };

  test('need no grant, are imported once, and are removed with the configuration', async () => {
    const { store, access, facts, services } = await start({ workloads: { grants: [], bindings: [workload] } });
    expect(await access.resolveWorkload(identity)).toMatchObject({
      principal: 'p_job',
      tenant: 'globex',
      mode: 'test',
    });
    expect(facts.map(({ action }) => action)).toEqual(['binding.created']);
    const again = await start({ store, workloads: { grants: [], bindings: [workload] } });
    expect(again.facts).toEqual([]);
    const admin = caller('p_admin', {}, { tenant: 'globex', workspaces: 'all' });
    const [found] = await listBindings(services, admin, { after: '', limit: 10 });
    expect(found).toMatchObject({ source: 'configuration', principal: 'p_job' });
    await expect(unbindWorkload(services, admin, found?.id ?? '')).rejects.toMatchObject(INVALID);
    await expect(updateBinding(services, admin, found?.id ?? '', { scopes: ['runs:read'] })).rejects.toMatchObject(
      INVALID,
    );
    const gone = await start({ store });
    expect(await gone.access.resolveWorkload(identity)).toBeUndefined();
    expect(gone.facts.map(({ action }) => action)).toEqual(['binding.removed']);
  });

  test('are left as they are by a host that stores roles alone, and hold for their scheme alone', async () => {
    const bindings = [{ ...workload, scheme: 'oauth-client' } as const];
    const { store, access } = await start({ workloads: { grants: [], bindings } });
    expect(await access.resolveWorkload(identity)).toBeUndefined();
    expect(await access.resolveWorkload({ ...identity, scheme: 'oauth-client' })).toMatchObject({ principal: 'p_job' });
    const rolesAlone = storedAccess({ store, roles: ROLES });
    await rolesAlone.begin({ store, clock: systemClock, log: () => {}, recordAudit: async () => {} });
    expect(await store.access.list('binding', 'globex', { after: '', limit: 10 })).toHaveLength(1);
  });

  test('take over what an operation bound', async () => {
    const { bind, store, resolve } = await start({});
    const admin = caller('p_admin', {}, { workspaces: 'all' });
    await bind(admin);
    expect(await resolve('repo:acme/a')).toMatchObject({ scopes: ['runs:read'] });
    const own = { ...workload, tenant: 'acme', issuer: ISSUER, subject: 'repo:acme/a' };
    const taken = await start({ store, workloads: { grants: GRANTS, bindings: [own] } });
    expect(await taken.resolve('repo:acme/a')).toMatchObject({ principal: 'p_job' });
    expect(taken.facts.map(({ action }) => action)).toEqual(['binding.updated']);
  });
});

test('an identity of a host that has not started is refused as at an outage', () => {
  const access = storedAccess({ store: memoryStore(), workloads: { grants: GRANTS, bindings: [] } });
  const identity = { scheme: undefined, issuer: ISSUER, subject: 'repo:acme/a' };
  expect(() => access.resolveWorkload(identity)).toThrow('has not started');
});
