import { covers } from '@svc/tools/covers';
import { MANIFEST } from '@svc/versioning';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sessionReach } from '../../src/portal/session-reach.ts';
import { ALL_ACTIONS, type PortalHost, portalHost, secretOf } from './portal-host.ts';

const SECRET = 'whsec_YW4gZXhhbXBsZSB3aXRoIDI0IGJ5dGVz';

/** Every operation of a session on one subscription, with its action and a body that is accepted. */
const OPERATIONS: readonly (readonly [action: string, method: string, suffix: string, body?: object])[] = [
  ['view', 'GET', ''],
  ['view', 'GET', '/deliveries'],
  ['view', 'GET', '/deliveries/dlv_1'],
  ['view', 'GET', '/dead-letters/facets'],
  ['view', 'GET', '/jobs'],
  ['view', 'GET', '/jobs/job_1'],
  ['redrive', 'POST', '/deliveries/dlv_1/resend'],
  ['redrive', 'POST', '/dead-letters/redrive-matching', { dryRun: true }],
  ['redrive', 'POST', '/dead-letters/redrive-matching', {}],
  ['redrive', 'POST', '/jobs/job_1/pause'],
  ['redrive', 'POST', '/jobs/job_1/resume'],
  ['redrive', 'POST', '/jobs/job_1/cancel'],
  ['edit', 'PATCH', '', { description: 'mine' }],
  ['pause', 'POST', '/pause'],
  ['pause', 'POST', '/resume'],
  ['test', 'POST', '/test', {}],
  ['rotate', 'POST', '/rotate-secret', { secret: SECRET }],
];

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

const operationsIn = ({ paths }: Described) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ path, method: method.toUpperCase(), operationId })),
  );

/** Fills the parameters of a path. */
const filled = (path: string) => path.replace(/\{(\w+)\}/g, 'x_1');

/** Operations that take no credential of the host. */
const FOR_SENDERS = /^\/host\/example\/(?:ingest|forms)\//;

async function webhooksOf(host: PortalHost) {
  const { register, store } = host;
  const own = await register('owner', ['run.failed'], 'acme-prod');
  const stored = await store.subscriptions.read(own);
  if (stored === undefined) throw new Error('The subscription was not stored.');
  const whole = { ...stored, webhookId: 'whk_01kahx3zr8p6t5v4w3x2y1z0ab', workspaces: 'all' as const };
  await store.transaction((transaction) => store.subscriptions.insert(whole, transaction));
  return {
    own,
    otherType: await register('owner', ['run.completed'], 'acme-prod'),
    mixed: await register('owner', ['run.failed', 'run.completed'], 'acme-prod'),
    otherWorkspace: await register('operator', ['run.failed'], 'acme-dev'),
    wholeTenant: whole.webhookId,
    otherTenant: await register('stranger', ['run.failed'], 'umbrella-hive'),
  };
}

describe(covers('portal.session.token-alone'), () => {
  test('no operation of the host beside those of the portal accepts the token', async () => {
    const host = await portalHost({ features: { triggers: {}, workspaceFiles: {} } });
    const { token } = await host.open('operator', { actions: ALL_ACTIONS });
    const described = operationsIn((await host.send(undefined, 'GET', '/host/example/openapi.json')).body);
    const protocol = MANIFEST.flatMap(({ method, path }) => [
      { method, path },
      { method, path: `/v1${path}` },
    ]);
    const open = new Set(['/.well-known/svc', '/openapi.json', '/v1/openapi.json', '/v1/.well-known/svc']);
    const guarded = [...described, ...protocol].filter(({ path }) => !open.has(path) && !FOR_SENDERS.test(path));
    expect(guarded.length).toBeGreaterThan(100);
    for (const { method, path } of guarded) {
      const asked = await host.send(token, method, filled(path), method === 'GET' ? undefined : {});
      expect([method, path, asked.status]).toEqual([method, path, 401]);
    }
  });

  test('the operations of the portal accept no other credential', async () => {
    const host = await portalHost();
    const { code } = (await host.create('owner')).body;
    const described = operationsIn((await host.send(undefined, 'GET', '/host/example/portal/openapi.json')).body);
    for (const { method, path, operationId } of described) {
      if (operationId === 'exchangePortalCode') continue;
      for (const credential of [
        undefined,
        secretOf('operator'),
        code,
        'svc_portal_x',
        `svc_portal_${'0'.repeat(64)}`,
      ]) {
        const asked = await host.send(credential, method, filled(path), method === 'GET' ? undefined : {});
        expect([operationId, asked.status]).toEqual([operationId, 401]);
      }
    }
  });
});

describe(covers('portal.session.description'), () => {
  test('the description has the operations of a session, and that of the host has none of them', async () => {
    const { send } = await portalHost();
    const own = (await send(undefined, 'GET', '/host/example/portal/openapi.json')).body;
    const paths = operationsIn(own).map(({ path }) => path);
    expect(paths.length).toBe(22);
    expect(paths.every((path) => path.startsWith('/host/example/portal/'))).toBe(true);
    expect(own.components.securitySchemes.bearer.description).toContain('portal session');
    const whole = operationsIn((await send(undefined, 'GET', '/host/example/openapi.json')).body);
    expect(whole.filter(({ path }) => path.startsWith('/host/example/portal/'))).toEqual([]);
    expect(whole.map(({ operationId }) => operationId)).toContain('createPortalSession');
  });
});

describe(covers('portal.session.actions'), () => {
  test('an operation of another action is refused, and one of an action that the session has is not', async () => {
    const host = await portalHost();
    const { own } = await webhooksOf(host);
    for (const action of ALL_ACTIONS) {
      const actions = ['view', ...(action === 'view' ? [] : [action])];
      const { portal } = await host.open('owner', { actions, eventTypes: ['run.failed'] });
      for (const [needed, method, suffix, body] of OPERATIONS) {
        const { status } = await portal(method, `/webhooks/${own}${suffix}`, body);
        expect([action, needed, suffix, status === 403]).toEqual([action, needed, suffix, !actions.includes(needed)]);
      }
    }
  });
});

describe(covers('portal.session.reach'), () => {
  test('every operation answers for a subscription of others as for one that does not exist', async () => {
    const host = await portalHost();
    const { own, ...others } = await webhooksOf(host);
    const { portal } = await host.open('operator', {
      ...{ actions: ALL_ACTIONS, workspaces: ['acme-prod'], eventTypes: ['run.failed'] },
    });
    for (const [, method, suffix, body] of OPERATIONS) {
      const unknown = await portal(method, '/webhooks/whk_00000000000000000000000000'.concat(suffix), body);
      expect([suffix, unknown.status]).toEqual([suffix, 404]);
      for (const [name, webhookId] of Object.entries(others)) {
        const { status, body: answer } = await portal(method, `/webhooks/${webhookId}${suffix}`, body);
        expect([name, suffix, status, answer]).toEqual([name, suffix, 404, unknown.body]);
      }
    }
    const { body } = await portal('GET', '/webhooks');
    expect(body.webhooks.map(({ webhookId }: { webhookId: string }) => webhookId)).toEqual([own]);
  });

  test('a page of subscriptions is full although those of others lie between them', async () => {
    const { register, open } = await portalHost();
    const own: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      own.push(await register('owner', ['run.failed'], 'acme-prod'));
      await register('owner', ['run.completed'], 'acme-prod');
    }
    const { portal } = await open('owner', { eventTypes: ['run.failed'] });
    const first = (await portal('GET', '/webhooks?limit=3')).body;
    const second = (await portal('GET', `/webhooks?limit=3&after=${first.nextAfter}`)).body;
    const ids = [...first.webhooks, ...second.webhooks].map(({ webhookId }: { webhookId: string }) => webhookId);
    expect([ids.toSorted(), second.nextAfter]).toEqual([own.toSorted(), undefined]);
  });

  test('deliveries of a type that the subscription received before are neither shown, counted nor sent again', async () => {
    const { register, open, deadLetters, call } = await portalHost();
    const webhookId = await register('owner', ['run.failed', 'run.completed'], 'acme-prod');
    const [failed, completed] = await deadLetters(webhookId, 'run.failed', 'run.completed');
    await call('owner', 'PATCH', `/host/example/webhooks/${webhookId}`, { events: ['run.failed'] });
    const { portal } = await open('owner', { actions: ALL_ACTIONS, eventTypes: ['run.failed'] });
    const path = `/webhooks/${webhookId}`;
    const listed = (await portal('GET', `${path}/deliveries`)).body.deliveries;
    expect(listed.map(({ deliveryId }: { deliveryId: string }) => deliveryId)).toEqual([failed]);
    const attempts = (await portal('GET', path)).body.lastAttempts;
    expect(attempts.map(({ eventType }: { eventType: string }) => eventType)).toEqual(['run.failed']);
    expect((await portal('GET', `${path}/deliveries/${failed}`)).status).toBe(200);
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/resend'],
    ] as const)
      expect((await portal(method, `${path}/deliveries/${completed}${suffix}`)).status).toBe(404);
    expect((await portal('GET', `${path}/dead-letters/facets`)).body.matching).toBe(1);
    expect((await portal('GET', `${path}/dead-letters/facets?types=run.completed`)).body.matching).toBe(0);
    const matching = (fields: object) => portal('POST', `${path}/dead-letters/redrive-matching`, fields);
    expect((await matching({ dryRun: true })).body.matching).toBe(1);
    expect((await matching({ dryRun: true, types: ['run.completed'] })).status).toBe(400);
    expect((await matching({ types: 'run.completed' })).status).toBe(400);
    const started = await matching({});
    expect([started.status, started.body.request.types]).toEqual([202, ['run.failed']]);
  });

  test('a job about every type is not shown to a session of some types', async () => {
    const { register, open, call, deadLetters } = await portalHost();
    const webhookId = await register('owner', ['run.failed'], 'acme-prod');
    await deadLetters(webhookId, 'run.failed');
    const start = (body: object) =>
      call('owner', 'POST', `/host/example/webhooks/${webhookId}/dead-letters/redrive-matching`, body);
    const [whole, own] = [(await start({})).body.jobId, (await start({ types: ['run.failed'] })).body.jobId];
    const { portal } = await open('owner', { actions: ALL_ACTIONS, eventTypes: ['run.failed'] });
    const jobs = (await portal('GET', `/webhooks/${webhookId}/jobs`)).body.jobs;
    expect(jobs.map(({ jobId }: { jobId: string }) => jobId)).toEqual([own]);
    expect((await portal('POST', `/webhooks/${webhookId}/jobs/${whole}/cancel`)).status).toBe(404);
    expect((await portal('POST', `/webhooks/${webhookId}/jobs/${own}/cancel`)).status).toBe(200);
  });

  test('a subscription cannot be given, and a test cannot have, a type beyond the session', async () => {
    const { register, open } = await portalHost();
    const webhookId = await register('owner', ['run.failed'], 'acme-prod');
    const { portal } = await open('owner', { actions: ALL_ACTIONS, eventTypes: ['run.failed', 'run.cancelled'] });
    const edit = (events: string[]) => portal('PATCH', `/webhooks/${webhookId}`, { events });
    expect((await edit(['run.failed', 'run.completed'])).status).toBe(400);
    expect((await edit(['run.cancelled'])).body.events).toEqual(['run.cancelled']);
    expect((await portal('POST', `/webhooks/${webhookId}/test`, { type: 'run.completed' })).status).toBe(400);
    const types = (await portal('GET', '/event-types')).body.eventTypes;
    expect(types.map(({ type }: { type: string }) => type).toSorted()).toEqual(['run.cancelled', 'run.failed']);
  });

  test('a session of some types reaches a subscription exactly when it receives no other one', () => {
    const types = fc.uniqueArray(fc.constantFrom('run.started', 'run.failed', 'run.completed', 'run.dead-lettered'), {
      minLength: 1,
    });
    fc.assert(
      fc.property(types, types, (own, events) => {
        const { reachesSubscription, reachesEvent } = sessionReach({ eventTypes: own });
        expect(reachesSubscription({ events })).toBe(events.every((type) => own.includes(type)));
        // The spelling of major 1.
        expect(reachesEvent('run.dead_lettered')).toBe(own.includes('run.dead-lettered'));
        expect(sessionReach({ eventTypes: 'all' }).reachesSubscription({ events })).toBe(true);
      }),
    );
  });
});
