import { SendMessageRequest, type StreamResponse, type Task, TaskPushNotificationConfig, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, OTHER_TENANT, READER, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

const AGENT = 'operator_brought_key_of_an_a2a_client_xy';
let host: AcmeHost;
let client: Client;

beforeAll(async () => {
  host = await startAcme(
    { durable: true, retryPolicy: { maxAttempts: 3, backoff: 'fixed', delayMs: 20 } },
    { apiKeys: [...KEYS] },
  );
  client = await clientOf(AGENT);
});
afterAll(() => host.stop());

const SCOPES = ['runs:create', 'runs:read', 'runs:cancel', 'artifacts:read', 'approvals:respond', 'webhooks:manage'];
const KEYS = [
  { id: 'agent', key: AGENT, scopes: SCOPES },
  { id: 'narrow', key: KEY, scopes: ['runs:create', 'runs:read'] },
  { id: 'reader', key: READER, scopes: ['runs:read'] },
  { id: 'stranger', key: OTHER_TENANT, tenant: 'umbrella', workspaces: ['hive'], scopes: SCOPES },
].map((key) => ({ tenant: 'acme', workspaces: ['acme-prod'], principal: `p_${key.id}`, ...key }));

const CARD = '/host/example/a2a/.well-known/agent-card.json';

/** Makes the official client from the agent card. */
async function clientOf(key: string): Promise<Client> {
  const fetchImpl = withKey(key);
  const card = await (await fetch(host.url() + CARD)).json();
  return new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] }).createFromAgentCard(card);
}

function withKey(key: string): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
}

let messages = 0;
function asking(workflowId: string, data: object, others: object = {}): SendMessageRequest {
  return SendMessageRequest.fromJSON({
    message: {
      messageId: `m-${messages++}`,
      role: 'ROLE_USER',
      parts: [{ data }],
      metadata: { workflowId },
      ...others,
    },
  });
}

async function taskFor(workflowId: string, data: object, others?: object): Promise<Task> {
  const answer = await client.sendMessage(asking(workflowId, data, others));
  if (!('status' in answer)) throw new Error('The response is not a task.');
  return answer;
}

function outputsIn({ artifacts }: Task): unknown {
  return artifacts.find(({ artifactId }) => artifactId === 'outputs')?.parts[0]?.content?.value;
}

function statesOf(updates: readonly StreamResponse[]): (TaskState | undefined)[] {
  return updates.flatMap(({ payload }) =>
    payload?.$case === 'task' || payload?.$case === 'statusUpdate' ? [payload.value.status?.state] : [],
  );
}

describe('a task of the official client, in A2A 1.0', () => {
  test('is a run with the inputs of the message, and has the outputs of the run', async () => {
    const task = await taskFor('echo', { text: 'hello' }, { contextId: 'ctx-1' });
    expect(task).toMatchObject({ contextId: 'ctx-1', status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(outputsIn(task)).toEqual({ text: 'hello' });
    const run = await host.call(`/v1/runs/${task.id}`, { key: AGENT });
    expect(run.body).toMatchObject({ runId: task.id, status: 'completed' });
  });

  test(`${covers('operations.host.a2a-durable')} is unchanged after a crash and restart of the host`, async () => {
    const before = await host.killAfter(async () => {
      client = await clientOf(AGENT);
      return taskFor('echo', { text: 'kept' });
    });
    client = await clientOf(AGENT);
    expect(await client.getTask({ tenant: '', id: before.id })).toEqual(before);
  });

  test('is streamed from its first state to its last', async () => {
    const updates: StreamResponse[] = [];
    for await (const update of client.sendMessageStream(asking('delay', { ms: 30 }))) updates.push(update);
    const states = statesOf(updates);
    expect(states.at(0)).toBe(TaskState.TASK_STATE_SUBMITTED);
    expect(states.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  test('is streamed to its end for a client that subscribes later', async () => {
    // It ends when the subscription has begun, and not before.
    const request = asking('delay', { ms: 60_000 });
    const task = await client.sendMessage({ ...request, configuration: { ...NOW } });
    if (!('status' in task)) throw new Error('The response is not a task.');
    const updates: StreamResponse[] = [];
    for await (const update of client.resubscribeTask({ tenant: '', id: task.id })) {
      updates.push(update);
      if (updates.length === 1) await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    }
    expect(updates.length).toBeGreaterThan(1);
    expect(statesOf(updates).at(-1)).toBe(TaskState.TASK_STATE_CANCELED);
  });

  test('is refused to a client with a wrong credential', async () => {
    const wrong = await clientOf('a-key-that-this-host-never-issued-000000');
    await expect(wrong.getTask({ tenant: '', id: 'x' })).rejects.toThrow(/unauthenticated|401|credential/i);
    await expect(wrong.resubscribeTask({ tenant: '', id: 'x' }).next()).rejects.toThrow();
  });

  test('has the error message of a failed run', async () => {
    const task = await taskFor('fail', { message: 'as asked' });
    expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
    expect(task.status?.message?.parts[0]?.content).toEqual({ $case: 'text', value: 'as asked' });
  });

  test('is not streamed to a client that subscribes when it is unknown, ended or cancelled', async () => {
    const ended = await taskFor('echo', {});
    const cancelled = await cancelledTask();
    const subscribed = async (id: string) => {
      for await (const _ of client.resubscribeTask({ tenant: '', id }));
    };
    await expect(subscribed('run_00000000000000000000000000')).rejects.toThrow('There is no such task.');
    await expect(subscribed('no run id/at all')).rejects.toThrow('There is no such task.');
    for (const { id } of [ended, cancelled]) await expect(subscribed(id)).rejects.toThrow('The task has ended');
    const stranger = await clientOf(OTHER_TENANT);
    const foreign = stranger.resubscribeTask({ tenant: '', id: ended.id });
    await expect(foreign.next()).rejects.toThrow('There is no such task.');
  });

  test('that waits for an answer has the question as its message', async () => {
    const asked = await taskFor('approval', { title: 'Ship it on Friday?' });
    const question = { kind: 'approval', data: { title: 'Ship it on Friday?', actions: expect.any(Array) } };
    const parts = [
      { content: { $case: 'text', value: 'Ship it on Friday?' } },
      { content: { $case: 'data', value: question } },
    ];
    expect(asked.status).toMatchObject({ state: TaskState.TASK_STATE_INPUT_REQUIRED, message: { parts } });
    expect((await client.getTask({ tenant: '', id: asked.id })).status?.message).toMatchObject({ parts });
    const updates: StreamResponse[] = [];
    for await (const update of client.sendMessageStream(asking('approval', { title: 'Ship it on Friday?' })))
      updates.push(update);
    expect(updates.at(-1)?.payload).toMatchObject({ $case: 'statusUpdate', value: { status: { message: { parts } } } });
  });

  test('is cancelled by cancelTask', async () => {
    const task = await client.sendMessage({ ...asking('delay', { ms: 60_000 }), configuration: { ...NOW } });
    if (!('status' in task)) throw new Error('The response is not a task.');
    await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
    await eventually(async () => {
      const now = await client.getTask({ tenant: '', id: task.id });
      return now.status?.state === TaskState.TASK_STATE_CANCELED;
    });
  });

  test('waits for input and resumes with the answer', async () => {
    const asked = await taskFor('approval', { title: 'Ship it?' });
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    // The agent's message has the question, although `approval.requested` follows `interrupt.requested` in the log.
    expect(JSON.stringify(asked.status?.message?.parts)).toContain('Ship it?');
    const answered = await taskFor('', { action: 'accept' }, { taskId: asked.id, contextId: asked.contextId });
    expect(answered).toMatchObject({ id: asked.id, status: { state: TaskState.TASK_STATE_COMPLETED } });
  });

  test('has the artifacts of its run', async () => {
    const { artifacts } = await taskFor('artifact', { content: 'a report' });
    expect(artifacts.some(({ parts }) => JSON.stringify(parts).includes('a report'))).toBe(true);
  });

  test('is not found by another tenant, like a task that does not exist', async () => {
    const { id } = await taskFor('echo', {});
    const stranger = await clientOf(OTHER_TENANT);
    await expect(stranger.getTask({ tenant: '', id })).rejects.toThrow('There is no such task.');
    await expect(client.getTask({ tenant: '', id: 'run_00000000000000000000000000' })).rejects.toThrow(
      'There is no such task.',
    );
  });
});

const NOW = {
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
  historyLength: undefined,
  returnImmediately: true,
};

async function cancelledTask(): Promise<Task> {
  const task = await client.sendMessage({ ...asking('delay', { ms: 60_000 }), configuration: { ...NOW } });
  if (!('status' in task)) throw new Error('The response is not a task.');
  await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
  await eventually(async () => {
    const now = await client.getTask({ tenant: '', id: task.id });
    return now.status?.state === TaskState.TASK_STATE_CANCELED;
  });
  return task;
}

describe('the list of tasks', () => {
  const ALL = { tenant: '', contextId: '', status: 0, pageToken: '', statusTimestampAfter: undefined };

  test('has the tasks of a context in pages, newest first, without artifacts', async () => {
    const ids: string[] = [];
    for (const text of ['1', '2', '3']) ids.unshift((await taskFor('echo', { text }, { contextId: 'ctx-list' })).id);
    await taskFor('echo', {}, { contextId: 'ctx-other' });
    const first = await client.listTasks({ ...ALL, contextId: 'ctx-list', pageSize: 2 });
    expect(first.tasks.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(first).toMatchObject({ pageSize: 2, totalSize: 3 });
    expect(first.tasks[0]?.artifacts).toEqual([]);
    const second = await client.listTasks({
      ...ALL,
      ...{ contextId: 'ctx-list', pageSize: 2, pageToken: first.nextPageToken },
      ...{ includeArtifacts: true, historyLength: 0 },
    });
    expect(second.tasks).toMatchObject([{ id: ids[2], artifacts: [{ artifactId: 'outputs' }], history: [] }]);
    expect(second).toMatchObject({ nextPageToken: '', totalSize: 3 });
  });

  test('has the tasks of a state', async () => {
    const failed = await taskFor('fail', {}, { contextId: 'ctx-failed' });
    await taskFor('echo', {}, { contextId: 'ctx-failed' });
    const query = { ...ALL, contextId: 'ctx-failed', status: TaskState.TASK_STATE_FAILED };
    expect((await client.listTasks(query)).tasks.map(({ id }) => id)).toEqual([failed.id]);
  });

  test('has no task of another tenant', async () => {
    await taskFor('echo', {});
    const stranger = await clientOf(OTHER_TENANT);
    expect(await stranger.listTasks({ ...ALL })).toMatchObject({ tasks: [], totalSize: 0, nextPageToken: '' });
  });

  test.each([
    { pageSize: 0 },
    { pageSize: 101 },
    { pageToken: 'of another agent' },
    { historyLength: -1 },
    { statusTimestampAfter: 'yesterday' },
    { statusTimestampAfter: '2026-01-31T12:00' },
  ])('is refused for %j', async (fields) => {
    await taskFor('echo', {});
    await expect(client.listTasks({ ...ALL, ...fields })).rejects.toThrow(Object.keys(fields)[0]);
  });
});

describe('the agent card', () => {
  test.each(['', '/host/example/a2a', '/host/example/a2a/', '/v1/host/example/a2a/'])(
    'is found by a client that knows the URL <origin>%s',
    async (path) => {
      const fetchImpl = withKey(AGENT);
      const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] });
      const found = await factory.createFromUrl(host.url() + path);
      const task = await found.sendMessage(asking('echo', { text: path }));
      expect(task).toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED } });
    },
  );
});

describe('a push', () => {
  const config = (fields: object) =>
    TaskPushNotificationConfig.fromJSON({ url: host.receiver.url, token: 'known-to-the-receiver', ...fields });

  test('sends each change of the task, with the configured token and credentials', async () => {
    const { receiver } = host;
    receiver.answer = 200;
    const before = receiver.bodies.length;
    const request = asking('delay', { ms: 20 });
    const taskPushNotificationConfig = config({ authentication: { scheme: 'Bearer', credentials: 'of-the-client' } });
    const task = await client.sendMessage({ ...request, configuration: { ...NOW, taskPushNotificationConfig } });
    if (!('status' in task)) throw new Error('The response is not a task.');
    const pushed = () =>
      receiver.bodies
        .slice(before)
        .map((body) => JSON.parse(String(body)))
        .filter((body) => body.task?.id === task.id);
    await eventually(() => pushed().some((body) => body.task.status.state === 'TASK_STATE_COMPLETED'));
    expect(receiver.headers.at(-1)).toMatchObject({
      'content-type': 'application/a2a+json',
      'x-a2a-notification-token': 'known-to-the-receiver',
      authorization: 'Bearer of-the-client',
    });
    // The configuration is listed without its token and credentials.
    const { configs } = await client.listTaskPushNotificationConfig({
      tenant: '',
      taskId: task.id,
      pageSize: 0,
      pageToken: '',
    });
    expect(configs).toMatchObject([{ url: receiver.url, token: '' }]);
    expect(JSON.stringify(configs)).not.toContain('of-the-client');
  });

  test('is retried like a delivery', async () => {
    const { receiver } = host;
    receiver.answer = 500;
    const before = receiver.statuses.length;
    const taskPushNotificationConfig = config({});
    const request = asking('echo', {});
    await client.sendMessage({ ...request, configuration: { ...NOW, taskPushNotificationConfig } });
    await eventually(() => receiver.statuses.length > before + 1);
    receiver.answer = 200;
  });

  test.each(['http://169.254.169.254/latest', 'https://10.0.0.8/', 'ftp://example.com/', 'https://localhost/'])(
    `${covers('operations.host.a2a-push-guarded')}: rejects the URL %s`,
    async (url) => {
      const task = await taskFor('echo', {});
      const asked = TaskPushNotificationConfig.fromJSON({ taskId: task.id, url });
      await expect(client.createTaskPushNotificationConfig(asked)).rejects.toThrow('refused');
    },
  );
});

const rpc = async (body: unknown, { key = AGENT, headers = {} }: { key?: string; headers?: object } = {}) => {
  const response = await fetch(`${host.url()}/host/example/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== '' && { authorization: `Bearer ${key}` }), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
};
const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 7, method, params });

describe(`${covers('operations.host.a2a-methods')} A2A 0.3 on the wire`, () => {
  const message = (workflowId: string, data: object) => ({
    message: {
      kind: 'message',
      messageId: 'm-old',
      role: 'user',
      parts: [{ kind: 'data', data }],
      metadata: { workflowId },
    },
  });

  test('message/send returns the completed task, and tasks/get returns the same', async () => {
    const { body } = await rpc(call('message/send', message('echo', { text: 'old' })));
    expect(body).toMatchObject({ id: 7, result: { kind: 'task', status: { state: 'completed' } } });
    const got = await rpc(call('tasks/get', { id: body.result.id }));
    expect(got.body.result).toEqual(body.result);
  });

  test('tasks/pushNotificationConfig/set makes the host push the task in the form of 0.3', async () => {
    const { receiver } = host;
    receiver.answer = 200;
    const before = receiver.bodies.length;
    const sent = await rpc(
      call('message/send', { ...message('delay', { ms: 60_000 }), configuration: { blocking: false } }),
    );
    const taskId = sent.body.result.id;
    const set = await rpc(
      call('tasks/pushNotificationConfig/set', { taskId, pushNotificationConfig: { url: receiver.url } }),
    );
    expect(set.body).toMatchObject({ id: 7, result: { taskId, pushNotificationConfig: { url: receiver.url } } });
    await rpc(call('tasks/cancel', { id: taskId }));
    await eventually(() => {
      const bodies = receiver.bodies.slice(before).map((body) => JSON.parse(String(body)));
      return bodies.some(({ kind, id, status }) => kind === 'task' && id === taskId && status.state === 'canceled');
    });
  });
});

describe(covers('errors.transport.json-rpc'), () => {
  test.each([
    ['no credential', call('GetTask', { id: 'x' }), '', 401, { code: -32000, data: { error: 'unauthenticated' } }],
    ['a body that is not JSON', '{', AGENT, 400, { code: -32700 }],
    ['JSON of 500 000 levels', `{"params":${'['.repeat(500_000)}`, AGENT, 400, { code: -32700 }],
    ['JSON that is not a request', '[]', AGENT, 200, { code: -32600 }],
    ['an unknown method', call('tasks/steal', {}), AGENT, 200, { code: -32601 }],
    ['a missing scope', call('SendMessage', {}), READER, 403, { code: -32000, data: { error: 'forbidden' } }],
    ['a message without parts', call('SendMessage', { message: {} }), AGENT, 200, { code: -32602 }],
  ])('answers %s with its error', async (_, body, key, status, error) => {
    const answer = await rpc(body, { key });
    expect(answer).toMatchObject({ status, body: { jsonrpc: '2.0', error } });
    if (status === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  test.each([
    ['no version', { id: 7, method: 'GetTask', params: { id: 'x' } }, 7],
    ['version 1.0', { jsonrpc: '1.0', id: 7, method: 'GetTask' }, 7],
    ['no method', { jsonrpc: '2.0', id: 7 }, 7],
    ['a method that is a number', { jsonrpc: '2.0', id: 'a', method: 1 }, 'a'],
    ['params that are a text', { jsonrpc: '2.0', id: 7, method: 'GetTask', params: 'x' }, 7],
    ['params that are null', { jsonrpc: '2.0', id: 7, method: 'tasks/get', params: null }, 7],
    ['an id that is an object', { jsonrpc: '2.0', id: { a: 1 }, method: 'GetTask' }, null],
    ['an id that is true', { jsonrpc: '2.0', id: true, method: 'tasks/get' }, null],
    ['a batch', [call('GetTask', { id: 'x' })], null],
    ['a text', '"GetTask"', null],
  ])('answers JSON that is no JSON-RPC 2.0 request with -32600: %s', async (_, body, id) => {
    for (const version of ['1.0', '0.3']) {
      const answer = await rpc(body, { headers: { 'a2a-version': version } });
      expect(answer).toMatchObject({ status: 200, body: { jsonrpc: '2.0', id, error: { code: -32600 } } });
    }
  });

  test.each([
    ['SubscribeToTask', 'an unknown task', { id: 'nope' }, -32001],
    ['tasks/resubscribe', 'an unknown task', { id: 'nope' }, -32001],
    ['tasks/steal', 'no params', undefined, -32601],
    ['toString', 'no params', undefined, -32601],
  ])('answers %s of %s with its error', async (method, _, params, code) => {
    const answer = await rpc({ jsonrpc: '2.0', id: 'a', method, ...(params !== undefined && { params }) });
    expect(answer).toMatchObject({ status: 200, body: { jsonrpc: '2.0', id: 'a', error: { code } } });
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  test.each(['SubscribeToTask', 'tasks/resubscribe'])('answers %s of an ended task with -32004', async (method) => {
    const { id } = await taskFor('echo', {});
    expect((await rpc(call(method, { id }))).body).toMatchObject({ id: 7, error: { code: -32004 } });
  });

  test.each([
    ['CreateTaskPushNotificationConfig', (taskId: string) => ({ taskId, url: 'https://10.0.0.8/' })],
    [
      'tasks/pushNotificationConfig/set',
      (taskId: string) => ({ taskId, pushNotificationConfig: { url: 'https://10.0.0.8/' } }),
    ],
  ])('answers %s of a refused URL with -32602 and the code of the refusal', async (method, paramsOf) => {
    const { id } = await taskFor('echo', {});
    const { body } = await rpc(call(method, paramsOf(id)));
    expect(body.error).toMatchObject({ code: -32602, data: { error: 'webhook_url_rejected' } });
  });

  test.each([
    ['a method with an effect', 'SendMessage', 'echo'],
    ['a streaming method', 'SendStreamingMessage', 'echo'],
    ['an unknown method', 'tasks/steal', 'echo'],
    ['a method that fails', 'SendMessage', 'nothing-like-it'],
  ])('answers a notification of %s with nothing', async (_, method, workflowId) => {
    const params = {
      message: { messageId: 'm-n', role: 'ROLE_USER', parts: [{ data: {} }], metadata: { workflowId } },
    };
    const response = await withKey(AGENT)(`${host.url()}/host/example/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', method, params }),
    });
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  test('answers an unsupported version with -32009', async () => {
    const { body } = await rpc(call('GetTask', { id: 'x' }), { headers: { 'a2a-version': '2.0' } });
    expect(body.error.code).toBe(-32009);
  });
});

test(covers('versioning.axes.a2a-versions', 'versioning.axes.reference-interop'), async () => {
  const { body } = await host.call('/.well-known/svc', { major: '2', key: AGENT });
  expect(body.a2a).toMatchObject({ protocolVersions: ['1.0', '0.3'], preferredVersion: '1.0' });
  expect(body.mcp).toBeUndefined();
  expect(body.extensions['example.a2a']).toEqual({ path: '/host/example/a2a' });
});
