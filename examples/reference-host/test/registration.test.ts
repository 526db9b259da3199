import { createHash } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, KEY, OTHER_TENANT, startAcme, WIDE } from './acme-host.ts';
import { eventually, type Receiver } from './booted-host.ts';

let host: AcmeHost;
let receiver: Receiver;

beforeAll(async () => {
  host = await startAcme({ retryPolicy: { maxAttempts: 3, backoff: 'fixed', delayMs: 30 } });
  receiver = host.receiver;
});
afterEach(() => host.clear());
afterAll(() => host.stop());

const call: AcmeHost['call'] = (path, options) => host.call(path, options);

const v1 = (changes: object = {}) => ({
  url: receiver.url,
  events: ['run.completed'],
  tenantId: 'acme-prod',
  ...changes,
});
const v2 = (changes: object = {}) => ({ url: receiver.url, events: ['run.completed'], ...changes });
const view = async (webhookId: string, key = KEY) => (await call(`/host/example/webhooks/${webhookId}`, { key })).body;

describe(covers('webhooks.registration.required-fields', 'webhooks.registration.v2-no-tenant-id'), () => {
  test.each([
    ['1', 'url', v1],
    ['1', 'events', v1],
    ['1', 'tenantId', v1],
    ['2', 'url', v2],
    ['2', 'events', v2],
  ] as const)('major %s requires %s', async (major, field, body) => {
    const path = major === '1' ? '/v1/webhooks' : '/webhooks';
    const refused = await call(path, { major, body: body({ [field]: undefined }) });
    expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    expect(JSON.stringify(refused.body.details)).toContain(`"${field}"`);
  });

  test('major 2 has no tenantId', async () => {
    expect((await call('/webhooks', { major: '2', body: v2({ tenantId: 'acme-prod' }) })).status).toBe(400);
  });
});

describe(
  covers(
    'operations.webhooks.v1-register',
    'webhooks.registration.v1-response-fields',
    'webhooks.registration.v1-tenant-id-is-workspace',
    'webhooks.registration.duplicate-events-collapse',
    'webhooks.secret.shown-once',
    'webhooks.secret.never-logged',
  ),
  () => {
    test('major 1 returns the id, the secret and its fingerprint', async () => {
      const events = ['run.completed', 'run.failed', 'run.completed'];
      const { status, body } = await call('/v1/webhooks', { body: v1({ events }) });
      const { webhookId, secret, secretFingerprint } = body;
      expect([status, Object.keys(body).sort()]).toEqual([201, ['secret', 'secretFingerprint', 'webhookId']]);
      expect(secretFingerprint).toBe(createHash('sha256').update(secret).digest('hex').slice(0, 8));
      const shown = await view(webhookId);
      expect(shown).toMatchObject({ workspaces: ['acme-prod'], secretFingerprint });
      expect(shown.events.sort()).toEqual(['run.completed', 'run.failed']);
      expect(JSON.stringify(shown) + host.stderr().join('\n')).not.toContain(secret);
    });
  },
);

describe(
  covers(
    'operations.webhooks.v2-register',
    'webhooks.registration.v2-secret-minted',
    'webhooks.registration.v2-scope-recorded',
  ),
  () => {
    test('major 2 mints a missing secret, and records the workspaces of the caller', async () => {
      const { status, body } = await call('/webhooks', { major: '2', body: v2() });
      expect([status, Object.keys(body).sort()]).toEqual([201, ['secret', 'webhookId']]);
      expect(body.webhookId).toMatch(/^acme\/whk_/);
      expect((await view(encodeURIComponent(body.webhookId))).workspaces).toEqual(['acme-prod']);
      const wide = await call('/webhooks', { major: '2', key: WIDE, body: v2() });
      expect((await view(encodeURIComponent(wide.body.webhookId), WIDE)).workspaces).toEqual(['*']);
    });
  },
);

test('a registration for another workspace names those of the credential, and no other', async () => {
  const { status, body } = await call('/v1/webhooks', { body: v1({ tenantId: 'acme-dev' }) });
  expect([status, body.message]).toEqual([403, 'tenantId must name a workspace of your credential: acme-prod.']);
  const wide = await call('/v1/webhooks', { key: WIDE, body: v1({ tenantId: 'acme' }) });
  expect([wide.status, wide.body.message]).toEqual([
    403,
    'tenantId must name a workspace of your credential, which has every workspace of its tenant.',
  ]);
});

describe(covers('webhooks.registration.no-name-resolution'), () => {
  test('registers a URL whose name does not resolve', async () => {
    const url = 'https://no-such-name.svc-test.invalid/hook';
    expect((await call('/v1/webhooks', { body: v1({ url }) })).status).toBe(201);
  });
});

describe(covers('webhooks.secret.reregister-mints-new'), () => {
  test('a repeated registration makes another subscription with another secret', async () => {
    const first = (await call('/v1/webhooks', { body: v1() })).body;
    await call(`/v1/webhooks/${first.webhookId}?tenantId=acme-prod`, { method: 'DELETE' });
    const second = (await call('/v1/webhooks', { body: v1() })).body;
    expect(second.webhookId).not.toBe(first.webhookId);
    expect(second.secret).not.toBe(first.secret);
  });
});

describe(
  covers(
    'operations.webhooks.v1-unregister-tenant-id',
    'operations.webhooks.v1-unregister-403',
    'operations.webhooks.v2-unregister',
    'operations.webhooks.v2-unregister-404',
    'operations.webhooks.v2-unregister-403',
  ),
  () => {
    test('major 1 requires the workspace, and a key that reaches it', async () => {
      const { webhookId } = (await call('/v1/webhooks', { body: v1() })).body;
      const remove = (query: string, key = KEY) => call(`/v1/webhooks/${webhookId}${query}`, { method: 'DELETE', key });
      expect((await remove('')).status).toBe(400);
      expect((await remove('?tenantId=acme-prod&tenantId=acme-dev')).status).toBe(400);
      expect((await remove('?tenantId=acme-prod', DEV)).status).toBe(403);
      expect((await remove('?tenantId=acme')).status).toBe(403);
      expect((await remove('?tenantId=acme-dev', DEV)).status).toBe(404);
      expect((await remove('?tenantId=acme-prod')).status).toBe(204);
    });

    test('major 2 requires the id alone, in either form', async () => {
      const { webhookId } = (await call('/webhooks', { major: '2', body: v2() })).body;
      const remove = (id: string, key = KEY) => call(`/webhooks/${id}`, { method: 'DELETE', key, major: '2' });
      const [, bare] = webhookId.split('/');
      expect((await remove(`acme~2F${bare}`, OTHER_TENANT)).body.error).toBe('id_tenant_mismatch');
      expect((await remove(bare, OTHER_TENANT)).status).toBe(404);
      expect((await remove(`acme~2F${bare}`, DEV)).status).toBe(403);
      expect((await remove(encodeURIComponent(webhookId))).status).toBe(204);
      expect((await remove(`acme~2F${bare}`)).status).toBe(404);
    });
  },
);

describe(
  covers('webhooks.best-effort.v1-default', 'webhooks.durable.v2-always-durable', 'webhooks.delivery.event-filter'),
  () => {
    test('without webhooks.durable, major 1 gets one attempt, and major 2 is durable', async () => {
      receiver.answer = 500;
      const first = (await call('/v1/webhooks', { body: v1() })).body;
      const second = (await call('/webhooks', { major: '2', body: v2() })).body;
      const bound = encodeURIComponent(second.webhookId);
      expect([(await view(first.webhookId)).durable, (await view(bound)).durable]).toEqual([false, true]);
      await call('/v1/runs', { body: { workflowId: 'echo' } });
      await eventually(async () => (await view(bound)).lastAttempts.length === 3);
      const attempts = (await view(first.webhookId)).lastAttempts;
      expect(attempts).toMatchObject([{ attempt: 1, outcome: 'failed', status: 500, eventType: 'run.completed' }]);
      const letters = await call(`/webhooks/${bound}/dead-letters`, { major: '2' });
      expect(letters.body.deliveries).toHaveLength(1);
    });
  },
);

describe(covers('webhooks.body.v2-workspace-id-iff-owned', 'webhooks.body.workspace-never-tenant'), () => {
  test('a delivery names the workspace of its run, and names none for a run of the whole tenant', async () => {
    const { secret } = (await call('/webhooks', { major: '2', key: WIDE, body: v2() })).body;
    receiver.trust(secret);
    const inWorkspace = await call('/v1/runs', { body: { workflowId: 'echo' } });
    const ofTenant = await call('/v1/runs', { key: WIDE, body: { workflowId: 'echo' } });
    await eventually(() => receiver.deliveries.length === 2);
    const of = (runId: string) => receiver.deliveries.find((delivery) => delivery.runId === `acme/${runId}`);
    expect(of(inWorkspace.body.runId)?.workspaceId).toBe('acme-prod');
    expect(of(ofTenant.body.runId)?.workspaceId).toBeUndefined();
  });
});

describe(covers('webhooks.headers.v2-sends-all-five'), () => {
  test('a host of major 2 alone sends all headers of major 2, and none of major 1', async () => {
    await host.reboot({}, { protocol: { versions: ['2.0'] } });
    receiver.trust((await call('/webhooks', { major: '2', body: v2() })).body.secret);
    await call('/runs', { major: '2', body: { workflowId: 'echo' } });
    await eventually(() => receiver.deliveries.length === 1);
    const names = Object.keys(receiver.headers[0] ?? {}).filter((name) => /^(x-)?svc-/.test(name));
    const family = ['event-type', 'signature', 'signature-algorithm', 'timestamp', 'webhook-id'];
    expect(names.sort()).toEqual(family.map((name) => `svc-${name}`));
  });
});
