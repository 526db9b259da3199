import { createHmac } from 'node:crypto';
import { covers } from '@svc/tools/covers';
import { signDelivery } from '@svc/webhook-verify';
import { signStandard } from '@svc/webhook-verify/standard-webhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, OTHER_TENANT, startAcme, WIDE } from './acme-host.ts';
import { eventually } from './booted-host.ts';

const HOOK_KEY = 'operator_brought_key_of_a_registrar_that_ends';
const ADMIN = 'operator_brought_key_that_manages_the_others_';
const METERED = 'operator_brought_key_with_a_quota_of_requests';
const SECRET = 'a secret of the sender';

let host: AcmeHost;
beforeAll(async () => {
  const own = { tenant: 'acme', workspaces: ['acme-prod'] };
  host = await startAcme(
    {},
    {
      triggers: { maxBodyBytes: 4096, perTrigger: { limit: 400 }, perClient: { limit: 10_000 } },
      apiKeys: [
        { ...own, id: 'key_1', key: KEY, principal: 'p_1', scopes: ['runs:create', 'runs:read', 'webhooks:manage'] },
        {
          ...own,
          id: 'key_3',
          key: WIDE,
          workspaces: ['*'],
          principal: 'p_3',
          scopes: ['runs:read', 'webhooks:manage'],
        },
        {
          ...own,
          id: 'key_4',
          key: OTHER_TENANT,
          tenant: 'umbrella',
          workspaces: ['*'],
          principal: 'p_4',
          scopes: ['*:*'],
        },
        { ...own, id: 'key_5', key: HOOK_KEY, principal: 'p_5', scopes: ['runs:create', 'webhooks:manage'] },
        {
          ...own,
          ...{ id: 'key_7', key: METERED, principal: 'p_7', scopes: ['runs:create', 'webhooks:manage'] },
          quota: { limit: 3, period: 'month' },
        },
        { ...own, id: 'key_6', key: ADMIN, principal: 'p_6', scopes: ['*:*'] },
      ],
    },
  );
});
afterAll(() => host.stop());

const RULES = {
  source: 'webhook',
  mapping: { workflowId: 'echo', inputs: { order: { pointer: '/body/order' }, origin: { constant: 'shop' } } },
  webhook: { preset: 'github' },
  secret: SECRET,
};

async function register(fields: object = {}, { key = KEY, major = '2' } = {}) {
  const path = major === '1' ? '/v1/trigger-subscriptions' : '/trigger-subscriptions';
  const { status, body } = await host.call(path, {
    key,
    ...(major === '2' && { major }),
    body: { ...RULES, ...fields },
  });
  expect(status).toBe(201);
  const { binding } = body;
  return { ...body, url: binding.ingestUrl, triggerId: String(binding.ingestUrl).split('/').at(-1) ?? '' };
}

/** Posts as a sender that has no credential of the host. */
async function post(url: string, body: string, headers: Record<string, string>) {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

function send(url: string, message: unknown, secret = SECRET) {
  const body = JSON.stringify(message);
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  return post(url, body, { 'x-hub-signature-256': `sha256=${signature}`, 'x-github-event': 'push' });
}

let orders = 0;
const message = () => ({ order: `order-${orders++}` });
const operator = (triggerId: string, suffix = '', options: Parameters<AcmeHost['call']>[1] = {}) =>
  host.call(`/host/example/triggers/${triggerId}${suffix}`, { major: '2', ...options });

async function runIdsOf(triggerId: string): Promise<string[]> {
  const { body } = await operator(triggerId, '/messages?limit=200');
  return body.messages.flatMap(({ runId }: { runId?: string }) => (runId === undefined ? [] : [runId]));
}

async function runOf(runId: string) {
  return (await host.call(`/runs/${encodeURIComponent(runId)}`, { major: '2' })).body;
}

describe(covers('triggers.message.quota'), () => {
  test('a run of a trigger counts as a request of its registrar, once, and a message above the quota waits', async () => {
    // The registration counts, too.
    const { url, triggerId } = await register({}, { key: METERED });
    const [first, second, third] = [message(), message(), message()];
    expect((await send(url, first)).body.outcome).toBe('delivered');
    expect((await send(url, first)).body).toMatchObject({ outcome: 'delivered', repeated: true });
    expect((await send(url, second)).body.outcome).toBe('delivered');
    const waiting = await send(url, third);
    expect([waiting.status, waiting.body.outcome]).toEqual([202, 'retrying']);
    expect((await host.call('/trigger-subscriptions', { key: METERED, major: '2' })).status).toBe(429);
    const { body } = await operator(triggerId, '/messages', { key: ADMIN });
    expect(JSON.stringify(body.messages)).toContain('the quota of its API key is used up until');
  });
});

describe(covers('triggers.subscription.discovery'), () => {
  test('the documents of both majors print the trigger bridge', async () => {
    const record = {
      sources: ['webhook', 'schedule', 'form'],
      dedupEnabled: true,
      retryPolicy: { maxAttempts: 3, backoff: 'fixed' },
      deadLetter: { retentionDays: 30 },
      ingestion: {
        registrationEndpoint: '/trigger-subscriptions',
        verification: ['webhook-signature', 'form-origin'],
        maxBodyBytes: 4096,
      },
    };
    for (const major of ['1', '2']) {
      const { body } = await host.call('/.well-known/svc', { major });
      expect(body.triggerBridge).toMatchObject(record);
    }
  });
});

describe(
  covers(
    'triggers.subscription.registration',
    'triggers.webhook.signature',
    'triggers.message.causation',
    'triggers.mapping.closed',
  ),
  () => {
    test('a signed message starts a run, whose first event names the delivery', async () => {
      const { url, subscription, secret } = await register();
      expect(subscription).toMatchObject({ source: 'webhook', state: 'active', dedupEnabled: true });
      expect(secret).toBe(undefined);
      const sent = message();
      const { status, body } = await send(url, sent);
      expect([status, body.outcome, body.repeated]).toEqual([202, 'delivered', false]);
      const { body: log } = await host.call(`/runs/${encodeURIComponent(body.runId)}/events/poll`, { major: '2' });
      const [started] = log.events;
      expect([started.type, String(body.deliveryId).endsWith(started.causationId.split('/').at(-1))]).toEqual([
        'run.started',
        true,
      ]);
      await eventually(async () => (await runOf(body.runId)).status === 'completed');
      const inputs = JSON.stringify(
        (await host.call(`/runs/${encodeURIComponent(body.runId)}/events/poll`, { major: '2' })).body,
      );
      expect(inputs).toContain(sent.order);
    });

    test('a delivery of another host and a message of Standard Webhooks start runs', async () => {
      const svc = await register({ webhook: { preset: 'svc' }, mapping: { workflowId: 'echo', inputs: {} } });
      const runId = 'run_00000000000000000001';
      const event = { type: 'run.completed', runId, sequence: 3, timestamp: new Date().toISOString(), payload: {} };
      const body = JSON.stringify({ runId, event });
      const at = Math.floor(Date.now() / 1000);
      const families = ['SVC'] as const;
      const rules = { body, secret: SECRET, timestamp: at, webhookId: 'whk_1', eventType: event.type, families };
      const headers = Object.fromEntries(new Headers(signDelivery(rules)));
      expect((await post(svc.url, body, headers)).body).toMatchObject({ outcome: 'delivered', repeated: false });
      expect((await post(svc.url, body, headers)).body).toMatchObject({ outcome: 'delivered', repeated: true });

      const { secret: _, ...rest } = RULES;
      const made = await host.call('/trigger-subscriptions', {
        major: '2',
        body: { ...rest, webhook: { preset: 'standard-webhooks' } },
      });
      const { secret, binding } = made.body;
      const text = JSON.stringify(message());
      const signed = signStandard({
        body: text,
        secret,
        id: 'msg_0123456789abcdef',
        timestamp: Math.floor(Date.now() / 1000),
      });
      const answer = await post(binding.ingestUrl, text, Object.fromEntries(new Headers(signed)));
      expect(answer.body).toMatchObject({ outcome: 'delivered' });
    });

    test('a mapping with anything but pointers and constants is rejected', async () => {
      for (const source of [{ code: 'x' }, { pointer: 'x' }, 'order', { pointer: '/x', constant: 1 }]) {
        const mapping = { workflowId: 'echo', inputs: { order: source } };
        expect((await host.call('/trigger-subscriptions', { major: '2', body: { ...RULES, mapping } })).status).toBe(
          400,
        );
      }
    });
  },
);

describe(covers('triggers.subscription.tenancy', 'triggers.subscription.trial'), () => {
  test('another tenant finds nothing, and a trial starts nothing', async () => {
    const { triggerId } = await register({}, { major: '1' });
    expect((await operator(triggerId, '', { key: OTHER_TENANT })).status).toBe(404);
    const tried = await operator(triggerId, '/try', { body: { body: { order: 'o' }, type: 'push' } });
    expect(tried.body).toEqual({ would: 'start', workflowId: 'echo', inputs: { order: 'o', origin: 'shop' } });
    expect((await operator(triggerId, '/messages')).body.messages).toEqual([]);
    const listed = await host.call('/v1/host/example/triggers');
    expect(listed.body.triggers.map(({ subscriptionId }: { subscriptionId: string }) => subscriptionId)).toContain(
      triggerId,
    );
  });
});

describe(
  covers('triggers.subscription.states', 'triggers.message.dead-letters', 'triggers.message.refused-keeps-state'),
  () => {
    test('a paused trigger keeps messages until it is resumed', async () => {
      const { url, triggerId } = await register();
      expect((await operator(triggerId, '/pause', { method: 'POST' })).body.state).toBe('paused');
      expect((await send(url, message())).body.outcome).toBe('retrying');
      expect(await runIdsOf(triggerId)).toEqual([]);
      expect((await operator(triggerId, '/resume', { method: 'POST' })).body.state).toBe('active');
      await eventually(async () => (await runIdsOf(triggerId)).length === 1);
    });

    test('a refused message is a dead letter, and starts its run after a redrive', async () => {
      const { url, triggerId } = await register({ mapping: { workflowId: 'there-is-none', inputs: {} } });
      expect((await send(url, message())).body.outcome).toBe('dead-lettered');
      const letters = `/v1/trigger-subscriptions/${triggerId}/dead-letters`;
      const { body } = await host.call(letters);
      expect(body.deliveries).toMatchObject([{ attempt: { outcome: 'dead-lettered' }, reason: 'retries_exhausted' }]);
      expect((await operator(triggerId)).body.state).toBe('active');
      await operator(triggerId, '', { method: 'PATCH', body: { mapping: { workflowId: 'echo', inputs: {} } } });
      expect((await operator(triggerId, '/dead-letters/redrive', { body: {} })).body).toEqual({ redriven: 1 });
      await eventually(async () => (await runIdsOf(triggerId)).length === 1);
      expect((await host.call(letters)).body.deliveries).toEqual([]);
    });
  },
);

describe(covers('triggers.subscription.authority'), () => {
  test('a registrar whose key was revoked starts no run', async () => {
    const { url } = await register({}, { key: HOOK_KEY });
    expect((await send(url, message())).body.outcome).toBe('delivered');
    const revoked = await host.call('/host/example/keys/key_5/revoke', { key: ADMIN, major: '2', method: 'POST' });
    expect(revoked.status).toBe(200);
    expect((await send(url, message())).body).toMatchObject({ outcome: 'dead-lettered' });
    const body = { ...RULES };
    expect((await host.call('/trigger-subscriptions', { key: WIDE, major: '2', body })).status).toBe(403);
  });
});

describe(covers('triggers.webhook.rotation'), () => {
  test('two secrets are accepted during a rotation, and never a third', async () => {
    const { url, triggerId } = await register();
    const rotated = await operator(triggerId, '/rotate-secret', { body: {} });
    expect(Date.parse(rotated.body.previousSecretExpiresAt)).toBeGreaterThan(Date.now());
    for (const secret of [SECRET, rotated.body.secret]) expect((await send(url, message(), secret)).status).toBe(202);
    await operator(triggerId, '/rotate-secret', { body: { secret: 'another secret of the sender' } });
    expect((await send(url, message())).status).toBe(401);
  });

  test('a repeated request of the same key shows the same secret, and leaves the replaced one valid', async () => {
    const { url, triggerId } = await register();
    const request = { body: {}, headers: { 'idempotency-key': 'abcdefghijklmnop' } };
    const first = await operator(triggerId, '/rotate-secret', request);
    const again = await operator(triggerId, '/rotate-secret', request);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get('svc-idempotent-replay')).toBe('true');
    for (const secret of [SECRET, again.body.secret]) expect((await send(url, message(), secret)).status).toBe(202);
  });
});

describe(covers('triggers.webhook.limits', 'triggers.webhook.refusals-audited'), () => {
  test('hostile messages start no run, and each is one fact', async () => {
    const { url, triggerId } = await register();
    const sent = JSON.stringify(message());
    const signature = `sha256=${createHmac('sha256', SECRET).update(sent).digest('hex')}`;
    const signed = { 'x-hub-signature-256': signature };
    const statuses = [
      (await send(url, message(), 'the secret of an attacker')).status,
      (await post(url, sent, {})).status,
      (await post(url, `${sent} `, signed)).status,
      (await post(url, 'x'.repeat(5000), signed)).status,
      (await post(url, sent, { ...signed, 'content-encoding': 'gzip' })).status,
    ];
    expect(statuses).toEqual([401, 401, 401, 413, 415]);
    expect((await operator(triggerId, '/messages')).body.messages).toEqual([]);
    const recorded = () =>
      host.stderr().filter((line) => line.includes('"request.refused"') && line.includes(triggerId));
    await eventually(() => recorded().length === statuses.length);
  });

  test('messages above the rate of the trigger are answered 429', async () => {
    const { url } = await register({ webhook: { preset: 'github', types: ['none'] } });
    const answers = await Promise.all(Array.from({ length: 410 }, () => send(url, message())));
    const counts = [200, 429].map((status) => answers.filter((answer) => answer.status === status).length);
    expect(counts).toEqual([400, 10]);
  });
});

describe(covers('triggers.message.durable', 'triggers.message.dedup'), () => {
  test('each message starts exactly one run, over kills of the host and repetitions', async () => {
    const { url, triggerId } = await register();
    const all = Array.from({ length: 60 }, message);
    const acknowledged = new Map<string, string>();
    // The host has another port after a restart. The path of the trigger stays.
    const here = () => host.url() + new URL(url).pathname;
    const deliver = async (each: { order: string }) => {
      const { status, body } = await send(here(), each);
      if (status >= 300) return;
      const before = acknowledged.get(each.order);
      if (before !== undefined) expect(body.runId).toBe(before);
      acknowledged.set(each.order, body.runId);
    };
    for (let kill = 0; kill < 2; kill++) {
      const { sending } = await host.killAfter(async () => {
        const sending = Promise.allSettled(all.map(deliver));
        await eventually(() => acknowledged.size > kill * 20);
        return { sending };
      });
      await sending;
    }
    for (const each of [...all, ...all].reverse()) {
      const { body } = await send(here(), each);
      const before = acknowledged.get(each.order);
      if (before !== undefined) expect(body.runId).toBe(before);
      acknowledged.set(each.order, body.runId);
    }
    expect(new Set(acknowledged.values()).size).toBe(all.length);
    const runIds = await runIdsOf(triggerId);
    expect(runIds.toSorted()).toEqual([...acknowledged.values()].toSorted());
    const listed = await host.call('/runs?limit=100', { major: '2' });
    const own = listed.body.runs.filter(({ runId }: { runId: string }) => runIds.includes(runId));
    expect(own).toHaveLength(all.length);
  });
});

describe(covers('triggers.schedule.paused', 'triggers.subscription.registration'), () => {
  test('a paused schedule names no next time, and a resumed one names the first one that comes', async () => {
    const { status, body } = await host.call('/trigger-subscriptions', {
      ...{ key: KEY, major: '2' },
      body: {
        source: 'schedule',
        mapping: { workflowId: 'echo' },
        schedule: { cron: '0 0 1 1 *', timeZone: 'Europe/Berlin' },
      },
    });
    expect([status, body.binding, body.secret]).toEqual([201, {}, undefined]);
    const triggerId = String(body.subscription.subscriptionId).split('/')[1] ?? '';
    const { nextFireAt } = (await operator(triggerId, '', { key: KEY })).body;
    expect(nextFireAt).toMatch(/^[0-9]{4}-12-31T23:00:00.000Z$/);
    const paused = await operator(triggerId, '/pause', { key: KEY, method: 'POST' });
    expect([paused.body.state, paused.body.nextFireAt]).toEqual(['paused', undefined]);
    const resumed = await operator(triggerId, '/resume', { key: KEY, method: 'POST' });
    expect([resumed.body.state, resumed.body.nextFireAt]).toEqual(['active', nextFireAt]);
  });
});

describe(covers('triggers.form.origin', 'triggers.form.token'), () => {
  test('a page of a listed origin submits once with a token, and other pages are refused', async () => {
    const page = 'https://www.example.com';
    const { status, body } = await host.call('/trigger-subscriptions', {
      ...{ key: KEY, major: '2' },
      body: {
        ...{ source: 'form', form: { origins: [page] } },
        mapping: { workflowId: 'echo', inputs: { name: { pointer: '/body/name' } } },
      },
    });
    expect(status).toBe(201);
    const url = host.url() + new URL(body.binding.ingestUrl).pathname;
    const tokenOf = async (origin: string) => (await fetch(`${url}/token`, { headers: { origin } })).json();
    const submit = async (fields: Record<string, string>, origin: string) => {
      const response = await fetch(url, { method: 'POST', headers: { origin }, body: new URLSearchParams(fields) });
      return { status: response.status, body: await response.json() };
    };
    expect((await fetch(`${url}/token`)).status).toBe(403);
    const { token: svc_token } = await tokenOf(page);
    const fields = { name: 'Ada', svc_token };
    expect((await submit(fields, 'https://evil.example')).status).toBe(403);
    const first = await submit(fields, page);
    expect([first.status, first.body.outcome]).toEqual([202, 'delivered']);
    expect(await submit(fields, page)).toEqual({ status: 200, body: { ...first.body, repeated: true } });
    expect((await submit({ ...fields, name: 'Eve' }, page)).status).toBe(403);
    expect((await runOf(first.body.runId)).runId).toBe(first.body.runId);
  });
});
