import { DatabaseSync } from 'node:sqlite';
import { covers } from '@svc/tools/covers';
import { afterEach, describe, expect, test } from 'vitest';
import { type AcmeHost, READER, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost;
afterEach(() => host.stop());

const major2 = { major: '2' };

async function subscribe(path = '', events = ['run.completed']): Promise<string> {
  const body = { url: `${host.receiver.url}${path}`, events, tenantId: 'acme-prod' };
  return (await host.call('/v1/webhooks', { body })).body.webhookId;
}

async function run(workflowId = 'echo', inputs: object = {}): Promise<string> {
  const created = await host.call('/v1/runs', { body: { workflowId, inputs } });
  expect(created.status).toBe(201);
  return created.body.runId;
}

const received = () => host.receiver.bodies.map((body) => JSON.parse(String(body)));
const operatorView = async (webhookId: string) => (await host.call(`/host/example/webhooks/${webhookId}`)).body;
const outcomesOf = async (webhookId: string): Promise<string[]> =>
  (await operatorView(webhookId)).lastAttempts.map(({ outcome }: { outcome: string }) => outcome);
const letters = async (webhookId: string) =>
  (await host.call(`/v1/webhooks/${webhookId}/dead-letters?tenantId=acme-prod`)).body.deliveries;

describe('a delivery', () => {
  test(
    covers(
      'webhooks.body.event-verbatim',
      'webhooks.delivery.one-per-subscription',
      'events.types.started-not-redacted',
      'operations.runs.create',
      'operations.runs.read',
    ),
    async () => {
      host = await startAcme({ durable: true });
      host.receiver.answer = 200;
      const events = ['run.started', 'run.completed'];
      await subscribe('?v1', events);
      await subscribe('?v1-too', events);
      const url = `${host.receiver.url}?v2`;
      const registered = await host.call('/webhooks', { ...major2, body: { url, events } });
      expect(registered.status).toBe(201);
      const runId = await run('echo', { text: 'as it is' });
      await eventually(() => host.receiver.bodies.length === 6);

      const inMajor1 = (await host.call(`/v1/runs/${runId}/events/poll`)).body.events;
      const inMajor2 = (await host.call(`/runs/acme~2F${runId}/events/poll`, major2)).body.events;
      const wanted = (log: { type: string }[]) => log.filter(({ type }) => events.includes(type));
      const bySequence = (a: { sequence: number }, b: { sequence: number }) => a.sequence - b.sequence;
      const delivered = received().map(({ event }) => event);
      const ofMajor2 = delivered.filter((event) => event.runId === `acme/${runId}`).sort(bySequence);
      const ofMajor1 = delivered.filter((event) => event.runId === runId).sort(bySequence);
      expect(ofMajor2).toEqual(wanted(inMajor2));
      expect(ofMajor1).toEqual(wanted(inMajor1).flatMap((event) => [event, event]));

      const snapshot = (await host.call(`/v1/runs/${runId}`)).body;
      expect(ofMajor1[0].payload.owner).toEqual(snapshot.owner);
      expect((await host.call(`/runs/acme~2F${runId}`, major2)).body.runId).toBe(`acme/${runId}`);
    },
  );

  test(covers('webhooks.headers.v2-sends-all-five'), async () => {
    host = await startAcme({}, { protocol: { versions: ['2.0'], preferred: '2.0' } });
    host.receiver.answer = 200;
    const body = { url: host.receiver.url, events: ['run.completed'] };
    await host.call('/webhooks', { ...major2, body });
    await host.call('/runs', { ...major2, body: { workflowId: 'echo' } });
    await eventually(() => host.receiver.headers.length === 1);
    const names = Object.keys(host.receiver.headers[0] ?? {}).filter((name) => /^(?:x-)?svc-/.test(name));
    expect(names.sort()).toEqual([
      'svc-event-type',
      'svc-signature',
      'svc-signature-algorithm',
      'svc-timestamp',
      'svc-webhook-id',
    ]);
  });
});

describe('a circuit', () => {
  test(
    covers(
      'webhooks.circuit.open-skips',
      'webhooks.circuit.skips-not-failures',
      'webhooks.circuit.per-subscription',
      'webhooks.circuit.configurable-defaults',
    ),
    async () => {
      host = await startAcme({ durable: false, circuit: { failureThreshold: 2, cooldownMs: 3_600_000 } });
      const failing = await subscribe('', ['run.failed']);
      const other = await subscribe('', ['run.completed']);
      host.receiver.answer = 500;
      for (const attempts of [1, 2, 3, 4]) {
        await run('fail');
        await eventually(async () => (await outcomesOf(failing)).length === attempts);
      }
      expect(await outcomesOf(failing)).toEqual(['skipped', 'skipped', 'failed', 'failed']);
      expect(await operatorView(failing)).toMatchObject({ circuit: { state: 'open' }, recentFailures: 2 });

      host.receiver.answer = 200;
      await run('echo');
      await eventually(async () => (await outcomesOf(other)).length === 1);
      expect(await outcomesOf(other)).toEqual(['delivered']);
      expect(await operatorView(other)).toMatchObject({ circuit: { state: 'closed' } });
    },
  );

  test(covers('webhooks.circuit.failed-outranks', 'webhooks.durable.failed-to-sink'), async () => {
    host = await startAcme({ durable: true });
    host.receiver.answer = 410;
    const webhookId = await subscribe();
    await run();
    await eventually(async () => (await operatorView(webhookId)).state !== 'active');
    host.receiver.answer = 200;
    const before = host.receiver.bodies.length;
    const second = await run();
    await eventually(async () => (await letters(webhookId)).some(({ runId }: { runId: string }) => runId === second));
    expect(host.receiver.bodies.length).toBe(before);
  });
});

/**
 * Lets days pass for the dead letters, while the host is down. A dead letter that lives for seconds could be gone before a busy machine
 * looks.
 */
async function aged(days: number): Promise<void> {
  await host.reboot({}, {}, () => {
    const database = new DatabaseSync(host.path('svc.db'));
    database.prepare(`UPDATE deliveries SET due_at = due_at - ? WHERE state = 'dead'`).run(days * 86_400_000);
    database.close();
  });
}

test(covers('webhooks.dead-letters.retention'), async () => {
  host = await startAcme({ durable: true, retryPolicy: { maxAttempts: 1, backoff: 'none' } });
  host.receiver.answer = 500;
  const webhookId = await subscribe();
  await run();
  await eventually(async () => (await letters(webhookId)).length === 1);
  await aged(29);
  expect(await letters(webhookId)).toHaveLength(1);
  await aged(1);
  await eventually(async () => (await letters(webhookId)).length === 0);
});

test(
  covers('errors.envelope.fields', 'errors.envelope.scope-required-403-only', 'operations.bodies.json'),
  async () => {
    host = await startAcme({});
    const refusals = [
      await host.call('/v1/runs', { body: {} }),
      await host.call('/v1/runs', { key: READER, body: { workflowId: 'echo' } }),
      await host.call('/v1/runs/run_00000000000000000000000000'),
      await host.call('/v1/runs/x', { key: 'no' }),
      await host.call('/runs', { major: '9' }),
      await host.call('/v1/runs', { method: 'DELETE' }),
    ];
    for (const { status, headers, body } of refusals) {
      expect(headers.get('content-type')).toBe('application/json');
      expect(body).toMatchObject({ error: expect.stringMatching(/^[a-z_]+$/), message: expect.stringMatching(/\S/) });
      expect('scopeRequired' in body).toBe(status === 403);
    }
    expect(refusals.map(({ status }) => status)).toEqual([400, 403, 404, 401, 406, 405]);
  },
);

test(covers('limits.discovery.values-as-enforced'), async () => {
  host = await startAcme({}, { limits: { maxRequestBodyBytes: 2048 } });
  const { limits } = (await host.call('/.well-known/svc')).body;
  const sized = (bytes: number) => {
    const empty = JSON.stringify({ workflowId: 'echo', inputs: { text: '' } }).length;
    return { workflowId: 'echo', inputs: { text: 'x'.repeat(bytes - empty) } };
  };
  expect((await host.call('/v1/runs', { body: sized(limits.maxRequestBodyBytes) })).status).toBe(201);
  expect((await host.call('/v1/runs', { body: sized(limits.maxRequestBodyBytes + 1) })).status).toBe(413);
});
