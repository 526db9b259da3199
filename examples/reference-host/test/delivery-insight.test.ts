import { covers } from '@svc/tools/covers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, OTHER_TENANT, READER, startAcme, WIDE } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({ durable: true, retryPolicy: { maxAttempts: 2, backoff: 'fixed', delayMs: 10 } });
});
afterEach(() => host.clear());
afterAll(() => host.stop());

/** Registers a subscription of a workspace. */
async function owned(
  events = ['run.completed'],
  { key, workspace = 'acme-prod' }: { key?: string; workspace?: string } = {},
) {
  const body = { url: host.receiver.url, events, tenantId: workspace };
  const registered = await host.call('/v1/webhooks', { body, ...(key !== undefined && { key }) });
  host.receiver.trust(registered.body.secret);
  const { webhookId } = registered.body as { webhookId: string };
  return { webhookId, path: `/host/example/webhooks/${webhookId}` };
}

const run = () => host.call('/v1/runs', { body: { workflowId: 'echo', inputs: {} } });
const read = async (path: string, key?: string) => (await host.call(path, key === undefined ? {} : { key })).body;
/** A day around now: the test may run at the end of a minute. */
const DAY = () => {
  const time = (ms: number) => new Date(Date.now() + ms).toISOString();
  return `from=${time(-40_000_000)}&to=${time(40_000_000)}&step=86400`;
};

/** Sums the points of a series. */
function totalOf({ points }: { points: { [name: string]: number | number[] }[] }, name: string): number {
  return points.reduce((sum, point) => sum + Number(point[name]), 0);
}

describe(covers('webhooks.deliveries.series'), () => {
  test('attempts, failures and dead letters are counted by time, with their durations', async () => {
    const { path } = await owned();
    await run();
    await eventually(async () => totalOf(await read(`${path}/series?${DAY()}`), 'delivered') === 1);
    host.receiver.answer = 500;
    await run();
    await eventually(async () => totalOf(await read(`${path}/series?${DAY()}`), 'deadLettered') === 1);
    const series = await read(`${path}/series?${DAY()}`);
    expect([totalOf(series, 'failed'), totalOf(series, 'skipped')]).toEqual([2, 0]);
    expect(series.latencyBoundsMs).toHaveLength(series.points[0].latency.length - 1);
    const attempts = series.points.flatMap(({ latency }: { latency: number[] }) => latency);
    expect(attempts.reduce((sum: number, count: number) => sum + count, 0)).toBe(3);
    expect(totalOf(series, 'durationMs')).toBeGreaterThan(0);
    const minutes = await read(`${path}/series`);
    expect(minutes.step).toBe(60);
    for (const { at } of minutes.points) expect(at).toMatch(/:00\.000Z$/);
    expect(await read(`${path}/series?from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z`)).toMatchObject({
      ...{ from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T01:00:00.000Z', points: [] },
    });
  });

  test('the series of the tenant sums the subscriptions that the caller manages, and no other', async () => {
    const prod = await owned();
    const dev = await owned(['run.completed'], { key: DEV, workspace: 'acme-dev' });
    host.receiver.answer = 500;
    await run();
    await eventually(async () => totalOf(await read(`${prod.path}/series?${DAY()}`), 'deadLettered') === 1);
    const body = { workflowId: 'echo', inputs: {} };
    await host.call('/v1/runs', { body, key: DEV });
    await eventually(async () => totalOf(await read(`${dev.path}/series?${DAY()}`, DEV), 'deadLettered') === 1);
    const seen = async (key?: string) => {
      const series = await read(`/host/example/webhooks/series?${DAY()}`, key);
      return [series.subscriptions, totalOf(series, 'deadLettered'), series.isComplete];
    };
    expect(await seen()).toEqual([1, 1, true]);
    expect(await seen(DEV)).toEqual([1, 1, true]);
    expect(await seen(WIDE)).toEqual([2, 2, true]);
    expect(await seen(OTHER_TENANT)).toEqual([0, 0, true]);
  });

  test('a wrong range and a wrong step are refused', async () => {
    const { path } = await owned();
    const [from, to] = ['from=2026-01-01T00:00:00Z', 'to=2026-01-02T12:00:00Z'];
    for (const wrong of [
      'step=61',
      'step=30',
      'step=x',
      'step=172800',
      'from=yesterday',
      `${to}&from=2026-02-01T00:00:00Z`,
    ]) {
      expect((await read(`${path}/series?${wrong}`)).error).toBe('validation_error');
    }
    expect((await read(`${path}/series?${from}&${to}&step=60`)).message).toContain('step');
    expect((await read(`${path}/series?${from}&${to}`)).step).toBe(900);
    expect((await read(`/host/example/webhooks/series?${from}&${to}`)).error).toBe('validation_error');
  });
});

describe(covers('webhooks.dead-letters.counted'), () => {
  test('dead letters are counted by type, status, subscription and time, with the filter of a redrive', async () => {
    const first = await owned(['run.completed', 'run.started']);
    const second = await owned();
    host.receiver.answer = 500;
    await run();
    const counts = (path: string, query = '') => read(`${path}/dead-letters/facets${query}`);
    const all = '/host/example/webhooks';
    await eventually(async () => (await counts(all)).matching === 3);
    host.receiver.answer = 404;
    await run();
    await eventually(async () => (await counts(all)).matching === 6);
    expect(await counts(all)).toMatchObject({
      ...{ lookedAt: 6, isComplete: true, step: 3600 },
      eventTypes: [
        { type: 'run.completed', count: 4 },
        { type: 'run.started', count: 2 },
      ],
      statuses: [
        { status: 404, count: 3 },
        { status: 500, count: 3 },
      ],
      subscriptions: [
        { webhookId: first.webhookId, count: 4 },
        { webhookId: second.webhookId, count: 2 },
      ],
    });
    const own = await counts(first.path, '?types=run.started&statuses=404,0&step=86400');
    expect(own).toMatchObject({ matching: 1, lookedAt: 4, statuses: [{ status: 404, count: 1 }] });
    expect(own.subscriptions).toBeUndefined();
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await counts(first.path, `?since=${later}`)).toMatchObject({ matching: 0, lookedAt: 4, times: [] });
    const filter = { types: ['run.completed'], until: later, dryRun: true };
    const counted = await host.call(`${first.path}/dead-letters/redrive-matching`, { body: filter });
    expect(await counts(first.path, `?types=run.completed&until=${later}`)).toMatchObject(counted.body);
    for (const wrong of ['types=', 'statuses=5xx', 'since=now', 'step=61', `types=${'a,'.repeat(101)}a`]) {
      expect((await counts(first.path, `?${wrong}`)).error).toBe('validation_error');
    }
  });
});

test(`${covers('webhooks.deliveries.series', 'webhooks.dead-letters.counted')} access depends on scope, tenant and workspace`, async () => {
  const { path, webhookId } = await owned();
  host.receiver.answer = 500;
  await run();
  await eventually(async () => (await read(`${path}/dead-letters/facets`)).matching === 1);
  for (const suffix of ['/series', '/dead-letters/facets']) {
    expect((await host.call(path + suffix, { key: WIDE })).status).toBe(200);
    expect((await host.call(path + suffix, { key: READER })).status).toBe(403);
    expect((await host.call(path + suffix, { key: DEV })).status).toBe(403);
    expect((await host.call(path + suffix, { key: OTHER_TENANT })).status).toBe(404);
    const foreign = await host.call(`/host/example/webhooks/umbrella~2F${webhookId}${suffix}`);
    expect(foreign.body.error).toBe('id_tenant_mismatch');
    expect((await host.call(`/host/example/webhooks${suffix}`, { key: READER })).status).toBe(403);
  }
  for (const key of [DEV, OTHER_TENANT]) {
    const facets = await read('/host/example/webhooks/dead-letters/facets', key);
    expect(facets).toMatchObject({ matching: 0, lookedAt: 0, subscriptions: [], isComplete: true });
  }
});

describe(covers('webhooks.answers.captured'), () => {
  const deadLetter = async (path: string) => {
    await run();
    await eventually(async () => (await read(`${path}/dead-letters/facets`)).matching === 1);
    const { deliveries } = await read(`${path}/deliveries?state=dead-lettered`);
    return `${path}/deliveries/${deliveries[0].deliveryId}`;
  };
  const failing = (text: string) => {
    host.receiver.answer = 500;
    host.receiver.answerHeaders = { 'content-type': 'text/plain', 'set-cookie': 'session=1', 'x-request-id': 'req-1' };
    host.receiver.answerBody = (body, headers) =>
      `${text} ${headers['webhook-signature'] ?? headers['x-svc-signature']} ${body}`;
  };

  test('no answer is stored unless the host is configured to', async () => {
    const { path } = await owned();
    failing('no such table');
    const { lastAttempts } = await read(await deadLetter(path));
    expect(lastAttempts).toMatchObject([{ status: 500 }, { status: 500 }]);
    expect(JSON.stringify(lastAttempts)).not.toContain('table');
  });

  test('a captured answer is shown with its attempt, encrypted at rest and without secrets and payload', async () => {
    await host.reboot({ captureAnswers: {} });
    const { path } = await owned();
    failing('no such table');
    const detail = await deadLetter(path);
    const { lastAttempts } = await read(detail);
    expect(lastAttempts).toHaveLength(2);
    for (const { answer } of lastAttempts) {
      expect(answer.body).toMatch(/^no such table /);
      for (const secret of ['sha256=', 'v1,', 'runId', 'outputs']) expect(answer.body).not.toContain(secret);
      expect(answer.headers).toMatchObject({ 'content-type': 'text/plain', 'x-request-id': 'req-1' });
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    for (const file of ['', '-wal']) expect(host.kept(file)).not.toContain('no such table');
    expect(JSON.stringify(await read(path))).not.toContain('no such table');
    expect((await host.call(detail, { key: DEV })).status).toBe(403);
    expect((await host.call(detail, { key: OTHER_TENANT })).status).toBe(404);
  });
});
