import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeHost, OTHER_TENANT, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

const DAY_MS = 86_400_000;
const FEED = '/host/example/events/poll?timeout=1';
const HOOKS = '/host/example/webhooks';

let host: AcmeHost;
/** Ended 40 days ago, with an artifact. */
let old: { readonly runId: string; readonly artifactId: string };
/** Ended 20 days ago. */
let recent: string;
/** Ended 40 days ago. A fork of it is paused. */
let forked: string;
let fork: string;
let webhookId: string;
/** The position of the last event before any run. */
let beforeAllRuns: string;
/** The position of the last event of all runs. */
let afterAllRuns: string;

beforeAll(async () => {
  host = await startAcme({ durable: true });
  const hook = { url: `${host.receiver.url}?of=retention`, events: ['run.completed'], tenantId: 'acme-prod' };
  const registered = await host.call('/v1/webhooks', { body: hook });
  expect(registered.status).toBe(201);
  webhookId = registered.body.webhookId;
  host.receiver.trust(registered.body.secret);
  expect((await host.call(`${HOOKS}/${webhookId}/pause`, { method: 'POST' })).status).toBe(200);
  await ended({ workflowId: 'echo', inputs: {} });
  beforeAllRuns = await position();
  const runId = await ended({ workflowId: 'artifact', inputs: { content: 'old' } });
  old = { runId, artifactId: (await firstArtifact(runId)) ?? '' };
  recent = await ended({ workflowId: 'echo', inputs: {} });
  forked = await ended({ workflowId: 'delay', inputs: { ms: 1 } });
  const made = await host.call(`/v1/runs/${forked}:fork`, { body: { mode: 'branch', fromSeq: 1 } });
  expect(made.status).toBe(201);
  fork = made.body.runId;
  afterAllRuns = await position();
  await host.reboot({});
  await host.reboot({}, { retention: { runDays: 30 } }, () => {
    const database = new DatabaseSync(host.path('svc.db'), { timeout: 10_000 });
    const age = (id: string, days: number) =>
      database.prepare('UPDATE runs SET completed_at = completed_at - ? WHERE run_id = ?').run(days * DAY_MS, id);
    for (const id of [old.runId, forked]) age(id, 40);
    age(recent, 20);
    // As it is while a person decides for weeks.
    database.prepare("UPDATE runs SET status = 'paused', completed_at = NULL WHERE run_id = ?").run(fork);
    database.close();
  });
  await eventually(async () => (await host.call(`/v1/runs/${old.runId}`)).status === 404);
});
afterAll(() => host.stop());

async function ended(body: object): Promise<string> {
  const { status, body: run } = await host.call('/v1/runs', { body });
  expect(status).toBe(201);
  await eventually(async () => (await host.call(`/v1/runs/${run.runId}`)).body.status === 'completed');
  return run.runId;
}

async function firstArtifact(runId: string): Promise<string | undefined> {
  const { body } = await host.call(`/v1/runs/${runId}/events/poll?timeout=1`);
  return body.events.find(({ type }: { type: string }) => type === 'artifact.created')?.payload.artifactId;
}

async function position(): Promise<string> {
  return (await host.call(`${FEED}&from=now`)).body.cursor;
}

test('a removed run is answered as one that never was, in both majors and to every caller', async () => {
  const bound = encodeURIComponent(`acme/${old.runId}`);
  const paths = ['', '/events', '/events/poll', `/artifacts/${old.artifactId}`, '/effects', '/annotations'];
  for (const path of paths) {
    const none = await host.call(`/v1/runs/run_never${path}`);
    const gone = await host.call(`/v1/runs/${old.runId}${path}`);
    expect([path, gone.status, gone.body?.error?.code ?? gone.body?.code]).toEqual([
      ...[path, none.status, none.body?.error?.code ?? none.body?.code],
    ]);
    expect([404, 501]).toContain(gone.status);
  }
  expect((await host.call(`/runs/${bound}`, { major: '2' })).status).toBe(404);
  expect((await host.call(`/runs/${bound}/events`, { major: '2' })).status).toBe(404);
  expect((await host.call(`/v1/runs/${old.runId}`, { key: OTHER_TENANT })).status).toBe(404);
  const body = { mode: 'replay' };
  expect((await host.call(`/v1/runs/${old.runId}:fork`, { body })).status).toBe(404);
  const cancelled = await host.call(`/v1/runs/${old.runId}/cancel`, { body: {} });
  expect(cancelled.status).toBe(404);
  const { body: listed } = await host.call('/v1/runs');
  expect(JSON.stringify(listed)).not.toContain(old.runId);
});

test('a run whose time has not passed stays, and so does one that a fork still reads', async () => {
  for (const runId of [recent, forked, fork]) expect((await host.call(`/v1/runs/${runId}`)).status).toBe(200);
});

test('a delivery that waits outlives its run', async () => {
  expect((await host.call(`${HOOKS}/${webhookId}/resume`, { method: 'POST' })).status).toBe(200);
  await eventually(() => host.receiver.bodies.some((body) => body.includes(old.runId)));
});

test('a reader of all runs whose cursor is older than a removed event is told so, and another tenant is not', async () => {
  const stale = await host.call(`${FEED}&after=${beforeAllRuns}`);
  expect(stale.status).toBe(400);
  expect(JSON.stringify(stale.body)).toContain('events after it have been removed. Begin without a cursor');
  expect((await host.call(`${FEED}&after=${afterAllRuns}`)).status).toBe(200);
  const whole = await host.call(FEED);
  expect(whole.status).toBe(200);
  expect(JSON.stringify(whole.body)).toContain(recent);
  expect((await host.call(`${FEED}&after=${beforeAllRuns}`, { key: OTHER_TENANT })).status).toBe(200);
});

test('the retention is advertised, and its removals are logged', async () => {
  const { body: second } = await host.call('/.well-known/svc', { major: '2' });
  expect(second.replay.retention).toEqual({ days: 30 });
  expect(second.extensions['example.retention']).toEqual({
    runDays: 30,
    effectDays: 30,
    deliverySeriesDays: 7,
    versionUseDays: 90,
  });
  expect(second.idempotency.retentionHours).toBe(24);
  const records = host.stderr().map((line) => JSON.parse(line));
  expect(records.find(({ event }) => event === 'retention.removed')).toMatchObject({ runs: 1 });
});
