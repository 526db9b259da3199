import { EventEmitter, once } from 'node:events';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, DELIVERY_JSON_SCHEMAS, type WorkflowEngine } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { covers } from '@svc/tools/covers';
import { strictValidator } from '@svc/tools/json-schema';
import { EVENT_TYPES_V2 } from '@svc/webhook-verify/events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const KEY = 'operator-key-of-the-schema-0123456789';
const problemsOf = strictValidator(DELIVERY_JSON_SCHEMAS[2]);

/** The types that no feature of the kit records. */
const NEVER = ['run.resume-started', 'run.restored-from-snapshot', 'run.dead-lettered'];

/** Executes the workflow of each name as the tests need it. */
const engine: WorkflowEngine = {
  forks: ['replay'],
  interrupts: ['approval', 'clarification'],
  async execute({ workflowId, inputs }, { append, artifact, interrupt, until, replayed }) {
    const nodeId = 'n';
    if (workflowId === 'fail') {
      const error = { code: 'acme.broken', message: 'It broke.', details: { at: [1] }, retryable: false };
      return { status: 'failed', error, failedNodeId: nodeId };
    }
    if (workflowId === 'wait') {
      await append({ type: 'node.started', nodeId, payload: { nodeId, typeId: 'acme.wait', attempt: 0 } });
      await until(Date.now() + 60_000);
    }
    if (workflowId === 'ask') {
      const data = { artifactId: 'art', artifactType: 'text', title: 'Publish?' };
      await interrupt({ nodeId, key: 'publish', kind: 'approval', data, timeoutMs: 60_000, resumeSchema: {} });
    }
    if (workflowId === 'question') {
      const data = { questions: [{ id: 'q', question: 'Which?' }] };
      await interrupt({ nodeId, key: 'which', kind: 'clarification', data });
    }
    if (workflowId === 'work' && replayed === undefined) {
      await append({ type: 'log.appended', payload: { level: 'info', message: 'x', fields: { any: [null] } } });
      await append({ type: 'output.chunk', nodeId, payload: { nodeId, chunk: 'any' } });
      await artifact({ artifactType: 'text', nodeId, content: 'x', summary: 'a text' });
    }
    return { status: 'completed', outputs: inputs };
  },
};

const bodies: string[] = [];
/** Emits `delivery` for each body. */
const deliveries = new EventEmitter();
const scopes = ['runs:create', 'runs:read', 'runs:cancel', 'approvals:respond', 'webhooks:manage'];
const keys = memoryKeyStore([
  {
    id: 'key_1',
    hash: hashApiKey(KEY),
    tenant: 'acme',
    workspaces: ['acme-prod'],
    principal: 'p_1',
    scopes,
    mode: 'live',
  },
  {
    id: 'key_2',
    hash: hashApiKey(`${KEY}-wide`),
    tenant: 'acme',
    workspaces: 'all',
    principal: 'p_2',
    scopes,
    mode: 'live',
  },
]);
const host = createHost({
  store: memoryStore(),
  authenticate: [apiKeyLane({ keys })],
  engine,
  secretKey: new Uint8Array(32),
  authorization: { hasWorkspace: () => true },
  ports: {
    async transport({ body }) {
      bodies.push(new TextDecoder().decode(body));
      deliveries.emit('delivery');
      return { kind: 'answered', status: 204, retryAfter: undefined, durationMs: 1 };
    },
  },
});

async function call(path: string, body?: object, key = KEY) {
  const request = new Request(`http://host.test${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'svc-version': '2',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const response = await host.fetch(request);
  const answer = await response.json();
  if (response.status >= 300) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}

const start = async (workflowId: string, fields: object = {}, key = KEY): Promise<string> =>
  (await call('/runs', { workflowId, ...fields }, key)).statusUrl;

/** Waits until a run has a status. Every change of status is an event, and is delivered after its commit. */
async function comesTo(url: string, status: string, key = KEY): Promise<void> {
  for (;;) {
    const next = once(deliveries, 'delivery');
    const run = await call(url, undefined, key);
    if (run.status === status) return;
    await next;
  }
}

beforeAll(async () => {
  await host.start();
  const hook = { url: 'https://hooks.example/', events: [...EVENT_TYPES_V2].filter((type) => !NEVER.includes(type)) };
  await call('/webhooks', hook, `${KEY}-wide`);

  const work = await start('work', { inputs: { a: [1, null] }, tags: ['t'], metadata: { m: true } });
  await comesTo(work, 'completed');
  await comesTo(await start('work', {}, `${KEY}-wide`), 'completed', `${KEY}-wide`);
  await comesTo(await start('fail'), 'failed');
  for (const action of ['accept', 'reject']) {
    const asked = await start('ask');
    await comesTo(asked, 'waiting-approval');
    await call(`${asked}/interrupts/n`, { resumeValue: { action, feedback: 'so be it' } });
    await comesTo(asked, 'completed');
  }
  const question = await start('question');
  await comesTo(question, 'waiting-input');
  await call(`${question}/interrupts/n`, { resumeValue: { q: 'this one' } });
  await comesTo(question, 'completed');
  const waiting = await start('wait');
  await comesTo(waiting, 'running');
  await call(`${waiting}:pause`, { reason: 'lunch', drainPolicy: 'immediate' });
  await comesTo(waiting, 'paused');
  await call(`${waiting}:resume`, { reason: 'back' });
  await comesTo(waiting, 'running');
  await call(`${waiting}/cancel`, { reason: 'enough' });
  await comesTo(waiting, 'cancelled');
  // A replay delivers nothing. If it did, its deliveries would have come when the next run has completed.
  await call(`${work}:fork`, { mode: 'replay', fromSeq: 1 });
  await comesTo(await start('work'), 'completed');
});
afterAll(() => host.stop(0));

describe(covers('webhooks.body.v2-schema-valid'), () => {
  test('every delivery of the host matches the published schema', async () => {
    const invalid = bodies.flatMap((body) => {
      const problems = problemsOf(JSON.parse(body));
      return problems.length === 0 ? [] : [{ body, problems }];
    });
    expect(invalid).toEqual([]);
    const types = new Set(bodies.map((body) => JSON.parse(body).event.type));
    const recorded = [
      ...['run.started', 'run.completed', 'run.failed', 'run.cancelled', 'run.paused', 'run.resumed'],
      ...['node.started', 'node.suspended', 'node.resumed', 'node.cancelled'],
      ...['interrupt.requested', 'interrupt.resolved', 'clarification.requested', 'clarification.resolved'],
      ...['approval.requested', 'approval.received', 'approval.granted', 'approval.rejected'],
      ...['artifact.created', 'log.appended', 'output.chunk'],
    ];
    expect([...types]).toEqual(expect.arrayContaining(recorded));
    // The schema also allows a run of the whole tenant, which has no workspace.
    expect(new Set(bodies.map((body) => 'workspaceId' in JSON.parse(body)))).toEqual(new Set([true, false]));
  });

  test('the schema has an identifier of major 2', () => {
    expect(DELIVERY_JSON_SCHEMAS[2]).toMatchObject({
      $id: expect.stringContaining('/spec/v2/'),
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      additionalProperties: false,
    });
  });

  const completed = () => JSON.parse(bodies.find((body) => body.includes('"run.completed"')) ?? '{}');

  test.each<[string, (body: ReturnType<typeof completed>) => void]>([
    ['a bare run id', (body) => (body.runId = body.runId.split('/')[1])],
    ['a bare run id in the event', (body) => (body.event.runId = body.event.runId.split('/')[1])],
    ['an unknown member', (body) => (body.tenant = 'acme')],
    ['an unknown member in the event', (body) => (body.event.extra = 1)],
    ['an unknown member in a payload of the kit', (body) => (body.event.payload.extra = 1)],
    ['no outputs', (body) => delete body.event.payload.outputs],
    ['no event id', (body) => delete body.event.eventId],
    ['no schema version', (body) => delete body.event.schemaVersion],
    ['an engine version as text', (body) => (body.event.engineVersion = '1')],
    ['a name of major 1', (body) => (body.event.type = 'run.dead_lettered')],
    ['an empty workspace id', (body) => (body.workspaceId = '')],
  ])('the schema rejects a body with %s', (_what, change) => {
    const body = completed();
    expect(problemsOf(body)).toEqual([]);
    change(body);
    expect(problemsOf(body)).not.toEqual([]);
  });
});
