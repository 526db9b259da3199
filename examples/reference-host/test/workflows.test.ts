import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

interface LoggedEvent {
  readonly type: string;
  readonly sequence: number;
  readonly payload: { readonly message: string; readonly outputs: unknown };
}

let host: AcmeHost;
const site = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' }).end('from the site');
});

beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  host = await startAcme({}, { egress: { allowLoopback: [portOf()] } });
});
afterAll(async () => {
  await host.stop();
  site.close();
});

function portOf(): number {
  const address = site.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function started(workflowId: string, inputs: object): Promise<string> {
  const { status, body } = await host.call('/v1/runs', { body: { workflowId, inputs } });
  expect(status).toBe(201);
  return body.runId;
}

async function ended(runId: string) {
  await eventually(async () => /^(?:completed|failed|cancelled)$/.test((await read(runId)).status));
  return read(runId);
}

const read = async (runId: string) => (await host.call(`/v1/runs/${runId}`)).body;
const log = async (runId: string, after = '') =>
  (await host.call(`/v1/runs/${runId}/events/poll?timeout=1${after}`)).body.events as LoggedEvent[];

describe('burst', () => {
  test('writes its lines in order, and goes on after the last one when the host dies', async () => {
    const runId = await started('burst', { events: 5000 });
    await eventually(async () => (await log(runId)).length > 100);
    await host.crash();
    await ended(runId);
    const messages: string[] = [];
    for (let after = ''; ; ) {
      const events = await log(runId, after);
      for (const { type, payload } of events) if (type === 'log.appended') messages.push(payload.message);
      const last = events.at(-1);
      if (last === undefined || last.type === 'run.completed') break;
      after = `&lastSequence=${last.sequence}`;
    }
    expect(messages).toEqual(Array.from({ length: 5000 }, (_, index) => `line ${index}`));
  });

  test.each([-1, 1.5, 100_001, '5'])('%j lines are refused', async (events) => {
    const { status } = await host.call('/v1/runs', { body: { workflowId: 'burst', inputs: { events } } });
    expect(status).toBe(400);
  });
});

describe('fetch', () => {
  test('gets what the URL answers', async () => {
    const runId = await started('fetch', { url: `http://127.0.0.1:${portOf()}/` });
    await ended(runId);
    const completed = (await log(runId)).find(({ type }) => type === 'run.completed');
    expect(completed?.payload.outputs).toMatchObject({ status: 200, contentType: 'text/plain', body: 'from the site' });
  });

  test.each([
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.8/',
    'http://127.0.0.1:1/',
    'file:///etc/passwd',
  ])('%s fails the run, and tells nothing of the inside', async (url) => {
    const run = await ended(await started('fetch', { url }));
    expect(run).toMatchObject({ status: 'failed', error: { code: 'egress_denied' } });
    expect(JSON.stringify(run.error)).not.toMatch(/link-local|private|loopback|ECONN/i);
  });
});

test('the workflows of black-box suites are there, as discovery says', async () => {
  const discovery = (await host.call('/.well-known/svc', { major: '2' })).body;
  expect(discovery.fixtures).toContain('conformance-noop');
  const inputs: Record<string, object> = {
    'conformance-delay': { delayMs: 5 },
    'conformance-cancellable': { delayMs: 5 },
    'conformance-idempotent': { nonce: 'n' },
  };
  const expected: Record<string, string> = { 'conformance-failure': 'failed' };
  for (const workflowId of discovery.fixtures.filter((name: string) => name !== 'conformance-approval')) {
    const run = await ended(await started(workflowId, inputs[workflowId] ?? {}));
    expect([workflowId, run.status]).toEqual([workflowId, expected[workflowId] ?? 'completed']);
  }
});
