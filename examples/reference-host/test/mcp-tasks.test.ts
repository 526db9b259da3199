import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  type ApplicationElicitResult,
  type ApplicationInputRequest,
  createApplicationInputHandler,
  createTaskSessionFromClient,
  type RawClientDispatch,
  type TaskEnabledSession,
  type ToolExecution,
} from '@modelcontextprotocol/ext-tasks/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, DEV, KEY, OTHER_TENANT, READER, startAcme } from './acme-host.ts';

const REVISION = '2026-07-28';
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const CAPABILITIES = { elicitation: { form: {} }, ...TASKS };

let host: AcmeHost;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  host = await startAcme({}, { mounts: { mcp: true }, retention: { runDays: 30 } });
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});
afterAll(() => host.stop());

/** Sends a request of the revision that has the Tasks extension. */
async function rpc(method: string, params: object, { key = KEY, capabilities = CAPABILITIES as object } = {}) {
  const named = { ...params } as { taskId?: string; name?: string };
  const meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const response = await fetch(`${host.url()}/host/example/mcp`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json', 'mcp-method': method },
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': REVISION },
      'mcp-name': named.taskId ?? named.name ?? '',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: meta, ...params } }),
  });
  return response.json();
}

const start = async (workflowId: string, inputs: object = {}, options = {}) =>
  (await rpc('tools/call', { name: 'create_run', arguments: { workflowId, inputs } }, options)).result;

/** Connects the official client of the extension. */
async function sessionOf(
  onInputRequest: (request: ApplicationInputRequest) => ApplicationElicitResult,
): Promise<TaskEnabledSession> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const authorization = `Bearer ${KEY}`;
  const url = new URL(`${host.url()}/host/example/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }));
  const rawDispatch: RawClientDispatch = async (request) => {
    const { method, params } = JSON.parse(JSON.stringify(request));
    const { result, error } = await rpc(method, params);
    return error === undefined ? { kind: 'result', result } : { kind: 'error', error };
  };
  const session = createTaskSessionFromClient(client, {
    endpointId: 'host',
    rawDispatch,
    v2RequestFraming: {
      protocolVersion: REVISION,
      clientInfo: { name: 'test', version: '1.0.0' },
      clientCapabilities: CAPABILITIES,
    },
    onInputRequest: createApplicationInputHandler({
      elicitation: onInputRequest,
      sampling: neverAsked,
      roots: neverAsked,
    }),
  });
  open.push(session, client);
  return session;
}

const neverAsked = (): never => {
  throw new Error('The host sends elicitations alone.');
};

async function ended(execution: Pick<ToolExecution<unknown>, 'settle'>) {
  const { outcome } = await execution.settle();
  return outcome;
}

/** Reads a task until it has a status. */
async function taskOnce(taskId: string, status: string) {
  for (;;) {
    const { result } = await rpc('tasks/get', { taskId });
    if (result.status === status) return result;
    if (!['working', 'input_required'].includes(result.status)) throw new Error(JSON.stringify(result));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('the official client of the Tasks extension', () => {
  test('gets a task for a run, and its outputs as the result of the call', async () => {
    const session = await sessionOf(() => ({ action: 'cancel' }));
    const params = { workflowId: 'delay', inputs: { ms: 30 } };
    const execution = await session.callTool('create_run', params);
    expect(execution.kind).toBe('task');
    const outcome = await ended(execution);
    expect(outcome).toMatchObject({ status: 'completed', result: { structuredContent: { status: 'completed' } } });
  });

  test('is asked for an approval, and the run goes on with the answer', async () => {
    const asked: ApplicationInputRequest[] = [];
    const session = await sessionOf((request) => {
      asked.push(request);
      return { action: 'accept', content: { action: 'accept', feedback: 'well done' } };
    });
    const execution = await session.callTool('create_run', { workflowId: 'approval', inputs: { title: 'Ship it?' } });
    expect(await ended(execution)).toMatchObject({ status: 'completed' });
    expect(asked).toMatchObject([
      {
        kind: 'elicitation',
        params: {
          mode: 'form',
          message: 'Ship it?',
          requestedSchema: { properties: { action: { enum: ['accept', 'reject'] } }, required: ['action'] },
        },
      },
    ]);
  });

  test('gets a failed run as a completed call with isError', async () => {
    const session = await sessionOf(() => ({ action: 'accept', content: { action: 'reject' } }));
    const outcome = await ended(await session.callTool('create_run', { workflowId: 'approval' }));
    expect(outcome).toMatchObject({
      status: 'completed',
      result: { isError: true, structuredContent: { status: 'failed', error: { code: 'approval_rejected' } } },
    });
  });

  test('cancels a task', async () => {
    const session = await sessionOf(() => ({ action: 'cancel' }));
    const execution = await session.callTool('create_run', { workflowId: 'delay', inputs: { ms: 60_000 } });
    await execution.cancel();
    expect(await ended(execution)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a task', () => {
  test('has the id of its run, its times and a suggested interval', async () => {
    const created = await start('delay', { ms: 30 });
    expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 1000 });
    const { status } = await host.call(`/v1/runs/${created.taskId}`);
    expect(status).toBe(200);
    const done = await taskOnce(created.taskId, 'completed');
    expect(done).toMatchObject({ resultType: 'complete', createdAt: created.createdAt });
    expect(done.ttlMs).toBeGreaterThanOrEqual(30 * 86_400_000);
    expect(Date.parse(done.lastUpdatedAt)).toBeGreaterThanOrEqual(Date.parse(done.createdAt));
  });

  test('survives the kill of its host, and so does its question', async () => {
    const { taskId, before } = await host.killAfter(async () => {
      const { taskId } = await start('approval', { title: 'Ship it?' });
      return { taskId, before: await taskOnce(taskId, 'input_required') };
    });
    const after = await taskOnce(taskId, 'input_required');
    expect(after.inputRequests).toEqual(before.inputRequests);
    const [id = ''] = Object.keys(after.inputRequests);
    const answer = { [id]: { action: 'accept', content: { action: 'accept' } } };
    const { result } = await rpc('tasks/update', { taskId, inputResponses: answer });
    expect(result).toMatchObject({ resultType: 'complete' });
    expect((await taskOnce(taskId, 'completed')).result).toMatchObject({ structuredContent: { status: 'completed' } });
  });

  test('asks a clarification with one field for each question, and a new id for each round', async () => {
    const { taskId } = await start('clarification', { rounds: 2, choices: ['red', 'blue'] });
    const ids: string[] = [];
    for (const colour of ['red', 'blue']) {
      const asked = await taskAsking(taskId, ids);
      const [id = ''] = Object.keys(asked.inputRequests);
      const { requestedSchema } = asked.inputRequests[id].params;
      expect(requestedSchema.properties.answer).toMatchObject({ type: 'string', enum: ['red', 'blue'] });
      ids.push(id);
      const wrong = { [id]: { action: 'accept', content: { answer: 'green' } } };
      expect((await rpc('tasks/update', { taskId, inputResponses: wrong })).error).toMatchObject({ code: -32602 });
      const right = { [id]: { action: 'accept', content: { answer: colour } } };
      expect((await rpc('tasks/update', { taskId, inputResponses: right })).error).toBeUndefined();
    }
    await taskOnce(taskId, 'completed');
    expect(new Set(ids).size).toBe(2);
  });

  test.each([
    ['a declined form', { action: 'decline' }],
    ['a cancelled form', { action: 'cancel' }],
  ])('keeps its question after %s', async (_, response) => {
    const { taskId } = await start('approval');
    const { inputRequests } = await taskOnce(taskId, 'input_required');
    const [id = ''] = Object.keys(inputRequests);
    const { error } = await rpc('tasks/update', { taskId, inputResponses: { [id]: response } });
    expect(error).toBeUndefined();
    expect((await rpc('tasks/get', { taskId })).result).toMatchObject({ status: 'input_required', inputRequests });
  });

  test('ignores a response to a question that it never asked', async () => {
    const { taskId } = await start('approval');
    await taskOnce(taskId, 'input_required');
    const inputResponses = { 'other/round-1': { action: 'accept', content: { action: 'accept' } } };
    expect((await rpc('tasks/update', { taskId, inputResponses })).error).toBeUndefined();
    expect((await rpc('tasks/get', { taskId })).result.status).toBe('input_required');
  });

  test('sends no form to a client without elicitation, and names the tool that answers', async () => {
    const { taskId } = await start('approval', { title: 'Ship it?' });
    await taskOnce(taskId, 'input_required');
    const { result } = await rpc('tasks/get', { taskId }, { capabilities: TASKS });
    expect(result).toMatchObject({ inputRequests: {}, statusMessage: expect.stringMatching(/^Ship it\?.*answer_run/) });
  });

  test('that has ended stays as it is when it is cancelled', async () => {
    const { taskId } = await start('echo');
    await taskOnce(taskId, 'completed');
    expect((await rpc('tasks/cancel', { taskId })).error).toBeUndefined();
    expect((await rpc('tasks/get', { taskId })).result.status).toBe('completed');
  });
});

describe('a task is refused', () => {
  const METHODS = ['tasks/get', 'tasks/update', 'tasks/cancel'];

  test.each([
    ['another tenant', OTHER_TENANT],
    ['another workspace', DEV],
  ])('to a caller of %s like a task that does not exist', async (_, key) => {
    const { taskId } = await start('approval');
    for (const method of METHODS) {
      const hidden = await rpc(method, { taskId, inputResponses: {} }, { key });
      const missing = await rpc(method, { taskId: 'run_00000000000000000000000000', inputResponses: {} }, { key });
      expect(hidden.error).toMatchObject({ code: -32602 });
      expect(hidden).toEqual(missing);
    }
    expect((await rpc('tasks/get', { taskId })).result.taskId).toBe(taskId);
  });

  test('to a caller without the scope of the operation', async () => {
    const { taskId } = await start('approval');
    const { inputRequests } = await taskOnce(taskId, 'input_required');
    const [id = ''] = Object.keys(inputRequests);
    const inputResponses = { [id]: { action: 'accept', content: { action: 'accept' } } };
    const forbidden = { code: -32000, data: { error: 'forbidden' } };
    expect((await rpc('tasks/update', { taskId, inputResponses }, { key: READER })).error).toMatchObject(forbidden);
    expect((await rpc('tasks/cancel', { taskId }, { key: READER })).error).toMatchObject(forbidden);
    expect((await rpc('tasks/get', { taskId }, { key: READER })).result.status).toBe('input_required');
  });

  test.each(METHODS)('by %s to a client that does not declare the extension', async (method) => {
    const { taskId } = await start('echo');
    const { error } = await rpc(method, { taskId, inputResponses: {} }, { capabilities: {} });
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: TASKS } });
  });

  test.each(['tasks/list', 'tasks/result'])('by %s, which the extension does not have', async (method) => {
    const { taskId } = await start('echo');
    expect((await rpc(method, { taskId })).error).toMatchObject({ code: -32601 });
  });

  test('by an id that no run can have', async () => {
    expect((await rpc('tasks/get', { taskId: '../runs' })).error).toMatchObject({ code: -32602 });
  });
});

test('a client that does not declare the extension gets the result of the call', async () => {
  const result = await start('delay', { ms: 1 }, { capabilities: {} });
  expect(result).toMatchObject({ resultType: 'complete', structuredContent: { workflowId: 'delay' } });
  expect(result).not.toHaveProperty('taskId');
});

test('a run that ends while its call waits is the result of the call', async () => {
  const call = { name: 'create_run', arguments: { workflowId: 'echo', waitSeconds: 20 } };
  const { result } = await rpc('tools/call', call);
  expect(result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'completed' } });
});

/** Reads a task until it asks a question other than the given ones. */
async function taskAsking(taskId: string, known: readonly string[]) {
  for (;;) {
    const task = await taskOnce(taskId, 'input_required');
    if (Object.keys(task.inputRequests).some((id) => !known.includes(id))) return task;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
