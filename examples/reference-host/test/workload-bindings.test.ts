import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, type CallOptions, startAcme } from './acme-host.ts';
import { scratch } from './booted-host.ts';
import { BASE, type Signer, signer } from './callers.ts';

const named = (name: string) => `operator_brought_key_of_${name}`.padEnd(44, '_');
const [OWNER, READER, TESTER, NARROW, OTHER, AUDITOR] = [
  named('the_owner'),
  named('a_reader'),
  named('a_tester'),
  named('a_narrow_owner'),
  named('another_tenant'),
  named('an_auditor'),
];
const SCOPES = ['roles:manage', 'runs:create', 'runs:read', 'runs:cancel', 'audit:read'];
const key = (id: string, secret: string, fields: object = {}) => ({
  ...{ id, key: secret, tenant: 'acme', workspaces: ['*'], principal: `p_${id}`, scopes: SCOPES },
  ...fields,
});
const held = (principal: string, role: string, workspace = 'acme-prod', tenant = 'acme') => ({
  ...{ principal, role, workspace, tenant },
});
const CI = 'https://ci.example';
const CLOUD = 'https://token.cloud.example';
/** It is of the configuration. */
const DEPLOY = 'repo:acme/deploy';

const folder = scratch();
let host: AcmeHost;
let ci: Signer;
let cloud: Signer;

beforeAll(async () => {
  [ci, cloud] = await Promise.all([signer('ci'), signer('cloud')]);
  for (const [name, { jwks }] of Object.entries({ ci, cloud }))
    writeFileSync(folder.path(`${name}.json`), JSON.stringify(jwks));
  const issuer = (url: string, name: string) => ({
    ...{ scheme: 'cloud-subject', issuer: url, jwksFile: folder.path(`${name}.json`) },
  });
  host = await startAcme(
    {},
    {
      baseUrl: BASE,
      apiKeys: [
        key('owner', OWNER),
        key('reader', READER, { scopes: ['roles:manage', 'runs:read'] }),
        key('tester', TESTER, { principal: 'p_owner', mode: 'test' }),
        key('narrow', NARROW, { principal: 'p_owner', workspaces: ['acme-dev'] }),
        key('other', OTHER, { tenant: 'umbrella' }),
        key('auditor', AUDITOR, { scopes: ['audit:read'] }),
      ],
      authorization: {
        roles: [
          { role: 'owner', scopes: SCOPES },
          { role: 'reader', scopes: ['roles:manage', 'runs:read'] },
          { role: 'worker', scopes: ['runs:create', 'runs:read'] },
        ],
        assignments: [
          held('p_owner', 'owner'),
          held('p_owner', 'owner', 'acme-dev'),
          held('p_reader', 'reader'),
          held('p_other', 'owner', 'hive', 'umbrella'),
          held('p_auditor', 'owner'),
          held('p_strong', 'owner'),
          held('p_deploy', 'worker'),
        ],
      },
      workloadIdentity: {
        schemes: ['cloud-subject'],
        audience: BASE,
        issuers: [issuer(CI, 'ci'), issuer(CLOUD, 'cloud')],
        bindings: [
          {
            ...{ issuer: CI, subject: DEPLOY, principal: 'p_deploy', tenant: 'acme', workspaces: ['acme-prod'] },
            scopes: ['runs:read'],
          },
        ],
        grants: [
          { tenant: 'acme', issuer: CI, subjectPrefix: 'repo:acme/' },
          { tenant: 'umbrella', issuer: CI, subjectPrefix: 'repo:umbrella/' },
          { tenant: 'umbrella', issuer: CLOUD },
        ],
      },
    },
  );
});
afterAll(async () => {
  await host.stop();
  folder.remove();
});

const as = (by: string, path: string, options: CallOptions = {}) =>
  host.call(`/host/example/${path}`, { key: by, ...options });
const bind = (by: string, body: object, headers: Record<string, string> = {}) =>
  as(by, 'workload-bindings', {
    body: { issuer: CI, workspaces: ['acme-prod'], scopes: ['runs:read', 'runs:create'], ...body },
    headers,
  });
const change = (by: string, id: string, body: object) => as(by, `workload-bindings/${id}`, { method: 'PATCH', body });
const remove = (by: string, id: string) => as(by, `workload-bindings/${id}`, { method: 'DELETE' });
const tokenOf = (sub: string, by = ci, iss = CI) => by.sign({ iss, sub, aud: BASE });
const create = async (token: string) => host.call('/v1/runs', { key: token, body: { workflowId: 'echo', inputs: {} } });
let subjects = 0;
const subject = () => `repo:acme/s${subjects++}`;

describe('a workload binding', () => {
  test.each(['1', '2'])('is made, used, changed and removed while a host of major %s runs', async (major) => {
    const sub = subject();
    const token = await tokenOf(sub);
    expect(await create(token)).toMatchObject({ status: 401, body: { error: 'identity_unresolvable' } });
    const made = await as(OWNER, 'workload-bindings', {
      major,
      body: { issuer: CI, subject: sub, workspaces: ['acme-prod'], scopes: ['runs:read', 'runs:create'] },
    });
    expect([made.status, made.body]).toEqual([
      201,
      {
        ...{
          id: expect.stringMatching(/^wlb_/),
          epoch: 1,
          source: 'operation',
          issuer: CI,
          subject: sub,
          mode: 'live',
        },
        ...{ principal: expect.stringMatching(/^wkl_/), workspaces: ['acme-prod'], isGranted: true },
        ...{ scopes: ['runs:read', 'runs:create'], createdAt: expect.anything(), updatedAt: expect.anything() },
      },
    ]);
    const { id, principal } = made.body;
    // Bound, and without a role.
    expect((await create(token)).status).toBe(403);
    const role = { principal, workspace: 'acme-prod', role: 'worker' };
    expect((await as(OWNER, 'assignments', { body: role })).status).toBe(201);
    const run = await create(token);
    expect(run.status).toBe(201);
    expect((await as(OWNER, `workload-bindings/${id}`, { major })).body).toEqual(made.body);

    const changed = await change(OWNER, id, { scopes: ['runs:read'], epoch: 1 });
    expect([changed.status, changed.body.epoch, (await create(token)).status]).toEqual([200, 2, 403]);
    expect((await change(OWNER, id, { scopes: ['runs:read'], epoch: 1 })).status).toBe(400);
    expect([(await remove(OWNER, id)).status, (await create(token)).status]).toEqual([204, 401]);
    expect((await as(OWNER, `workload-bindings/${id}`)).status).toBe(404);
    expect((await remove(OWNER, id)).status).toBe(404);
  });

  test('survives the kill of the host', async () => {
    const sub = subject();
    const { body } = await host.killAfter(() => bind(OWNER, { subject: sub }));
    expect((await create(await tokenOf(sub))).status).toBe(403);
    expect((await as(OWNER, `workload-bindings/${body.id}`)).body).toEqual(body);
  });

  test('is made once by a repeated request, with and without an idempotency key', async () => {
    const once = { 'idempotency-key': randomUUID() };
    const asked = { subject: subject() };
    const [first, again] = [await bind(OWNER, asked, once), await bind(OWNER, asked, once)];
    expect([again.status, again.headers.get('svc-idempotent-replay'), again.body]).toEqual([201, 'true', first.body]);
    expect((await bind(OWNER, asked)).body).toEqual(first.body);
    const other = await bind(OWNER, { ...asked, scopes: ['runs:cancel'] });
    expect([other.status, JSON.stringify(other.body)]).toEqual([400, expect.stringContaining('is bound')]);
  });

  test('is listed in pages, within the reach of the caller', async () => {
    await bind(OWNER, { subject: subject(), workspaces: ['acme-prod', 'acme-dev'] });
    await bind(OWNER, { subject: subject(), workspaces: ['acme-dev'] });
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await as(OWNER, `workload-bindings?limit=2&after=${after}`);
      ids.push(...body.bindings.map(({ id }: { id: string }) => id));
      if (body.nextAfter === undefined) break;
      after = body.nextAfter;
    }
    expect(ids).toEqual([...new Set(ids)].sort());
    const { body } = await as(NARROW, 'workload-bindings?limit=200');
    expect(body.bindings.map(({ workspaces }: { workspaces: string[] }) => workspaces)).toEqual([['acme-dev']]);
    const { body: deploying } = await as(OWNER, 'workload-bindings?principal=p_deploy');
    expect(deploying.bindings).toEqual([expect.objectContaining({ subject: DEPLOY, source: 'configuration' })]);
  });

  test('of the configuration holds, and no operation changes it', async () => {
    const token = await tokenOf(DEPLOY);
    const read = await host.call('/v1/runs/absent', { key: token });
    expect([read.status, (await create(token)).status]).toEqual([404, 403]);
    const { body } = await as(OWNER, 'workload-bindings?principal=p_deploy');
    const [{ id }] = body.bindings;
    for (const refused of [await remove(OWNER, id), await change(OWNER, id, { scopes: ['runs:read'] })])
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('configuration')]);
  });

  test('is in the audit log of its tenant', async () => {
    const { body } = await as(AUDITOR, 'audit?limit=200');
    const actions = JSON.stringify(body).match(/binding\.[a-z]+/g);
    expect(new Set(actions)).toEqual(new Set(['binding.created', 'binding.updated', 'binding.removed']));
    expect(JSON.stringify(body)).not.toContain('repo:acme/');
  });
});

describe('a caller binds only what is granted to its tenant, and no more than it holds', () => {
  test.each<[string, string, object, number]>([
    ['an issuer of another tenant', OWNER, { issuer: CLOUD, subject: 'job' }, 403],
    ['an issuer of no one', OWNER, { issuer: 'https://evil.example', subject: 'job' }, 403],
    ['a subject of another tenant', OWNER, { subject: 'repo:umbrella/a' }, 403],
    ['a subject like its own', OWNER, { subject: 'repo:acme-evil/a' }, 403],
    ['a subject in other letters', OWNER, { subject: 'REPO:acme/a' }, 403],
    ['a scope beyond its credential', READER, { subject: 'repo:acme/x', scopes: ['runs:cancel'] }, 403],
    ['a scope beyond its role', READER, { subject: 'repo:acme/x', scopes: ['roles:manage', 'runs:create'] }, 403],
    ['wildcards', OWNER, { subject: 'repo:acme/x', scopes: ['runs:*'] }, 403],
    ['a workspace beyond its reach', NARROW, { subject: 'repo:acme/x' }, 403],
    ['a workspace that is not there', OWNER, { subject: 'repo:acme/x', workspaces: ['nowhere'] }, 403],
    ['a workspace of another tenant', OWNER, { subject: 'repo:acme/x', workspaces: ['hive'] }, 403],
    ['all workspaces', OWNER, { subject: 'repo:acme/x', workspaces: ['*'] }, 403],
    ['another principal', OWNER, { subject: 'repo:acme/x', principal: 'p_strong' }, 403],
    ['with a credential for tests', TESTER, { subject: 'repo:acme/x' }, 403],
    ['without the scope', AUDITOR, { subject: 'repo:acme/x' }, 403],
  ])('%s is refused', async (_title, by, asked, status) => {
    expect((await bind(by, asked)).status).toBe(status);
  });

  test('the refusal tells nothing of grants of others', async () => {
    const refusals = [
      await bind(OWNER, { issuer: CLOUD, subject: 'job' }),
      await bind(OWNER, { issuer: 'https://evil.example', subject: 'job' }),
      await bind(OWNER, { subject: 'repo:umbrella/a' }),
    ];
    for (const { body } of refusals) expect(body).toEqual(refusals[0]?.body);
  });

  test.each<[string, unknown, string]>([
    ['no issuer', { issuer: undefined }, 'issuer'],
    ['an empty issuer', { issuer: '' }, 'issuer'],
    ['a control character', { subject: 'repo:acme/a\u0000' }, 'control characters'],
    ['a subject of 1025 characters', { subject: `repo:acme/${'a'.repeat(1015)}` }, 'subject'],
    ['a token for its subject', { subject: 'repo:acme/eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJqIn0.c2ln' }, 'not a credential'],
    ['a principal that is an address', { principal: 'ada@example.com' }, 'principal'],
    ['another kind', { principalKind: 'workload' }, 'principalKind'],
    ['no workspace', { workspaces: [] }, 'workspaces'],
    ['all workspaces and a name', { workspaces: ['*', 'acme-prod'] }, 'either'],
    ['a workspace twice', { workspaces: ['acme-prod', 'acme-prod'] }, 'once'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['a text that is not a scope', { scopes: ['runs read'] }, 'scopes[0]'],
    ['another mode', { mode: 'both' }, 'mode'],
    ['a member that is not there', { tenant: 'umbrella' }, 'tenant'],
  ])('a malformed binding is refused: %s', async (_title, fields, problem) => {
    const { status, body } = await bind(OWNER, { subject: 'repo:acme/x', ...(fields as object) });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(problem)]);
  });

  test.each<[string, object]>([
    ['nothing', {}],
    ['an epoch alone', { epoch: 1 }],
    ['its principal', { scopes: ['runs:read'], principal: 'p_owner' }],
    ['no scope', { scopes: [] }],
    ['an epoch of 0', { scopes: ['runs:read'], epoch: 0 }],
  ])('a malformed change is refused: %s', async (_title, body) => {
    const { body: made } = await bind(OWNER, { subject: 'repo:acme/malformed-change' });
    expect((await change(OWNER, made.id, body)).status).toBe(400);
    expect((await as(OWNER, `workload-bindings/${made.id}`)).body.epoch).toBe(1);
  });

  test('bindings of another tenant are absent', async () => {
    const { body } = await bind(OWNER, { subject: subject() });
    const answers = [
      await as(OTHER, `workload-bindings/${body.id}`),
      await change(OTHER, body.id, { scopes: ['runs:read'] }),
      await remove(OTHER, body.id),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await as(OTHER, 'workload-bindings')).body.bindings).toEqual([]);
    expect((await as(OWNER, `workload-bindings/${body.id}`)).status).toBe(200);
  });

  test('a workload reaches the tenant of its binding alone', async () => {
    const made = await bind(OTHER, { issuer: CLOUD, subject: 'job', workspaces: ['hive'], principal: 'p_other' });
    expect(made.status).toBe(201);
    const token = await tokenOf('job', cloud, CLOUD);
    const run = await create(token);
    expect(run.status).toBe(201);
    expect((await host.call(`/v1/runs/${run.body.runId}`, { key: OTHER })).body.owner).toMatchObject({
      ...{ tenant: 'umbrella', workspace: 'hive', principal: 'p_other' },
    });
    expect((await host.call(`/v1/runs/${run.body.runId}`, { key: OWNER })).status).toBe(404);
    // Its subject at another issuer is another workload.
    expect((await create(await tokenOf('job'))).status).toBe(401);
  });

  test('the stream of a workload ends when its binding is removed', async () => {
    const sub = subject();
    const { body: made } = await bind(OWNER, { subject: sub });
    const role = { principal: made.principal, workspace: 'acme-prod', role: 'worker' };
    await as(OWNER, 'assignments', { body: role });
    const token = await tokenOf(sub);
    const run = await host.call('/v1/runs', { key: token, body: { workflowId: 'approval', inputs: {} } });
    const stream = await fetch(`${host.url()}/v1/runs/${run.body.runId}/events`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    });
    expect(stream.status).toBe(200);
    const ended = stream.text();
    expect((await remove(OWNER, made.id)).status).toBe(204);
    await ended;
  });

  test('a binding whose grant the operator took back is shown, and refused', async () => {
    const sub = subject();
    const { body } = await bind(OWNER, { subject: sub });
    const { workloadIdentity } = JSON.parse(host.config());
    await host.reboot({}, { workloadIdentity: { ...workloadIdentity, grants: [] } });
    expect((await create(await tokenOf(sub))).status).toBe(401);
    expect((await as(OWNER, `workload-bindings/${body.id}`)).body).toEqual({ ...body, isGranted: false });
    expect((await bind(OWNER, { subject: subject() })).status).toBe(403);
    expect((await remove(OWNER, body.id)).status).toBe(204);
  });
});
