import { describe, expect, test } from 'vitest';
import { authorizationDecided } from '../decision.ts';
import type { Principal } from '../principal.ts';
import { memoryRoleDirectory, type RoleDirectory, roleAuthorizer } from '../roles.ts';
import { policyDecider } from './decider.ts';
import { matchesFilter } from './filter.ts';
import type { PolicyEngine, PolicyQuestion } from './port.ts';
import { rolePolicy } from './role-policy.ts';

const principal: Principal = {
  id: 'p_1',
  kind: 'user',
  credentialId: 'key_1',
  lane: 'api-key',
  binding: 'bearer',
  tenancy: { tenant: 'acme', workspaces: ['prod', 'dev'], mode: 'live' },
  scopes: ['runs:*'],
  subject: { issuer: 'urn:test', subjectId: 'p_1', tenant: 'acme', lane: 'api-key', kind: 'user' },
};
const run = (workspace: string | undefined, tenant = 'acme') => ({ kind: 'run', id: 'run_1', tenant, workspace });
const asks = (workspace: string | undefined, action = 'runs.cancel', tenant?: string): PolicyQuestion => ({
  principal,
  action,
  resource: run(workspace, tenant),
});

/** An engine that allows everything. */
const generous: PolicyEngine = {
  answer: (questions) => questions.map(() => ({ allowed: true, reasons: ['generous'] })),
  filter: () => ({ kind: 'all' }),
};

describe('the reach of the caller is no matter of policy', () => {
  const policies = policyDecider({ engine: generous });

  test.each([
    ['a workspace of the caller', asks('prod'), true],
    ['another workspace', asks('staging'), false],
    ['a resource of the whole tenant', asks(undefined), false],
    ['another tenant', asks('prod', 'runs.cancel', 'other'), false],
  ])('%s', async (_, question, allowed) => {
    expect(await policies.decide(question)).toMatchObject({ allowed });
  });

  test('foreign resources are not shown to the engine, and the others keep their places', async () => {
    const seen: unknown[] = [];
    const engine: PolicyEngine = {
      ...generous,
      answer: (questions) => {
        seen.push(...questions);
        return questions.map(({ resource }) => ({ allowed: resource.workspace === 'dev', reasons: [] }));
      },
    };
    const questions = [asks('staging'), asks('dev'), asks('prod', 'runs.cancel', 'other'), asks('prod'), asks('dev')];
    const decisions = await policyDecider({ engine }).decideAll(questions);
    expect(decisions.map(({ allowed }) => allowed)).toEqual([false, true, false, false, true]);
    expect(seen).toEqual([questions[1], questions[3], questions[4]]);
  });

  test('a filter is narrowed to the workspaces of the caller', async () => {
    const filter = await policies.filter({ principal, action: 'runs.read', kind: 'run' });
    expect(filter).toEqual({ kind: 'where', condition: { field: 'workspace', in: ['prod', 'dev'] } });
  });

  test('a refusal says neither the policy nor the tenancy to the caller', async () => {
    const foreign = await policies.decide(asks('prod', 'runs.cancel', 'other'));
    const denied = await policyDecider({
      engine: { ...generous, answer: () => [{ allowed: false, reasons: ['policy-7'] }] },
    }).decide(asks('prod'));
    if (foreign.allowed || denied.allowed) throw new Error('A refused question was allowed.');
    expect([foreign.error.message, foreign.error.status]).toEqual([denied.error.message, denied.error.status]);
    expect([foreign.reasons, denied.reasons]).toEqual([['outside-tenancy'], ['policy-7']]);
    expect(authorizationDecided(principal, { action: 'runs.cancel', resource: 'run_1' }, denied)).toMatchObject({
      allowed: false,
      reason: 'forbidden',
    });
  });
});

describe('an engine that gives no usable answer refuses', () => {
  const broken: Record<string, () => unknown> = {
    throws: () => {
      throw new Error('down');
    },
    rejects: () => Promise.reject(new Error('down')),
    'is late': () => new Promise(() => {}),
    'answers too little': () => [],
    'answers too much': () => [1, 2].map(() => ({ allowed: true, reasons: [] })),
    'answers with a text': () => [{ allowed: 'true', reasons: [] }],
    'answers without reasons': () => [{ allowed: true }],
    'answers nothing': () => undefined,
  };

  test.each(Object.entries(broken))('%s', async (_, answer) => {
    const engine = { answer, filter: answer } as unknown as PolicyEngine;
    const policies = policyDecider({ engine, timeoutMs: 20 });
    expect(await policies.decide(asks('prod'))).toMatchObject({
      allowed: false,
      reasons: ['engine-failed'],
      error: { code: 'forbidden', fault: 'host' },
    });
    expect(await policies.filter({ principal, action: 'runs.read', kind: 'run' })).toEqual({ kind: 'none' });
  });

  test.each([
    ['an unknown kind', { kind: 'some' }],
    ['no condition', { kind: 'where' }],
    ['an unknown operator', { kind: 'where', condition: { field: 'a', gt: 1 } }],
    ['two operators', { kind: 'where', condition: { all: [], any: [] } }],
    ['a member beside a field', { kind: 'where', condition: { field: 'a', in: [1], unless: true } }],
    ['a value that is no value', { kind: 'where', condition: { field: 'a', in: [{}] } }],
    ['a nest of conditions', { kind: 'where', condition: nest(40) }],
  ])('a filter with %s allows no resource', async (_, filter) => {
    const engine = { ...generous, filter: () => filter } as unknown as PolicyEngine;
    const found = await policyDecider({ engine }).filter({ principal, action: 'runs.read', kind: 'run' });
    expect(found).toEqual({ kind: 'none' });
  });
});

function nest(depth: number): object {
  return depth === 0 ? { all: [] } : { not: nest(depth - 1) };
}

describe('roles are one engine', () => {
  let lookUps = 0;
  const held = memoryRoleDirectory([
    { principal: 'p_1', tenant: 'acme', workspace: 'prod', role: 'operator' },
    { principal: 'p_1', tenant: 'acme', workspace: 'dev', role: 'reader' },
  ]);
  const directory: RoleDirectory = {
    rolesOf: (id, tenant) => {
      lookUps++;
      return held.rolesOf(id, tenant);
    },
  };
  const catalog = [
    { role: 'operator', scopes: ['runs:*'] },
    { role: 'reader', scopes: ['runs:read'] },
  ];
  const scopes = { 'runs.cancel': 'runs:cancel', 'runs.read': 'runs:read', 'audit.read': 'audit:read' };
  const policies = policyDecider({ engine: rolePolicy({ roles: roleAuthorizer({ catalog, directory }), scopes }) });

  test.each([
    [asks('prod'), true, ['role_granted']],
    [asks('dev'), false, ['no-role-in-workspace']],
    [asks('dev', 'runs.read'), true, ['role_granted']],
    [asks('prod', 'audit.read'), false, ['no-scope']],
    [asks('prod', 'runs.destroy'), false, ['unknown-action']],
    [asks('prod', 'toString'), false, ['unknown-action']],
    [{ ...asks('prod'), principal: { ...principal, id: 'p_2' } }, false, ['no-role']],
  ])('%#', async (question, allowed, reasons) => {
    expect(await policies.decide(question)).toMatchObject({ allowed, reasons });
    const steps = [
      { step: 'tenancy', allowed: true, reasons: [] },
      { step: 'engine', allowed, reasons },
    ];
    expect(await policies.explain(question)).toEqual({ allowed, steps });
  });

  test('a foreign resource is explained by its tenancy alone', async () => {
    expect(await policies.explain(asks('prod', 'runs.cancel', 'other'))).toEqual({
      allowed: false,
      steps: [{ step: 'tenancy', allowed: false, reasons: ['outside-tenancy'] }],
    });
  });

  test('a batch looks up each caller and action once', async () => {
    lookUps = 0;
    const decisions = await policies.decideAll(
      Array.from({ length: 50 }, (_, n) => asks(n % 2 === 0 ? 'prod' : 'dev')),
    );
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(25);
    expect(lookUps).toBe(1);
  });

  test('the filter and the decisions agree', async () => {
    for (const action of Object.keys(scopes)) {
      const filter = await policies.filter({ principal, action, kind: 'run' });
      for (const workspace of ['prod', 'dev', 'staging', undefined]) {
        const { allowed } = await policies.decide(asks(workspace, action));
        expect(matchesFilter(filter, run(workspace)), `${action} in ${workspace}`).toBe(allowed);
      }
    }
  });

  test('a batch has a bound', async () => {
    const small = policyDecider({ engine: generous, maxBatch: 2 });
    await expect(small.decideAll([asks('prod'), asks('prod'), asks('prod')])).rejects.toThrow(
      'policyDecider: at most 2 questions at once. Ask for a filter, or in parts.',
    );
  });
});

test.each([
  [{}, /engine must be a PolicyEngine/],
  [{ engine: { answer: () => [] } }, /engine must be a PolicyEngine/],
  [{ engine: generous, timeoutMs: 0 }, /timeoutMs must be a positive number/],
  [{ engine: generous, maxBatch: 0.5 }, /maxBatch must be a whole number/],
  [{ engine: generous, timeout: 5 }, /unknown option timeout/],
])('options %# are refused', (options, message) => {
  // @ts-expect-error: malformed options
  expect(() => policyDecider(options)).toThrow(message);
});

test('matchesFilter follows each operator', () => {
  const resource = { ...run('prod'), attributes: { owner: 'p_1', size: 3 } };
  const is = (field: string, ...values: (string | number)[]) => ({ field, in: values });
  const cases = [
    [is('owner', 'p_1'), true],
    [is('size', '3'), false],
    [is('absent', 'x'), false],
    [is('constructor', 'x'), false],
    [{ not: is('owner', 'p_1') }, false],
    [{ all: [is('id', 'run_1'), is('workspace', 'prod')] }, true],
    [{ all: [] }, true],
    [{ any: [] }, false],
    [{ any: [is('owner', 'p_2'), is('size', 3)] }, true],
  ] as const;
  for (const [condition, expected] of cases) {
    expect(matchesFilter({ kind: 'where', condition }, resource), JSON.stringify(condition)).toBe(expected);
  }
});
