import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/index.ts';
import { type TriggerHost, triggerHost } from './trigger-host.ts';

const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'svc-triggers-'));
let world: TriggerHost;

beforeAll(async () => {
  const rate = { limit: 100_000, windowSeconds: 60 };
  const triggers = { failAfter: 2, maxBodyBytes: 10_000, maxWaiting: 2, perClient: rate, perTrigger: rate };
  world = await triggerHost({ store: sqliteStore(join(folder, 'svc.db')), triggers });
});
afterAll(async () => {
  await world.host.stop(0);
  rmSync(folder, { recursive: true, force: true });
});

let messages = 0;
/** A message that no other test sends. */
const message = () => ({ order: { id: `order-${messages++}` } });

/** Lets the periodic tasks make a round, until a condition holds. */
async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitFor(
    async () => {
      world.clock.advance(1000);
      if (!(await condition())) throw new Error('not yet');
    },
    { timeout: 60_000, interval: 5 },
  );
}

async function messagesOf(triggerId: string) {
  const { body } = await world.call('owner', 'GET', `/host/example/triggers/${triggerId}/messages`);
  return body.messages;
}

describe(
  covers('triggers.subscription.registration', 'triggers.webhook.signature', 'triggers.message.causation'),
  () => {
    test('a signed message starts a run of the registrar, with the delivery as its cause', async () => {
      const { triggerId, subscription, binding, secret } = await world.register();
      expect(subscription).toEqual({
        subscriptionId: `acme/${triggerId}`,
        source: 'webhook',
        state: 'active',
        dedupEnabled: true,
        retryPolicy: { maxAttempts: 3, backoff: 'fixed' },
        secretFingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
      });
      expect(binding.ingestUrl).toBe(`https://svc.example.com/host/example/ingest/${triggerId}`);
      expect(secret).toBe(undefined);
      const sent = message();
      const { status, body } = await world.send(triggerId, sent);
      expect([status, body.outcome, body.repeated]).toEqual([202, 'delivered', false]);
      const [run] = await world.runs();
      expect(run).toMatchObject({
        ...{ runId: body.runId.split('/')[1], workspace: 'acme-prod', inputs: { order: sent.order, origin: 'shop' } },
        ...{ causationId: body.deliveryId.split('/')[1], owner: { principal: 'p_owner' } },
      });
    });

    test('a generated secret is shown once, and signs', async () => {
      const { secret: _, ...rules } = { secret: undefined };
      const { triggerId, secret, subscription } = await world.register({ ...rules, secret: undefined });
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      expect((await world.send(triggerId, message(), { secret })).status).toBe(202);
      const { body } = await world.call('owner', 'GET', `/host/example/triggers/${triggerId}`);
      expect(JSON.stringify(body)).not.toContain(secret);
      expect(body.secretFingerprint).toBe(subscription.secretFingerprint);
    });

    test('the ids of a trigger of major 1 are bare', async () => {
      const rules = { source: 'webhook', mapping: { workflowId: 'echo' }, webhook: { preset: 'slack' } };
      const { status, body } = await world.call('owner', 'POST', '/v1/trigger-subscriptions', rules);
      expect([status, body.subscription.subscriptionId]).toEqual([201, expect.stringMatching(/^trg_[0-9a-z]{26}$/)]);
    });

    test.each([
      ['an unknown source', { source: 'telex' }, 'source'],
      ['a pointer that is none', { mapping: { workflowId: 'echo', inputs: { x: { pointer: 'x' } } } }, 'mapping'],
      ['an hmac without rules', { webhook: { preset: 'hmac' } }, 'webhook.signature'],
      ['a short secret', { secret: 'short' }, 'secret'],
      ['a secret of another form', { webhook: { preset: 'standard-webhooks' } }, 'secret'],
    ])('%s is rejected', async (_name, fields, field) => {
      const rules = {
        source: 'webhook',
        mapping: { workflowId: 'echo' },
        webhook: { preset: 'github' },
        secret: 'a secret of github',
      };
      const { status, body } = await world.call('owner', 'POST', '/trigger-subscriptions', { ...rules, ...fields });
      expect([status, body.error]).toEqual([400, 'validation_error']);
      expect(JSON.stringify(body.details)).toContain(field);
    });
  },
);

describe(covers('triggers.message.dedup'), () => {
  test('a repeated message gets the first run, under whichever delivery id of its header', async () => {
    const { triggerId } = await world.register();
    const sent = message();
    const first = await world.send(triggerId, sent);
    const headers = { 'x-github-delivery': 'another' };
    const again = await Promise.all([1, 2, 3].map(() => world.send(triggerId, sent, { headers })));
    for (const { status, body } of again) {
      expect([status, body]).toEqual([200, { ...first.body, repeated: true }]);
    }
    expect((await world.runs()).filter(({ inputs }) => JSON.stringify(inputs).includes(sent.order.id))).toHaveLength(1);
    world.clock.advance(DAY_MS - 60_000);
    expect((await world.send(triggerId, sent)).body.repeated).toBe(true);
    world.clock.advance(120_000);
    expect((await world.send(triggerId, sent)).body.repeated).toBe(false);
  });

  test('a place in the body can be the key', async () => {
    const { triggerId } = await world.register({ webhook: { preset: 'github', dedupPointer: '/order/id' } });
    const sent = message();
    const first = await world.send(triggerId, sent);
    const again = await world.send(triggerId, { ...sent, attempt: 2 });
    expect(again.body).toEqual({ ...first.body, repeated: true });
  });

  test('a message of a type that the trigger does not name starts nothing', async () => {
    const { triggerId } = await world.register({ webhook: { preset: 'github', types: ['issues'] } });
    expect((await world.send(triggerId, message())).body).toEqual({ outcome: 'ignored' });
    const headers = { 'x-github-event': 'issues' };
    expect((await world.send(triggerId, message(), { headers })).body.outcome).toBe('delivered');
  });
});

describe(covers('triggers.subscription.authority'), () => {
  test('a registrar whose key was revoked starts no run, and the message is a dead letter', async () => {
    const { triggerId } = await world.register({ tenantId: 'acme-dev' }, 'dev');
    expect((await world.send(triggerId, message())).body.outcome).toBe('delivered');
    const revoked = await world.call('operator', 'POST', '/host/example/keys/key_dev/revoke', {});
    expect(revoked.status).toBeLessThan(300);
    const { status, body } = await world.send(triggerId, message());
    expect([status, body.outcome, body.runId]).toEqual([202, 'dead-lettered', undefined]);
    const { body: listed } = await world.call('operator', 'GET', `/host/example/triggers/${triggerId}/messages`);
    const problems = listed.messages.map(({ problem }: { problem?: string }) => problem);
    expect(problems).toContain('registrar: its API key was revoked or has expired');
    const { body: trigger } = await world.call('operator', 'GET', `/host/example/triggers/${triggerId}`);
    expect(trigger.state).toBe('active');
  });

  test('a caller that may start no run registers no trigger, and changes none into another', async () => {
    const rules = { source: 'webhook', mapping: { workflowId: 'echo' }, webhook: { preset: 'github' } };
    expect((await world.call('narrow', 'POST', '/trigger-subscriptions', rules)).status).toBe(403);
    const { triggerId } = await world.register();
    const path = `/host/example/triggers/${triggerId}`;
    const mapping = { mapping: { workflowId: 'echo', inputs: {} } };
    expect((await world.call('narrow', 'PATCH', path, mapping)).status).toBe(403);
    expect((await world.call('narrow', 'POST', `${path}/rotate-secret`, {})).status).toBe(403);
    expect((await world.call('narrow', 'POST', `${path}/dead-letters/redrive`, {})).status).toBe(403);
  });
});

describe(covers('triggers.subscription.tenancy'), () => {
  test('a trigger of another tenant is not found, and one of another workspace not reached', async () => {
    const { triggerId } = await world.register();
    const path = `/host/example/triggers/${triggerId}`;
    for (const [method, suffix, body] of OPERATIONS) {
      expect((await world.call('stranger', method, path + suffix, body)).status).toBe(404);
    }
    const other = await world.register({ tenantId: 'acme-dev' }, 'operator');
    for (const [method, suffix, body] of OPERATIONS) {
      const { status } = await world.call('owner', method, `/host/example/triggers/${other.triggerId}${suffix}`, body);
      expect(status).toBe(403);
    }
    expect((await world.call('owner', 'GET', '/host/example/triggers?limit=200')).body.triggers).not.toContainEqual(
      expect.objectContaining({ subscriptionId: other.subscription.subscriptionId }),
    );
    const letters = `/trigger-subscriptions/${encodeURIComponent(`umbrella/${triggerId}`)}/dead-letters`;
    expect((await world.call('owner', 'GET', letters)).body.error).toBe('id_tenant_mismatch');
    expect((await world.call('owner', 'GET', `/v1/trigger-subscriptions/${other.triggerId}/dead-letters`)).status).toBe(
      404,
    );
  });
});

const OPERATIONS: readonly (readonly [string, string, object?])[] = [
  ['GET', ''],
  ['PATCH', '', { description: 'x' }],
  ['POST', '/pause'],
  ['POST', '/resume'],
  ['POST', '/rotate-secret', {}],
  ['POST', '/try', { body: {} }],
  ['GET', '/messages'],
  ['POST', '/dead-letters/redrive', {}],
  ['DELETE', ''],
];

describe(covers('triggers.subscription.trial'), () => {
  test('a trial tells the outcome and has no effect', async () => {
    const { triggerId } = await world.register({ webhook: { preset: 'github', types: ['push'] } });
    const before = [(await world.runs()).length, await messagesOf(triggerId)];
    const attempt = async (body: object) =>
      (await world.call('owner', 'POST', `/host/example/triggers/${triggerId}/try`, body)).body;
    const inputs = { order: 7, origin: 'shop' };
    expect(await attempt({ body: { order: 7 }, type: 'push' })).toEqual({ would: 'start', workflowId: 'echo', inputs });
    expect(await attempt({ body: { order: 7 }, type: 'issues' })).toEqual({ would: 'ignore' });
    const problem = 'mapping.inputs.order: the message has no value at "/body/order"';
    expect(await attempt({ body: {}, type: 'push' })).toEqual({ would: 'dead-letter', problem });
    expect([(await world.runs()).length, await messagesOf(triggerId)]).toEqual(before);
  });
});

describe(covers('triggers.subscription.states'), () => {
  test('a paused trigger stores messages within a bound, and starts their runs when it is resumed', async () => {
    const { triggerId } = await world.register();
    const path = `/host/example/triggers/${triggerId}`;
    expect((await world.call('owner', 'POST', `${path}/pause`)).body.state).toBe('paused');
    const sent = [message(), message()];
    for (const each of sent) expect((await world.send(triggerId, each)).body.outcome).toBe('retrying');
    const { status, headers } = await world.send(triggerId, message());
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([503, true]);
    const started = () =>
      world.engine.executed.filter(({ inputs }) =>
        sent.some(({ order }) => JSON.stringify(inputs).includes(`"${order.id}"`)),
      );
    world.clock.advance(5000);
    expect(started()).toEqual([]);
    expect((await world.call('owner', 'POST', `${path}/resume`)).body.state).toBe('active');
    await eventually(() => started().length === 2);
    expect((await messagesOf(triggerId)).map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'delivered',
      'delivered',
    ]);
  });

  test('a fault of the host is retried, and repeated exhaustion ends the trigger', async () => {
    const { triggerId } = await world.register();
    const path = `/host/example/triggers/${triggerId}`;
    world.engine.fault = new Error('The engine is broken.');
    try {
      for (const _ of [1, 2]) expect((await world.send(triggerId, message())).body.outcome).toBe('retrying');
      const state = async () => (await world.call('owner', 'GET', path)).body.state;
      await eventually(async () => (await state()) === 'failed');
      for (const { attempts, outcome } of await messagesOf(triggerId))
        expect([attempts, outcome]).toEqual([3, 'dead-lettered']);
      expect((await world.send(triggerId, message())).body.outcome).toBe('dead-lettered');
      expect(await state()).toBe('dead-lettered');
      for (const operation of ['/pause', '/resume'])
        expect((await world.call('owner', 'POST', path + operation)).status).toBe(409);
      expect((await world.call('owner', 'POST', `${path}/dead-letters/redrive`, {})).status).toBe(409);
      const moved = (await world.facts('trigger.state')).filter(({ target }) => target === `acme/${triggerId}`);
      expect(moved.map(({ details }) => details)).toMatchObject([
        { from: 'active', to: 'failed' },
        { from: 'failed', to: 'dead-lettered' },
      ]);
    } finally {
      world.engine.fault = undefined;
    }
  });
});

describe(covers('triggers.message.dead-letters', 'triggers.message.refused-keeps-state'), () => {
  test('a refused message is a dead letter without content, and a redrive starts one run', async () => {
    const mapping = { workflowId: 'late', inputs: { order: { pointer: '/body/order' } } };
    const { triggerId } = await world.register({ mapping });
    const sent = message();
    const refused = await world.send(triggerId, sent);
    expect([refused.status, refused.body.outcome]).toEqual([202, 'dead-lettered']);
    expect((await world.send(triggerId, sent)).body).toEqual({ ...refused.body, repeated: true });
    const address = `/trigger-subscriptions/${encodeURIComponent(`acme/${triggerId}`)}/dead-letters`;
    const { body } = await world.call('owner', 'GET', address);
    const subscriptionId = `acme/${triggerId}`;
    expect(body.deliveries).toEqual([
      {
        subscriptionId,
        attemptEventId: refused.body.deliveryId,
        attempt: { subscriptionId, dedupKey: expect.any(String), attempt: 1, outcome: 'dead-lettered' },
        reason: 'retries_exhausted',
        deadLetteredAt: expect.any(String),
        expiresAt: expect.any(String),
      },
    ]);
    expect(JSON.stringify(body)).not.toContain(sent.order.id);
    expect((await world.call('owner', 'GET', `/host/example/triggers/${triggerId}`)).body.state).toBe('active');
    world.engine.known.add('late');
    const redrive = `/host/example/triggers/${triggerId}/dead-letters/redrive`;
    expect((await world.call('owner', 'POST', redrive, {})).body).toEqual({ redriven: 1 });
    expect((await world.call('owner', 'POST', redrive, {})).body).toEqual({ redriven: 0 });
    await eventually(() => world.engine.executed.some(({ workflowId }) => workflowId === 'late'));
    const again = await world.send(triggerId, sent);
    expect([again.body.outcome, again.body.repeated, again.body.deliveryId]).toEqual([
      'delivered',
      true,
      refused.body.deliveryId,
    ]);
    expect(world.engine.executed.filter(({ workflowId }) => workflowId === 'late')).toHaveLength(1);
  });

  test('a message that many inputs repeat starts no run of many times its length', async () => {
    const names = Array.from({ length: 64 }, (_, n) => `input-${n}`);
    const inputs = Object.fromEntries(names.map((name) => [name, { pointer: '/body' }]));
    const { triggerId } = await world.register({ mapping: { workflowId: 'echo', inputs } });
    const large = { order: 'x'.repeat(9000) };
    expect((await world.send(triggerId, large)).body.outcome).toBe('dead-lettered');
    const { body } = await world.call('owner', 'POST', `/host/example/triggers/${triggerId}/try`, { body: large });
    expect(body).toMatchObject({ would: 'dead-letter', problem: expect.stringContaining('20000 characters') });
  });

  test('a dead letter behind 500 newer ones is redriven by its id', async () => {
    const { triggerId } = await world.register({ mapping: { workflowId: 'older', inputs: {} } });
    const oldest = await world.send(triggerId, message());
    const deliveryId = String(oldest.body.deliveryId).split('/').at(-1) ?? '';
    const [letter] = await world.store.triggers.messages(triggerId, { before: undefined, limit: 1, now: 0 });
    if (letter === undefined) throw new Error('The message is no dead letter.');
    await world.store.transaction(async (transaction) => {
      for (let n = 0; n < 500; n++) {
        const newer = { ...letter, deliveryId: `dlv_z${n}`, dedupKey: `newer-${n}` };
        await world.store.triggers.take(newer, transaction);
      }
    });
    world.engine.known.add('older');
    const redrive = `/host/example/triggers/${triggerId}/dead-letters/redrive`;
    const named = { deliveryIds: [deliveryId, deliveryId, `dlv_${'0'.repeat(26)}`] };
    expect((await world.call('owner', 'POST', redrive, named)).body).toEqual({ redriven: 1 });
    await eventually(() => world.engine.executed.some(({ workflowId }) => workflowId === 'older'));
  });

  test('the pages of dead letters follow each other, and belong to their trigger', async () => {
    const mapping = { workflowId: 'never', inputs: {} };
    const { triggerId } = await world.register({ mapping });
    const other = await world.register({ mapping });
    for (const _ of [1, 2, 3]) await world.send(triggerId, message());
    const address = (id: string) => `/v1/trigger-subscriptions/${id}/dead-letters`;
    const first = await world.call('owner', 'GET', `${address(triggerId)}?limit=2`);
    const { nextCursor, deliveries } = first.body;
    const second = await world.call('owner', 'GET', `${address(triggerId)}?cursor=${nextCursor}`);
    expect([deliveries.length, second.body.deliveries.length, second.body.nextCursor]).toEqual([2, 1, undefined]);
    expect((await world.call('owner', 'GET', `${address(other.triggerId)}?cursor=${nextCursor}`)).status).toBe(400);
    const forged = Buffer.from(JSON.stringify([triggerId, 'dlv_\0'])).toString('base64url');
    expect((await world.call('owner', 'GET', `${address(triggerId)}?cursor=${forged}`)).status).toBe(400);
    expect((await world.call('owner', 'GET', '/host/example/triggers?after=trg_%00')).status).toBe(400);
  });
});

describe(covers('triggers.webhook.rotation'), () => {
  test('the replaced secret is accepted until the overlap ends', async () => {
    const { triggerId } = await world.register();
    const path = `/host/example/triggers/${triggerId}/rotate-secret`;
    const rotated = await world.call('owner', 'POST', path, {});
    const { secret } = rotated.body;
    expect(Date.parse(rotated.body.previousSecretExpiresAt)).toBe(world.clock.now() + DAY_MS);
    for (const options of [{ secret }, {}]) expect((await world.send(triggerId, message(), options)).status).toBe(202);
    world.clock.advance(DAY_MS);
    expect((await world.send(triggerId, message(), { secret })).status).toBe(202);
    expect((await world.send(triggerId, message())).status).toBe(401);
  });
});

describe(covers('triggers.webhook.refusals-audited', 'triggers.webhook.limits'), () => {
  const deep = `{"order":${'['.repeat(70)}${']'.repeat(70)}}`;
  test.each([
    ['a wrong signature', message(), { secret: 'the secret of an attacker' }, 401],
    ['no signature', message(), { headers: { 'x-hub-signature-256': '' } }, 401],
    ['a signature twice', message(), { headers: { 'x-hub-signature-256': 'sha256=aa, sha256=bb' } }, 401],
    ['a body above the limit', { order: 'x'.repeat(10_000) }, {}, 413],
    ['a body of too many levels', deep, {}, 400],
    ['a compressed body', message(), { headers: { 'content-encoding': 'gzip' } }, 415],
    ['a form', 'order=1', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 415],
    ['no JSON', '{"order":', {}, 400],
  ])('%s starts nothing, and is one audit fact', async (_name, sent, options, status) => {
    // The budget of facts is one minute long.
    world.clock.advance(61_000);
    const { triggerId } = await world.register();
    const [runs, refusals] = [(await world.runs()).length, (await world.facts('request.refused')).length];
    expect((await world.send(triggerId, sent, options)).status).toBe(status);
    expect((await world.runs()).length).toBe(runs);
    expect(await messagesOf(triggerId)).toEqual([]);
    const added = (await world.facts('request.refused')).slice(refusals);
    expect(added).toMatchObject([{ actor: 'public', target: triggerId, details: { status } }]);
  });

  test('a flood of refused messages is 60 facts in a minute', async () => {
    world.clock.advance(61_000);
    const { triggerId } = await world.register();
    const refusals = (await world.facts('request.refused')).length;
    for (let n = 0; n < 100; n++) await world.send(triggerId, '{}', { secret: 'the secret of an attacker' });
    expect((await world.facts('request.refused')).length - refusals).toBe(60);
  });

  test('forged messages take nothing of the rate of the sender', async () => {
    const perTrigger = { limit: 2, windowSeconds: 60 };
    const small = await triggerHost({ store: sqliteStore(join(folder, 'rate.db')), triggers: { perTrigger } });
    try {
      const { triggerId } = await small.register();
      const statuses = [];
      for (let n = 0; n < 3; n++)
        statuses.push((await small.send(triggerId, message(), { secret: 'the secret of an attacker' })).status);
      for (let n = 0; n < 3; n++) statuses.push((await small.send(triggerId, message())).status);
      expect(statuses).toEqual([401, 401, 401, 202, 202, 429]);
    } finally {
      await small.host.stop(0);
    }
  });

  test('an unknown trigger is not found', async () => {
    expect((await world.send('trg_01k0p3v5tq9d8m2x4c6b8n0r1s', message())).status).toBe(404);
  });
});

test('a deleted trigger takes no message, and its operations are audited', async () => {
  const { triggerId } = await world.register();
  const path = `/host/example/triggers/${triggerId}`;
  await world.call('owner', 'PATCH', path, { description: 'Orders', types: ['push'] });
  expect((await world.call('owner', 'PATCH', path, { description: null })).body.description).toBe(undefined);
  expect((await world.call('owner', 'DELETE', path)).status).toBe(204);
  expect((await world.send(triggerId, message())).status).toBe(404);
  for (const action of ['trigger.register', 'trigger.edit', 'trigger.remove']) {
    const own = (await world.facts(action)).filter(({ target }) => target === `acme/${triggerId}`);
    expect(own.length, action).toBeGreaterThan(0);
  }
});

test('concurrent edits of different members are all kept', async () => {
  const { triggerId } = await world.register();
  const edits = [{ types: ['push'] }, { description: 'Orders' }, { retryPolicy: { maxAttempts: 7, backoff: 'none' } }];
  const path = `/host/example/triggers/${triggerId}`;
  for (const { status } of await Promise.all(edits.map((edit) => world.call('owner', 'PATCH', path, edit))))
    expect(status).toBe(200);
  const { body } = await world.call('owner', 'GET', path);
  expect(body).toMatchObject({ ...edits[1], ...edits[2], webhook: { preset: 'github', types: ['push'] } });
});

test('the operations are in the API descriptions', async () => {
  const described = async (path: string) => {
    const { status, body } = await world.call('owner', 'GET', path);
    expect(status).toBe(200);
    return Object.keys(body.paths);
  };
  const own = (await described('/host/example/openapi.json')).filter((path) => /triggers|ingest/.test(path));
  expect(own).toHaveLength(9);
  const forms = (await described('/host/example/openapi.json')).filter((path) => path.includes('/forms/'));
  expect(forms).toEqual(['/host/example/forms/{triggerId}/token', '/host/example/forms/{triggerId}']);
  expect(await described('/openapi.json')).toContain('/trigger-subscriptions');
});
