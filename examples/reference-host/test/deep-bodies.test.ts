import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, BYOK, FILES, KEY, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost;
beforeAll(async () => {
  host = await startAcme({});
});
afterAll(() => host.stop());

/** Sends a body as text. `JSON.stringify` overflows the stack on a value that is deep enough. */
async function send(path: string, body: string, options: { key?: string; method?: string; major?: string } = {}) {
  const { key = KEY, method = 'POST', major = '1' } = options;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'svc-version': major };
  const response = await fetch(host.url() + path, { method, headers, body });
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
}

const arrays = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const RUN = 'run_01k0p3v5tq9d8m2x4c6b8n0r1s';

describe('refuses a body with more than 64 levels of nesting:', () => {
  const deep = arrays(100_000);
  test.each<[string, string, string, Parameters<typeof send>[2]?]>([
    ['one level too many', '/v1/runs', `{"workflowId":"echo","inputs":${objects(64)}}`],
    ['inputs', '/v1/runs', `{"workflowId":"echo","inputs":{"a":${deep}}}`],
    ['inputs in major 2', '/runs', `{"workflowId":"echo","inputs":${objects(50_000)}}`, { major: '2' }],
    ['metadata', '/v1/runs', `{"workflowId":"echo","metadata":{"a":${deep}}}`],
    ['an unknown member', '/v1/runs', `{"workflowId":"echo","x":${deep}}`],
    ['nothing but brackets', '/v1/runs', arrays(500_000)],
    ['brackets without an end', '/v1/runs', '['.repeat(1_000_000)],
    ['an answer', `/v1/runs/${RUN}/interrupts/gate`, `{"resumeValue":${deep}}`],
    ['a pause', `/v1/runs/${RUN}:pause`, `{"reason":${deep}}`],
    ['a subscription', '/v1/webhooks', `{"url":${deep}}`],
    ['a file', '/v1/host/workspace/files/a.md', `{"content":${deep}}`, { key: FILES, method: 'PUT' }],
    ['a secret', '/host/example/byok/secrets/a', `{"value":${deep}}`, { key: BYOK, method: 'PUT' }],
    ['a redrive', '/host/example/webhooks/whk_x/dead-letters/redrive', `{"deliveryIds":${deep}}`],
  ])('%s', async (_name, path, body, options) => {
    const answer = await send(path, body, options);
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ error: 'validation_error', message: expect.stringContaining('64 levels') }),
    ]);
    expect(answer.text.length).toBeLessThan(500);
  });

  test('logs no error for such bodies', () => {
    expect(host.stderr().filter((line) => line.includes('request.failed'))).toEqual([]);
  });
});

test('accepts a body with 64 levels: its run is executed, read and listed', async () => {
  const inputs = JSON.parse(objects(63));
  const created = await send('/v1/runs', JSON.stringify({ workflowId: 'echo', inputs }));
  expect(created.status).toBe(201);
  const run = `/v1/runs/${created.body.runId}`;
  await eventually(async () => (await host.call(run)).body.status === 'completed');
  const { body } = await host.call(`${run}/events/poll`);
  expect(body.events[0].payload.inputs).toEqual(inputs);
  expect(body.events.at(-1)).toMatchObject({ type: 'run.completed' });
});

test('does not count brackets in a string', async () => {
  const inputs = { text: '["{'.repeat(1000), [`${'{'.repeat(100)}"`]: '\\"[' };
  expect((await send('/v1/runs', JSON.stringify({ workflowId: 'echo', inputs }))).status).toBe(201);
});
