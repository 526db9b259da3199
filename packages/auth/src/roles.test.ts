import { covers } from '@svc/tools/covers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anonymousActor } from './anonymous.ts';
import { authorize } from './authorize.ts';
import type { Principal } from './principal.ts';
import { refusal } from './refusal.ts';
import { memoryRoleDirectory, type RoleDirectory, roleAuthorizer } from './roles.ts';
import { impliedScopes } from './scope-implications.ts';
import { SCOPES } from './scopes.ts';

const CATALOG = [
  { role: 'operator', scopes: ['runs:*', 'webhooks:manage'] },
  { role: 'reader', scopes: ['runs:read'] },
  { role: 'nothing', scopes: [] },
];

const ASSIGNMENTS = [
  { principal: 'p_1', tenant: 'acme', workspace: 'prod', role: 'operator' },
  { principal: 'p_1', tenant: 'acme', workspace: 'dev', role: 'reader' },
  { principal: 'p_1', tenant: 'acme', workspace: 'lab', role: 'nothing' },
  { principal: 'p_1', tenant: 'acme', workspace: 'old', role: 'no-such-role' },
  { principal: 'p_1', tenant: 'globex', workspace: 'prod', role: 'operator' },
  { principal: 'p_2', tenant: 'acme', workspace: 'prod', role: 'reader' },
];

function roles(directory: RoleDirectory = memoryRoleDirectory(ASSIGNMENTS)) {
  return roleAuthorizer({ catalog: CATALOG, directory, timeoutMs: 20 });
}

function principal(id: string, workspaces: Principal['tenancy']['workspaces'] = 'all', tenant = 'acme'): Principal {
  const subject = { issuer: 'urn:x', subjectId: id, tenant, lane: 'oidc', kind: 'user' } as const;
  const tenancy = { tenant, workspaces, mode: 'live' } as const;
  return { id, kind: 'user', credentialId: id, lane: 'oidc', binding: 'bearer', tenancy, scopes: ['*:*'], subject };
}

describe(covers('auth.roles.resolve-to-scopes', 'auth.roles.per-principal-and-workspace'), () => {
  test.each<[string, string | string[], string[]]>([
    ['p_1', 'runs:read', ['prod', 'dev']],
    ['p_1', 'runs:cancel', ['prod']],
    ['p_1', ['runs:read', 'webhooks:manage'], ['prod']],
    ['p_2', 'runs:read', ['prod']],
  ])('allows %s the scope %s in %j only', async (id, required, workspaces) => {
    expect(await roles().authorize(principal(id), required)).toEqual({
      allowed: true,
      by: 'role_granted',
      tenancy: { tenant: 'acme', workspaces, mode: 'live' },
    });
  });

  test('ignores a role in a workspace that the credential does not reach', async () => {
    expect(await roles().authorize(principal('p_1', ['dev']), 'runs:read')).toMatchObject({
      tenancy: { workspaces: ['dev'] },
    });
    expect(await roles().authorize(principal('p_1', ['dev']), 'runs:cancel')).toMatchObject({ allowed: false });
  });

  test('does not combine the scopes of two roles', async () => {
    const directory = memoryRoleDirectory([
      { principal: 'p', tenant: 'acme', workspace: 'w', role: 'reader' },
      { principal: 'p', tenant: 'acme', workspace: 'w', role: 'hooks' },
    ]);
    const catalog = [...CATALOG, { role: 'hooks', scopes: ['webhooks:manage'] }];
    const both = roleAuthorizer({ catalog, directory });
    expect(await both.authorize(principal('p'), ['runs:read', 'webhooks:manage'])).toMatchObject({ allowed: false });
    expect(await both.authorize(principal('p'), 'runs:read')).toMatchObject({ allowed: true });
  });
});

describe(covers('auth.roles.fail-closed', 'auth.roles.deny-forbidden'), () => {
  const broken: Record<string, RoleDirectory['rolesOf']> = {
    'returns no role': () => [],
    throws: () => {
      throw new Error('down');
    },
    rejects: async () => Promise.reject(new Error('down')),
    'never answers': () => new Promise(() => {}),
    'returns no list': () => ({ workspace: 'prod', role: 'operator' }) as never,
    'names a role that is not in the catalog': () => [{ workspace: 'prod', role: 'root' }],
    'names __proto__': () => [{ workspace: 'prod', role: '__proto__' }],
    'names no workspace': () => [{ workspace: '', role: 'operator' }],
    'has an assignment that is null': () => [null] as never,
    'has an assignment that is a text': () => ['operator'] as never,
    'has a workspace that is a number': () => [{ workspace: 7, role: 'operator' }] as never,
    'has a role that is a list': () => [{ workspace: 'prod', role: ['operator'] }] as never,
    'has a role that is a list, with own scopes': () =>
      [{ workspace: 'prod', role: ['operator'], scopes: ['runs:read'] }] as never,
  };

  test.each([
    ['its scopes', { scopes: ['audit:read'] }, 'audit:read', true],
    ['no scope beyond its own', { scopes: ['audit:read'] }, 'runs:read', false],
    ['the scopes of the catalog, without own ones', { scopes: undefined }, 'runs:read', true],
    ['nothing, with a malformed scope', { scopes: ['audit:read', 'runs read'] }, 'audit:read', false],
    ['nothing, with a scope that is no text', { scopes: ['audit:read', 7] }, 'audit:read', false],
    ['nothing, with a text as its scopes', { scopes: 'audit:read' }, 'audit:read', false],
  ])('an assignment with own scopes gives %s', async (_name, own, scope, isAllowed) => {
    const rolesOf = () => [{ workspace: 'prod', role: 'operator', ...own }] as never;
    expect((await roles({ rolesOf }).authorize(principal('p_1'), scope)).allowed).toBe(isAllowed);
  });

  test('the own scopes of an assignment imply others, as those of the catalog', async () => {
    const implied = impliedScopes({ 'deploy:write': ['deploy:read'] });
    const rolesOf = () => [{ workspace: 'prod', role: 'deployer', scopes: ['deploy:write'] }];
    const authorizer = roleAuthorizer({ catalog: CATALOG, directory: { rolesOf }, implied });
    expect((await authorizer.authorize(principal('p_1'), 'deploy:read')).allowed).toBe(true);
    expect((await roles({ rolesOf }).authorize(principal('p_1'), 'deploy:read')).allowed).toBe(false);
  });

  test('ignores a malformed assignment beside a valid one', async () => {
    const rolesOf = () => [null, 'operator', { role: 'operator' }, { workspace: 'prod', role: 'operator' }] as never;
    const valid = await roles({ rolesOf: () => [{ workspace: 'prod', role: 'operator' }] }).authorize(
      principal('p_1'),
      'runs:read',
    );
    expect(await roles({ rolesOf }).authorize(principal('p_1'), 'runs:read')).toEqual(valid);
    expect(valid.allowed).toBe(true);
  });

  test('throws for an empty list of required scopes, which every role would have', async () => {
    await expect(roles().authorize(principal('p_1'), [])).rejects.toThrow(TypeError);
  });

  test.each(Object.entries(broken))('denies when the directory %s', async (_name, rolesOf) => {
    const decision = await roles({ rolesOf }).authorize(principal('p_1'), 'runs:read');
    expect(decision.allowed).toBe(false);
    if (!decision.allowed) {
      const { status, body } = refusal(decision.error);
      expect({ status, body: JSON.parse(body) }).toMatchObject({
        status: 403,
        body: { error: 'forbidden', scopeRequired: 'runs:read' },
      });
    }
  });

  test('gives an anonymous actor no role, even one of the directory', async () => {
    const actor = anonymousActor({
      tenancy: { tenant: 'acme', workspaces: 'all', mode: 'live' },
      issuer: 'urn:svc:host',
      randomBytes: (size) => new Uint8Array(size),
    });
    const directory = memoryRoleDirectory([
      { principal: actor.id, tenant: 'acme', workspace: 'prod', role: 'operator' },
    ]);
    expect(await roles(directory).authorize(actor, 'runs:read')).toMatchObject({ allowed: false });
  });

  test('returns exactly the workspaces where a role has the scope, for any assignments', async () => {
    const assignment = fc.record({
      workspace: fc.constantFrom('prod', 'dev', 'lab'),
      role: fc.constantFrom('operator', 'reader', 'nothing', 'unknown'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(assignment, { maxLength: 6 }), fc.constantFrom(...SCOPES), async (assigned, scope) => {
        const decision = await roles({ rolesOf: () => assigned }).authorize(principal('p'), scope);
        const given = decision.allowed && decision.tenancy.workspaces !== 'all' ? decision.tenancy.workspaces : [];
        const expected = new Set(
          assigned
            .filter(
              ({ role }) =>
                (role === 'operator' && /^runs:|^webhooks:/.test(scope)) ||
                (role === 'reader' && scope === 'runs:read'),
            )
            .map(({ workspace }) => workspace),
        );
        expect(new Set(given)).toEqual(expected);
      }),
    );
  });
});

describe('roleAuthorizer', () => {
  test.each([
    [
      'a role twice',
      [
        { role: 'a', scopes: [] },
        { role: 'a', scopes: [] },
      ],
    ],
    ['a role without a name', [{ role: '', scopes: [] }]],
    ['a scope that is none', [{ role: 'a', scopes: ['runs read'] }]],
  ])('rejects %s', (_name, catalog) => {
    expect(() => roleAuthorizer({ catalog, directory: memoryRoleDirectory([]) })).toThrow(TypeError);
  });
});

describe(covers('auth.scopes.verb-implication'), () => {
  const implied = impliedScopes({ 'deploy:admin': ['deploy:write'], 'deploy:write': ['deploy:read'] });
  const holding = (scope: string) => ({ scopes: [scope] });

  test('implies nothing without a table', () => {
    expect(authorize(holding('deploy:write'), 'deploy:read').allowed).toBe(false);
  });

  test('implies the scopes of the table, transitively', () => {
    expect(authorize(holding('deploy:write'), 'deploy:read', { implied }).allowed).toBe(true);
    expect(authorize(holding('deploy:admin'), 'deploy:read', { implied }).allowed).toBe(true);
    expect(authorize(holding('deploy:read'), 'deploy:write', { implied }).allowed).toBe(false);
  });

  test.each(SCOPES)('rejects %s on either side of the table', (scope) => {
    expect(() => impliedScopes({ [scope]: ['deploy:read'] })).toThrow(TypeError);
    expect(() => impliedScopes({ 'deploy:write': [scope] })).toThrow(TypeError);
    expect(() => impliedScopes({ 'deploy:write': [scope.toUpperCase()] })).toThrow(TypeError);
  });

  test('rejects a wildcard on either side of the table', () => {
    expect(() => impliedScopes({ 'deploy:*': ['deploy:read'] })).toThrow(TypeError);
    expect(() => impliedScopes({ 'deploy:write': ['*'] })).toThrow(TypeError);
  });

  test('terminates on a circular table', () => {
    const circle = impliedScopes({ 'a:x': ['b:x'], 'b:x': ['a:x'] });
    expect(authorize(holding('a:x'), 'b:x', { implied: circle }).allowed).toBe(true);
  });
});
