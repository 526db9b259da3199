import { once } from 'node:events';
import { connect } from 'node:net';
import { asDescribed } from '@svc/tools/as-described';
import { covers } from '@svc/tools/covers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  bootHost,
  eventually,
  launch,
  type Receiver,
  type RunningHost,
  scratch,
  startReceiver,
} from './booted-host.ts';
import { bootInProcess } from './host-in-process.ts';

const send = asDescribed(fetch);

const KEY = 'operator_brought_key_of_enough_characters';
const READER = 'operator_brought_key_that_may_only_read_it';
const OTHER_TENANT = 'operator_brought_key_of_another_tenant_x';
const OTHER_WORKSPACE = 'operator_brought_key_of_another_workspace';
const TEST_MODE = 'operator_brought_key_for_test_mode_only_x';
const EXPIRED = 'operator_brought_key_that_has_expired_long';
const REVOKED = 'operator_brought_key_that_was_revoked_once';

const PACKS = 'operator_brought_key_of_a_pack_publisher_x';

const ALL = ['runs:create', 'runs:read', 'webhooks:manage'];

function configuration(folder: ReturnType<typeof scratch>, changes: object = {}): object {
  const key = (id: string, secret: string, fields: object = {}) => ({
    id,
    key: secret,
    tenant: 'acme',
    workspaces: ['acme-prod'],
    principal: `p_${id}`,
    scopes: ALL,
    ...fields,
  });
  return {
    listen: { port: 0 },
    store: `sqlite:${folder.path('svc.db')}`,
    tenants: [
      { id: 'acme', workspaces: ['acme-prod', 'acme-dev'] },
      { id: 'umbrella', workspaces: ['hive'] },
    ],
    apiKeys: [
      key('key_1', KEY),
      key('key_2', READER, { scopes: ['runs:read'] }),
      key('key_3', OTHER_TENANT, { tenant: 'umbrella', workspaces: ['*'] }),
      key('key_4', OTHER_WORKSPACE, { workspaces: ['acme-dev'] }),
      key('key_5', TEST_MODE, { mode: 'test' }),
      key('key_6', EXPIRED, { expiresAt: '2020-01-01T00:00:00Z' }),
      key('key_8', PACKS, { scopes: ['packs:publish', 'packs:yank', 'packs:yank-revert'] }),
      key('key_7', REVOKED, { revokedAt: '2020-01-01T00:00:00Z' }),
    ],
    webhooks: { durable: true, retryPolicy: { maxAttempts: 3, backoff: 'fixed', delayMs: 50 } },
    ...changes,
  };
}

/** Sends a JSON request with a key, and returns the answer with its parsed body. */
async function call(
  url: string,
  path: string,
  options: { method?: string; key?: string; major?: string; body?: unknown } = {},
) {
  const { method = options.body === undefined ? 'GET' : 'POST', key, major, body } = options;
  const response = await send(url + path, {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(major !== undefined && { 'svc-version': major }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

describe('an event', () => {
  let folder: ReturnType<typeof scratch>;
  let host: RunningHost;
  let receiver: Receiver;

  beforeEach(async () => {
    folder = scratch();
    receiver = await startReceiver();
    host = await bootInProcess(...files());
  });
  afterEach(async () => {
    await host.end();
    await receiver.close();
    folder.remove();
  });
  const files = (): [string, object] => [
    folder.path('config.json'),
    configuration(folder, { egress: { allowLoopback: [receiver.port] } }),
  ];

  async function registerV1(): Promise<string> {
    const body = { url: receiver.url, events: ['run.started', 'run.completed', 'run.failed'], tenantId: 'acme-prod' };
    const registered = await call(host.url, '/v1/webhooks', { key: KEY, body });
    expect(registered.status).toBe(201);
    expect(registered.body.secret).toMatch(/^[0-9a-f]{64}$/);
    receiver.trust(registered.body.secret);
    return registered.body.webhookId;
  }

  test(
    covers(
      'webhooks.secret.form',
      'webhooks.body.v1-workspace-id-always',
      'webhooks.body.v1-run-id',
      'webhooks.headers.v1-sends-family-b',
      'webhooks.headers.v1-sends-family-a',
      'events.shape.event-id',
      'events.shape.sequence-integer',
      'versioning.axes.event-schema-version',
      'webhooks.headers.overlap-sends-both',
      'webhooks.headers.families-identical',
      'webhooks.delivery.request-headers',
    ),
    async () => {
      await registerV1();
      const created = await call(host.url, '/v1/runs', { key: KEY, body: { workflowId: 'echo', inputs: { a: 1 } } });
      expect(created.status).toBe(201);
      await eventually(() => receiver.deliveries.length === 2);
      const [started, completed] = [...receiver.deliveries].sort((a, b) => a.event.sequence - b.event.sequence);
      expect(started).toMatchObject({ eventType: 'run.started', runId: created.body.runId, workspaceId: 'acme-prod' });
      expect(completed).toMatchObject({ eventType: 'run.completed', event: { payload: { outputs: { a: 1 } } } });
      for (const { event, runId, workspaceId } of receiver.deliveries) {
        expect([runId, event.runId, workspaceId]).toEqual([created.body.runId, created.body.runId, 'acme-prod']);
        expect(event.eventId).toMatch(/^[A-Za-z0-9._~-]{16,128}$/);
        expect([event.sequence, event.schemaVersion].every(Number.isInteger)).toBe(true);
      }
      for (const headers of receiver.headers) {
        expect(headers['content-type']).toBe('application/json');
        expect(headers['user-agent']).toMatch(/^svc-webhook-dispatcher\//);
        for (const name of ['webhook-id', 'event-type', 'timestamp', 'signature', 'signature-algorithm']) {
          expect(headers[`svc-${name}`]).toBeDefined();
          expect(headers[`x-svc-${name}`]).toBe(headers[`svc-${name}`]);
        }
      }
    },
  );

  test(
    covers(
      'webhooks.body.v2-run-id-tenant-bound',
      'webhooks.body.vocabulary-of-registration',
      'webhooks.registration.v2-response-with-secret-given',
      'webhooks.registration.v2-id-tenant-bound',
    ),
    async () => {
      const secret = 'a secret that the subscriber brings';
      const body = { url: receiver.url, events: ['run.completed'], secret };
      const registered = await call(host.url, '/webhooks', { key: KEY, major: '2', body });
      expect(registered.status).toBe(201);
      expect(Object.keys(registered.body)).toEqual(['webhookId']);
      receiver.trust(secret);
      const created = await call(host.url, '/runs', { key: KEY, major: '2.0', body: { workflowId: 'echo' } });
      await eventually(() => receiver.deliveries.length === 1);
      expect(created.body.runId).toMatch(/^acme\//);
      expect(receiver.deliveries[0]).toMatchObject({ runId: created.body.runId, event: { runId: created.body.runId } });
      expect(receiver.deliveries[0]?.webhookId).toBe(registered.body.webhookId);
    },
  );

  test('a failed delivery is repeated until it succeeds', async () => {
    await registerV1();
    receiver.answer = 500;
    await call(host.url, '/v1/runs', { key: KEY, body: { workflowId: 'fail' } });
    await eventually(() => receiver.statuses.length >= 2);
    receiver.answer = undefined;
    await eventually(() => receiver.deliveries.some(({ eventType }) => eventType === 'run.failed'));
  });

  test(
    covers(
      'webhooks.delivery.none-after-unregister',
      'operations.webhooks.v1-unregister',
      'operations.webhooks.v1-unregister-404',
    ),
    async () => {
      const webhookId = await registerV1();
      receiver.answer = 500;
      await call(host.url, '/v1/runs', { key: KEY, body: { workflowId: 'echo' } });
      await eventually(() => receiver.statuses.length > 0);
      const path = `/v1/webhooks/${webhookId}?tenantId=acme-prod`;
      expect((await call(host.url, path, { method: 'DELETE', key: KEY })).status).toBe(204);
      const sent = receiver.statuses.length;
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(receiver.statuses.length).toBe(sent);
      expect((await call(host.url, path, { method: 'DELETE', key: KEY })).status).toBe(404);
    },
  );

  test(covers('webhooks.durable.at-least-once'), async () => {
    await host.end();
    host = await bootHost(...files());
    await registerV1();
    const created = await Promise.all(
      Array.from({ length: 20 }, () => call(host.url, '/v1/runs', { key: KEY, body: { workflowId: 'echo' } })),
    );
    await host.end();
    expect(created.map(({ status }) => status)).toEqual(new Array(20).fill(201));
    host = await bootInProcess(...files());
    const completed = () => receiver.deliveries.filter(({ eventType }) => eventType === 'run.completed');
    const ids = new Set(created.map(({ body }) => body.runId));
    await eventually(() => new Set(completed().map(({ runId }) => runId)).size === ids.size);
    expect(new Set(completed().map(({ runId }) => runId))).toEqual(ids);
  });

  test('SIGTERM ends the host with exit code 0', async () => {
    await host.end();
    const booted = await bootHost(...files());
    booted.process.kill('SIGTERM');
    expect(await booted.ended).toBe(0);
    for (const line of booted.stderr) expect(JSON.parse(line)).toHaveProperty('event');
  });
});

describe(
  covers(
    'auth.request.unauthenticated-learns-nothing',
    'auth.api-key.missing-scope-403',
    'auth.api-key.prefix-not-prescribed',
    'versioning.request.before-authentication',
    'versioning.response.stamped',
    'versioning.response.names-producer',
    'limits.body.max-request',
    'webhooks.url.rejected-400',
    'webhooks.registration.events-not-empty',
    'webhooks.registration.unknown-event-400',
    'webhooks.registration.v1-caller-secret-400',
    'webhooks.registration.v1-tenant-label-403',
    'webhooks.registration.v2-secret-minimum',
    'operations.webhooks.v1-register-member',
  ),
  () => {
    const folder = scratch();
    let host: RunningHost;
    beforeAll(async () => {
      host = await bootInProcess(
        folder.path('config.json'),
        configuration(folder, { limits: { maxRequestBodyBytes: 2048 }, protocol: { minClientVersion: '1.0' } }),
      );
    });
    afterAll(async () => {
      await host.end();
      folder.remove();
    });

    const run = { workflowId: 'echo' };
    const hook = { url: 'https://example.com/hook', events: ['run.completed'], tenantId: 'acme-prod' };

    test.each([
      ['no credential', '/v1/runs', { body: run }, 401, 'unauthenticated', '1.1'],
      ['a wrong key', '/v1/runs', { body: run, key: `${KEY}x` }, 401, 'unauthenticated', '1.1'],
      ['a wrong key in major 2', '/runs', { body: run, key: `${KEY}x`, major: '2' }, 401, 'unauthenticated', '2.0'],
      [
        'another major on /v1, before a credential is asked for',
        '/v1/runs',
        { body: run, major: '2' },
        400,
        'protocol_version_mismatch',
        '1.1',
      ],
      ['an expired key', '/v1/runs', { body: run, key: EXPIRED }, 401, 'key_expired', '1.1'],
      ['a revoked key', '/v1/runs', { body: run, key: REVOKED }, 401, 'key_revoked', '1.1'],
      ['a missing scope', '/v1/runs', { body: run, key: READER }, 403, 'forbidden', '1.1'],
      ['an unlisted major', '/runs', { body: run, key: KEY, major: '3' }, 406, 'protocol_version_unsupported', '1.1'],
      [
        'a malformed version',
        '/runs',
        { body: run, key: KEY, major: 'two' },
        406,
        'protocol_version_unsupported',
        '1.1',
      ],
      [
        'another major on /v1',
        '/v1/runs',
        { body: run, key: KEY, major: '2' },
        400,
        'protocol_version_mismatch',
        '1.1',
      ],
      ['malformed JSON', '/v1/runs', { body: '{', key: KEY }, 400, 'validation_error', '1.1'],
      ['malformed JSON in major 2', '/runs', { body: '{', key: KEY, major: '2' }, 400, 'validation_error', '2.0'],
      ['an unknown workflow', '/v1/runs', { body: { workflowId: 'no' }, key: KEY }, 400, 'validation_error', '1.1'],
      ['an unknown member', '/v1/runs', { body: { ...run, no: 1 }, key: KEY }, 400, 'validation_error', '1.1'],
      [
        'a large body',
        '/v1/runs',
        { body: { ...run, inputs: { a: 'x'.repeat(4096) } }, key: KEY },
        413,
        'payload_too_large',
        '1.1',
      ],
      [
        'a loopback URL',
        '/v1/webhooks',
        { body: { ...hook, url: 'https://127.0.0.1/' }, key: KEY },
        400,
        'webhook_url_rejected',
        '1.1',
      ],
      [
        'an http URL',
        '/v1/webhooks',
        { body: { ...hook, url: 'http://example.com/' }, key: KEY },
        400,
        'webhook_url_rejected',
        '1.1',
      ],
      ['no events', '/v1/webhooks', { body: { ...hook, events: [] }, key: KEY }, 400, 'validation_error', '1.1'],
      [
        'an unknown event',
        '/v1/webhooks',
        { body: { ...hook, events: ['no'] }, key: KEY },
        400,
        'validation_error',
        '1.1',
      ],
      [
        'a brought secret in major 1',
        '/v1/webhooks',
        { body: { ...hook, secret: 'x'.repeat(64) }, key: KEY },
        400,
        'validation_error',
        '1.1',
      ],
      [
        'the tenant as tenantId',
        '/v1/webhooks',
        { body: { ...hook, tenantId: 'acme' }, key: KEY },
        403,
        'forbidden',
        '1.1',
      ],
      [
        'a foreign workspace',
        '/v1/webhooks',
        { body: { ...hook, tenantId: 'acme-dev' }, key: KEY },
        403,
        'forbidden',
        '1.1',
      ],
      [
        'a short secret in major 2',
        '/webhooks',
        { body: { url: hook.url, events: hook.events, secret: 'short' }, key: KEY, major: '2' },
        400,
        'validation_error',
        '2.0',
      ],
      [
        'an operation that is not served',
        '/v1/trigger-subscriptions/t/dead-letters',
        { key: KEY },
        501,
        'capability_not_provided',
        '1.1',
      ],
      [
        'the same in major 2',
        '/trigger-subscriptions/t/dead-letters',
        { key: KEY, major: '2' },
        404,
        'not_found',
        '2.0',
      ],
      [
        'the same without a credential',
        '/trigger-subscriptions/t/dead-letters',
        { major: '2' },
        401,
        'unauthenticated',
        '2.0',
      ],
    ])('%s', async (_title, path, options, status, code, contract) => {
      const answer = await call(host.url, path, options);
      expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error: code });
      expect(answer.headers.get('svc-version')).toBe(contract);
      expect(answer.body.message).not.toBe('');
      expect(answer.headers.has('www-authenticate')).toBe(status === 401 || answer.body.scopeRequired !== undefined);
    });

    test(covers('errors.envelope.scope-required-v1', 'errors.envelope.scope-required-v2'), async () => {
      const v1 = await call(host.url, '/v1/runs', { key: READER, body: run });
      expect(v1.body).toMatchObject({ scopeRequired: 'runs:create' });
      const v2 = await call(host.url, '/runs', { key: READER, body: run, major: '2' });
      expect(v2.body).toMatchObject({ details: { scopeRequired: 'runs:create' } });
      expect(v2.body).not.toHaveProperty('scopeRequired');
    });

    test(
      covers(
        'auth.tenancy.other-tenant-404',
        'auth.tenancy.tenant-apart',
        'auth.tenancy.workspace-apart',
        'runs.owner.recorded',
        'auth.tenancy.workspace-run-forbidden',
        'auth.tenancy.test-live-apart',
        'auth.tenancy.mode-marked',
        'versioning.ids.no-bare-id-in-v2',
        'operations.runs.read-conditional',
      ),
      async () => {
        const created = await call(host.url, '/v1/runs', { key: KEY, body: { ...run, inputs: { x: 1 } } });
        const { runId } = created.body;
        const read = (key: string, path: string, major?: string) =>
          call(host.url, path, { key, ...(major !== undefined && { major }) });

        await eventually(async () => (await read(READER, `/v1/runs/${runId}`)).body.status === 'completed');
        const v1 = await read(READER, `/v1/runs/${runId}`);
        expect(v1.body).toMatchObject({
          runId,
          mode: 'live',
          owner: { tenant: 'acme', workspace: 'acme-prod', principal: 'p_key_1' },
        });
        for (const form of [`acme~2F${runId}`, `acme%2F${runId}`, runId]) {
          const v2 = await read(KEY, `/runs/${form}`, '2');
          expect(v2.status).toBe(200);
          expect(v2.body.runId).toBe(`acme/${runId}`);
          expect(Object.keys(v2.body.owner).sort()).toEqual(['subject', 'tenant', 'workspace']);
        }
        expect(await read(OTHER_TENANT, `/v1/runs/${runId}`)).toMatchObject({
          status: 404,
          body: { error: 'not_found' },
        });
        expect(await read(OTHER_TENANT, `/runs/acme~2F${runId}`, '2')).toMatchObject({
          status: 403,
          body: { error: 'id_tenant_mismatch' },
        });
        expect(await read(OTHER_WORKSPACE, `/v1/runs/${runId}`)).toMatchObject({
          status: 403,
          body: { error: 'run_forbidden' },
        });
        expect(await read(TEST_MODE, `/v1/runs/${runId}`)).toMatchObject({ status: 404 });

        const again = await send(`${host.url}/v1/runs/${runId}`, {
          headers: { authorization: `Bearer ${KEY}`, 'if-none-match': v1.headers.get('etag') ?? '' },
        });
        expect(again.status).toBe(304);
        expect(again.headers.get('svc-version')).toBe('1.1');
      },
    );

    test(
      covers(
        'versioning.overlap.one-discovery-resource',
        'discovery.document.not-modified',
        'discovery.document.vary',
        'discovery.document.v1-capabilities-mirror',
        'operations.service.discovery-unauthenticated',
      ),
      async () => {
        const v1 = await call(host.url, '/.well-known/svc');
        expect(v1.headers.get('svc-version')).toBe('1.1');
        expect(v1.headers.get('vary')).toContain('SVC-Version');
        expect(v1.body).toMatchObject({
          protocolVersion: '1.1',
          protocolVersions: ['1.1', '2.0'],
          preferredVersion: '1.1',
        });
        expect(v1.body.capabilities.webhooks).toEqual(v1.body.webhooks);
        const v2 = await call(host.url, '/.well-known/svc', { major: '2' });
        expect(v2.headers.get('svc-version')).toBe('2.0');
        expect(v2.body).not.toHaveProperty('capabilities');
        expect(v2.body.webhooks.signatureAlgorithms).toContain('v1');
        const again = await send(`${host.url}/.well-known/svc`, {
          headers: { 'if-none-match': v1.headers.get('etag') ?? '' },
        });
        expect(again.status).toBe(304);
      },
    );

    test.each(['//evil/v1/runs', '/v1/../runs', '/v1/%2e%2e/runs', '/v1\\runs', 'http://evil/v1/runs', '/runs#x'])(
      'the raw target %s is refused',
      async (target) => {
        const { hostname, port } = new URL(host.url);
        const socket = connect(Number(port), hostname);
        socket.end(`GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\n\r\n`);
        let answer = '';
        socket.on('data', (chunk) => {
          answer += chunk;
        });
        await once(socket, 'close');
        expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      },
    );

    test(covers('auth.api-key.doubled-header-401'), async () => {
      const { hostname, port } = new URL(host.url);
      const socket = connect(Number(port), hostname);
      const header = `Authorization: Bearer ${KEY}\r\n`;
      socket.end(`GET /v1/runs/run_1 HTTP/1.1\r\nHost: x\r\n${header}${header}Connection: close\r\n\r\n`);
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      await once(socket, 'close');
      expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    });

    test(covers('auth.scopes.packs-not-served'), async () => {
      for (const path of ['/v1/packs', '/packs', '/v1/packs/p:yank']) {
        expect((await call(host.url, path, { key: PACKS, body: {} })).status).toBe(404);
      }
      expect((await call(host.url, '/v1/runs', { key: PACKS, body: run })).status).toBe(403);
    });

    test(covers('auth.audit.no-credential-in-log'), () => {
      expect(host.stderr.join('\n')).not.toContain('operator_brought_key');
    });
  },
);

test(covers('auth.rate-limit.before-scope', 'auth.rate-limit.per-key', 'auth.audit.request-logged'), async () => {
  const folder = scratch();
  const host = await bootInProcess(
    folder.path('config.json'),
    configuration(folder, { store: 'memory:', rateLimit: { limit: 2, windowSeconds: 60 } }),
  );
  const create = () => call(host.url, '/v1/runs', { key: READER, body: { workflowId: 'echo' } });
  const statuses = [await create(), await create(), await create()].map(({ status }) => status);
  expect(statuses).toEqual([403, 403, 429]);
  const v2 = await call(host.url, '/runs/run_0000000000000000', { key: READER, major: '2' });
  expect(v2.status).toBe(429);
  expect(Number(v2.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(v2.body.details).not.toHaveProperty('retryAfterSeconds');
  expect((await call(host.url, '/v1/runs', { key: KEY, body: { workflowId: 'echo' } })).status).toBe(201);
  const requests = () => host.stderr.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request');
  await eventually(() => requests().length === 5);
  expect(requests().map(({ keyId, status }) => [keyId, status])).toEqual([
    ['key_2', 403],
    ['key_2', 403],
    ['key_2', 429],
    ['key_2', 429],
    ['key_1', 201],
  ]);
  await host.end();
  folder.remove();
});

test.each([
  ['logs that credentials are not limited when rateLimit is missing', {}, 1],
  ['logs nothing about limits when rateLimit is configured', { rateLimit: { limit: 2, windowSeconds: 60 } }, 0],
])('%s', async (_title, changes, count) => {
  const folder = scratch();
  const host = await bootInProcess(folder.path('config.json'), configuration(folder, { store: 'memory:', ...changes }));
  const events = host.stderr.map((line) => JSON.parse(line).event);
  expect(events.filter((event) => event === 'rate-limit.off')).toHaveLength(count);
  await host.end();
  folder.remove();
});

test.each([
  ['the defaults', {}, { suiteVersion: '2.35.0' }, 'urn:svc:api-key:example'],
  ['the configuration', { contractProvenance: { suiteVersion: '2.36.1' } }, { suiteVersion: '2.36.1' }, undefined],
  ['no provenance', { contractProvenance: null, apiKeyIssuer: 'urn:acme:keys' }, undefined, 'urn:acme:keys'],
])(
  `${covers('discovery.document.contract-provenance')} discovery has the suite version and the issuer of API keys of %s`,
  async (_title, changes, provenance, issuer) => {
    const folder = scratch();
    const host = await bootInProcess(
      folder.path('config.json'),
      configuration(folder, { store: 'memory:', ...changes }),
    );
    const { body: v1 } = await call(host.url, '/.well-known/svc');
    const { body: v2 } = await call(host.url, '/.well-known/svc', { major: '2' });
    expect(v1.contractProvenance).toEqual(provenance);
    expect(v2).not.toHaveProperty('contractProvenance');
    expect(v2.auth.lanes[0].issuers).toEqual([issuer ?? 'urn:svc:api-key:example']);
    await host.end();
    folder.remove();
  },
);

test(`${covers('auth.tenancy.scoped-discovery-monotone')} a workspace reads its own view of discovery`, async () => {
  const folder = scratch();
  const views = [{ tenant: 'acme', workspace: 'acme-prod', families: ['webhooks', 'interrupts'] }];
  const host = await bootInProcess(
    folder.path('config.json'),
    configuration(folder, { store: 'memory:', workspaceDiscovery: views }),
  );
  const { body: whole } = await call(host.url, '/.well-known/svc');
  expect(whole.discovery.authScoped).toEqual({ mode: 'extension-endpoint', endpointPath: '/host/example/discovery' });
  expect((await call(host.url, '/host/example/discovery')).status).toBe(401);
  const v1 = await call(host.url, '/v1/host/example/discovery', { key: KEY });
  expect([v1.status, v1.body.webhooks, v1.body.capabilities.webhooks]).toEqual([200, whole.webhooks, whole.webhooks]);
  expect(v1.body.protocolVersions).toEqual(whole.protocolVersions);
  expect(v1.body).not.toHaveProperty('eventLog');
  expect(v1.body.capabilities).not.toHaveProperty('eventLog');
  const v2 = await call(host.url, '/host/example/discovery', { key: KEY, major: '2' });
  expect(Object.keys(v2.body)).toEqual(expect.arrayContaining(['interrupt', 'webhooks', 'protocolVersions']));
  expect(v2.body).not.toHaveProperty('eventLog');
  await host.end();
  folder.remove();
});

describe('a bad configuration', () => {
  const folder = scratch();
  afterAll(() => folder.remove());

  test.each([
    [{ nonsense: 1 }, 'nonsense: is not a key'],
    [{ listen: { port: 'x' } }, 'listen.port: has the wrong type'],
    [
      { apiKeys: [{ id: 'k', key: 'short', tenant: 'acme', workspaces: ['*'], principal: 'p', scopes: [] }] },
      'apiKeys[0].key: must be 32',
    ],
    [{ tenants: [{ id: 'acme', workspaces: ['acme'] }] }, 'tenants[0].workspaces: must not contain'],
    [{ protocol: { versions: ['1.1', '2.0'], preferred: '2.0' } }, 'preferred: must be a 1.x version'],
    [{ egress: { denyCidrs: ['10.0.0.1/8'] } }, 'egress.denyCidrs[0]: must be a block'],
    [{ cors: { origins: ['https://console.example.com/'] } }, 'cors.origins[0]: must be an exact origin or *'],
    [{ cors: { origins: ['*'], credentials: true } }, 'cors.credentials: is refused with the origin *'],
    [{ store: 'sqlite::memory:' }, 'store: must be the location of a store'],
    [{ workspaceFiles: { maxFileBytes: 0 } }, 'workspaceFiles.maxFileBytes: is too small'],
    [{ dpop: { required: 'yes' } }, 'dpop.required: has the wrong type'],
    [
      { oidc: { issuers: [{ issuer: 'http://idp.example.com', audience: 'svc' }] } },
      'oidc.issuers[0].issuer: must be https',
    ],
    [
      { authorization: { roles: [], assignments: [{ principal: 'p', workspace: 'w', role: 'r' }] } },
      'must be one of authorization.roles',
    ],
  ])('%j is refused, and the problem named', async (changes, message) => {
    const config = { store: 'memory:', listen: { port: 0 }, ...changes };
    await expect(bootInProcess(folder.path('config.json'), config)).rejects.toThrow(message);
  });

  test('ends the process with exit code 2', async () => {
    const host = launch(folder.path('config.json'), { store: 'memory:', listen: { port: 0 }, nonsense: 1 });
    expect(await host.ended).toBe(2);
    expect(host.stderr.join('\n')).toContain('nonsense: is not a key');
  });
});
