import { covers } from '@svc/tools/covers';
import { afterEach, describe, expect, test } from 'vitest';
import { METRICS, type Metric } from '../../src/telemetry/metrics.ts';
import { CLEANUP, eventually, KEY, watchedHost } from './watched-host.ts';

afterEach(async () => {
  for (const clean of CLEANUP.splice(0)) await clean();
});

/** Words that the test puts into the host. None of them occurs anywhere else. */
const SEEDED = {
  'the API key': KEY,
  'the name of the key': 'hyacinth',
  'the tenant': 'amaryllis',
  'the workspace': 'begonia',
  'the principal': 'camellia',
  'the host name': 'daffodil',
  'the name of the receiver': 'edelweiss',
  'the path of the receiver': 'inbox',
  'a token in the URL of the receiver': 'forsythia',
  'an input of a run': 'gardenia',
  'a tag': 'iris',
  'a path of nothing': 'jasmine',
  'a query': 'kalmia',
  'a method': 'LAVENDER',
  'an id that the caller made up': 'magnolia',
  'a workflow': 'narcissus',
  'a header': 'orchid',
  'the message of an error': 'peony',
  'a baggage': 'quince',
  'a state of the caller': 'rosemary',
  'an event type of the engine': 'sorrel',
  'the reason of a foreign transport': 'thistle',
};

async function busyHost() {
  const watched = await watchedHost({
    webhooks: { durable: true, retryPolicy: { maxAttempts: 2, backoff: 'none', delayMs: 0, maxDelayMs: 0 } },
  });
  const { call, register, run } = watched;
  const webhookId = await register({ url: 'https://hooks-edelweiss.example/inbox?token=forsythia', tags: ['iris'] });
  const headers = { 'x-orchid': 'orchid', baggage: 'quince=quince', tracestate: 'rosemary=1' };
  const delivered = await run({ inputs: { gardenia: 'gardenia' }, tags: ['iris'], workflowId: 'narcissus' });
  await eventually(() => watched.posts.length === 1);
  watched.verdict = { kind: 'failed', reason: 'thistle at 10.0.0.7' };
  await run({ tags: ['iris'], inputs: { fail: false } });
  await eventually(() => watched.posts.length === 3);
  await run({ inputs: { fail: true } });
  await call(`/v1/runs/${delivered}?after=kalmia`, { headers });
  await call('/v1/runs/run_magnolia');
  await call('/v1/runs/%6Dagnolia', { headers: { authorization: 'Bearer of-magnolia' } });
  await call('/v1/jasmine?kalmia');
  await call('/jasmine', { method: 'LAVENDER' });
  await call('/v1/runs', { body: { workflowId: 7, peony: 'gardenia' } });
  await call(`/host/example/webhooks/${webhookId}/pause`, { method: 'POST' });
  await call('/host/example/webhooks/magnolia');
  const sorrel = watched.host.events.append(delivered, { type: 'sorrel.bloomed', payload: 'peony' });
  await expect(sorrel).rejects.toThrow('The run has ended');
  const secret = `${watched.posts[0]?.headers['svc-signature'] ?? watched.posts[0]?.headers['SVC-Signature']}`;
  return { ...watched, secret };
}

describe(covers('auth.audit.telemetry-content-free'), () => {
  test('exports no text that came from a caller, a receiver or an engine', async () => {
    const { exported, secret, spans } = await busyHost();
    const text = await exported();
    expect(spans().length).toBeGreaterThan(10);
    expect(text).toContain('svc.webhook.attempt.duration');
    const leaked = Object.entries(SEEDED).filter(([, word]) => text.toLowerCase().includes(word.toLowerCase()));
    expect(leaked.map(([what]) => what)).toEqual([]);
    expect(secret).toMatch(/^sha256=/);
    expect(text).not.toContain(secret);
    expect(text).not.toMatch(/https?:\/\//);
  });

  test('no metric has an attribute that METRICS does not list', async () => {
    const { series } = await busyHost();
    for (const { name, attributes } of Object.values<Metric>(METRICS)) {
      const keys = new Set((await series(name)).flatMap((each) => Object.keys(each.attributes)));
      expect(
        [...keys].filter((key) => !attributes.includes(key)),
        name,
      ).toEqual([]);
    }
  });

  test('the number of series does not grow with callers, runs, receivers or mistakes', async () => {
    const { call, register, run, series, posts } = await watchedHost();
    const round = async (turn: number) => {
      await register({ url: `https://receiver-${turn}.example/${turn}` });
      await run({ inputs: { turn } });
      await call(`/v1/runs/run_${turn}`);
      await call(`/nothing/${turn}`);
      await call(`/v1/runs/run_${turn}`, { method: `METHOD${turn}` });
    };
    const counts = async () => {
      const names = Object.values(METRICS).map(({ name }) => name);
      return Promise.all(names.map(async (name) => [name, (await series(name)).length]));
    };
    await round(0);
    await eventually(() => posts.length === 1);
    await eventually(async () => (await series('svc.audit.checkpoints')).length === 1);
    const before = await counts();
    for (let turn = 1; turn <= 20; turn++) await round(turn);
    await eventually(() => posts.length === 231);
    expect(await counts()).toEqual(before);
  });
});
