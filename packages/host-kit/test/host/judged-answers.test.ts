import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import {
  type AuthorizationOptions,
  createHost,
  type HostOptions,
  type LogRecord,
  type WorkflowEngine,
} from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, onTestFinished, test } from 'vitest';

const KEYS = { main: 'key-of-the-workspace-main-0123456789', all: 'key-of-every-workspace-0123456789ab' };
const SCOPES = ['runs:create', 'runs:read', 'webhooks:manage'];
const execute = async () => ({ status: 'completed', outputs: {} });

/** A program in JavaScript can pass functions whose answers have another type. */
type Answering<Options> = { readonly [Name in keyof Options]?: unknown };

const inMain = (_: string, workspace: string) => workspace === 'main';

/** Starts a host with such functions, a key of `main` and one of every workspace. */
async function startHost({
  hasWorkspace = inMain,
  ...given
}: Answering<Pick<HostOptions, 'engine'> & Pick<AuthorizationOptions, 'hasWorkspace'>>) {
  const records: LogRecord[] = [];
  const of = { tenant: 'acme', principal: 'p_1', scopes: SCOPES, mode: 'live' as const };
  const keys = memoryKeyStore([
    { ...of, id: 'key_main', hash: hashApiKey(KEYS.main), workspaces: ['main'] },
    { ...of, id: 'key_all', hash: hashApiKey(KEYS.all), workspaces: 'all' },
  ]);
  const options = {
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys })],
    secretKey: new Uint8Array(32),
    baseUrl: 'https://svc.example',
    features: { triggers: {} },
    ports: { log: (record: LogRecord) => void records.push(record) },
    authorization: { hasWorkspace },
    engine: { execute },
    ...given,
  };
  const host: ReturnType<typeof createHost> = Reflect.apply(createHost, undefined, [options]);
  await host.start();
  onTestFinished(() => host.stop(0));
  return {
    async create(path: string, key: string, body: object) {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'svc-version': '1' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const response = await host.fetch(new Request(`http://host.test${path}`, init));
      return { status: response.status, body: await response.text() };
    },
    told: (event: string) => records.filter((record) => record.event === event),
  };
}

const hook = { url: 'https://hooks.example/', events: ['run.started'] };
const trigger = { source: 'schedule', schedule: { cron: '0 0 * * *' }, mapping: { workflowId: 'any' } };
const CREATIONS: readonly (readonly [string, object])[] = [
  ['/v1/runs', { workflowId: 'any' }],
  ['/v1/webhooks', hook],
  ['/v1/trigger-subscriptions', trigger],
];

describe('hasWorkspace opens a workspace with the answer true alone', () => {
  test.each<[string, unknown, string]>([
    ['a promise', async () => true, 'a promise'],
    ['a promise that rejects', () => Promise.reject(new Error('no database')), 'a promise'],
    ['1', () => 1, 'number'],
    ['a text', () => 'true', 'string'],
    ['null', () => null, 'null'],
    ['undefined', () => undefined, 'undefined'],
  ])('and %s is told to the operator', async (_, hasWorkspace, found) => {
    const host = await startHost({ hasWorkspace });
    const answer = await host.create('/v1/webhooks', KEYS.all, { ...hook, tenantId: 'main' });
    expect(answer.status).toBe(403);
    expect(answer.body).not.toContain('hasWorkspace');
    expect(host.told('workspace.misjudged')[0]).toMatchObject({
      level: 'error',
      message: `authorization.hasWorkspace: returned ${found}, so the workspace is refused. Return true or false, without async.`,
    });
  });

  test.each([true, false])('and %s is no mistake', async (answer) => {
    const host = await startHost({ hasWorkspace: () => answer });
    const { status } = await host.create('/v1/webhooks', KEYS.all, { ...hook, tenantId: 'main' });
    expect(status).toBe(answer ? 201 : 403);
    expect(host.told('workspace.misjudged')).toEqual([]);
  });
});

describe.each(CREATIONS)('%s', (path, body) => {
  test('refuses a workspace that the host does not have, also for a key of every workspace', async () => {
    const host = await startHost({});
    expect((await host.create(path, KEYS.all, { ...body, tenantId: 'main' })).status).toBe(201);
    const refused = await host.create(path, KEYS.all, { ...body, tenantId: 'mian' });
    expect(refused).toMatchObject({ status: 403, body: expect.stringContaining('which has every workspace') });
    expect(host.told('request.refused')).toEqual([]);
  });

  test('names the workspaces of the key when it refuses another one', async () => {
    const host = await startHost({});
    const refused = await host.create(path, KEYS.main, { ...body, tenantId: 'mian' });
    expect(refused).toMatchObject({ status: 403, body: expect.stringContaining('of your credential: main.') });
  });

  test('names to the operator a workspace of a key that the host does not have', async () => {
    const host = await startHost({ hasWorkspace: () => false });
    const refused = await host.create(path, KEYS.main, { ...body, tenantId: 'main' });
    expect(refused).toMatchObject({ status: 403, body: expect.stringContaining('Ask the operator of the host.') });
    expect(host.told('request.refused')).toMatchObject([
      {
        level: 'warn',
        code: 'forbidden',
        message:
          'authorization.hasWorkspace: returned false for the workspace main of the tenant acme, which the credential key_main names. ' +
          'Let it return true for that workspace, or issue a credential with another one.',
      },
    ]);
  });
});

test('a run without tenantId is refused when the host does not have the workspace of the key', async () => {
  const host = await startHost({ hasWorkspace: () => false });
  expect((await host.create('/v1/runs', KEYS.main, { workflowId: 'any' })).status).toBe(403);
  expect((await host.create('/v1/runs', KEYS.all, { workflowId: 'any' })).status).toBe(201);
});

test('a fork is refused when the host no longer has the workspace of its source', async () => {
  let isThere = true;
  const host = await startHost({ engine: { execute, forks: ['branch'] }, hasWorkspace: () => isThere });
  const { runId } = JSON.parse((await host.create('/v1/runs', KEYS.all, { workflowId: 'any', tenantId: 'main' })).body);
  const fork = () => host.create(`/v1/runs/${runId}:fork`, KEYS.all, { mode: 'branch', fromSeq: 0 });
  expect((await fork()).status).toBe(201);
  isThere = false;
  expect(await fork()).toMatchObject({ status: 403, body: expect.stringContaining('forbidden') });
});

describe('an answer of engine.accepts that is neither a boolean nor a refusal creates no run', () => {
  class PublishEngine implements Pick<WorkflowEngine, 'version' | 'execute'> {
    readonly version = 1;
    readonly accepts: unknown;

    constructor(accepts: unknown) {
      this.accepts = accepts;
    }

    async execute() {
      return { status: 'completed' as const, outputs: {} };
    }
  }

  test.each<[string, unknown, string]>([
    ['a promise of true', async () => true, 'a promise'],
    ['a promise that rejects', () => Promise.reject(new Error('no database')), 'a promise'],
    ['null', () => null, 'null'],
    ['undefined', () => undefined, 'undefined'],
    ['a number', () => 1, 'a number'],
    ['a text', () => 'workflowId must be greet', 'a string'],
    ['a refusal without a problem', () => ({ field: 'workflowId' }), 'an object of another form'],
    ['a refusal of no field', () => ({ field: '', problem: 'must be greet' }), 'an object of another form'],
  ])('%s', async (_, accepts, found) => {
    const host = await startHost({ engine: new PublishEngine(accepts) });
    const answer = await host.create('/v1/runs', KEYS.all, { workflowId: 'any' });
    expect(answer).toMatchObject({ status: 500, body: expect.stringContaining('internal_error') });
    expect(answer.body).not.toContain('PublishEngine');
    expect(host.told('request.failed')).toMatchObject([
      {
        error: `engine.accepts: returned ${found}. Return true, false, or { field, problem } with two texts, without async.`,
      },
    ]);
  });

  test.each([
    ['a refusal', { field: 'inputs.name', problem: 'must be a text' }, 'inputs.name: must be a text.'],
    ['false', false, 'workflowId: is not a workflow of this host.'],
  ])('%s is told to the caller, and true creates the run', async (_, answer, told) => {
    const accepts = (workflowId: string) => workflowId === 'greet' || answer;
    const host = await startHost({ engine: { execute, accepts } });
    expect((await host.create('/v1/runs', KEYS.all, { workflowId: 'greet' })).status).toBe(201);
    const refused = await host.create('/v1/runs', KEYS.all, { workflowId: 'other' });
    expect(refused).toMatchObject({ status: 400, body: expect.stringContaining(told) });
  });
});
