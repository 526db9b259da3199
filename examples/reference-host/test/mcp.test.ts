import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { covers } from '@svc/tools/covers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeHost, KEY, OTHER_TENANT, READER, startAcme } from './acme-host.ts';
import { eventually } from './booted-host.ts';

let host: AcmeHost;
const open: Client[] = [];

beforeAll(async () => {
  host = await startAcme({}, { mounts: { mcp: true } });
});
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});
afterAll(() => host.stop());

/** Connects the official client. */
async function clientOf(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const url = new URL(`${host.url()}/host/example/mcp`);
  await client.connect(
    new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${key}` } } }),
  );
  open.push(client);
  return client;
}

interface Listed {
  readonly tags?: readonly string[];
  readonly status: string;
}

describe('an MCP client', () => {
  test('lists the operations on runs as tools', async () => {
    const { tools } = await (await clientOf(KEY)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['create_run', 'read_run', 'cancel_run', 'answer_run']);
  });

  test('creates a run, waits for its end and reads its outputs', async () => {
    const client = await clientOf(KEY);
    const created = await client.callTool({
      name: 'create_run',
      arguments: { workflowId: 'echo', inputs: { text: 'hi' }, waitSeconds: 20 },
    });
    expect(created.structuredContent).toMatchObject({ status: 'completed', outputs: { text: 'hi' } });
    const runId = String(Reflect.get(created.structuredContent ?? {}, 'runId'));
    const read = await client.callTool({ name: 'read_run', arguments: { runId } });
    expect(read.structuredContent).toEqual(created.structuredContent);
    expect((await host.call(`/v1/runs/${runId}`)).body).toMatchObject({ runId, status: 'completed' });
  });

  test('gets the question of a run that waits for an approval, and answers it', async () => {
    const client = await clientOf(KEY);
    const asked = await client.callTool({
      name: 'create_run',
      arguments: { workflowId: 'approval', inputs: { title: 'Ship it?' }, waitSeconds: 20 },
    });
    const question = { kind: 'approval', data: { title: 'Ship it?' } };
    expect(asked.structuredContent).toMatchObject({ status: 'waiting-approval', question });
    const runId = String(Reflect.get(asked.structuredContent ?? {}, 'runId'));
    const read = await client.callTool({ name: 'read_run', arguments: { runId } });
    expect(read.structuredContent).toMatchObject({ question });
    const answered = await client.callTool({
      name: 'answer_run',
      arguments: { runId, answer: { action: 'accept' } },
    });
    expect(answered.structuredContent).not.toHaveProperty('question');
    const again = await client.callTool({ name: 'answer_run', arguments: { runId, answer: { action: 'accept' } } });
    expect(again).toMatchObject({ isError: true });
  });

  test('gets an error for a run that is unknown, ended or cancelled', async () => {
    const client = await clientOf(KEY);
    const unknown = { runId: 'run_00000000000000000000000000' };
    for (const name of ['read_run', 'cancel_run'])
      expect(await client.callTool({ name, arguments: unknown })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('not_found') }],
      });
    const ended = await client.callTool({
      name: 'create_run',
      arguments: { workflowId: 'echo', waitSeconds: 20 },
    });
    const runId = String(Reflect.get(ended.structuredContent ?? {}, 'runId'));
    expect(await client.callTool({ name: 'cancel_run', arguments: { runId } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('run_terminal') }],
    });
  });

  test('is told of the progress of a call that waits', async () => {
    const client = await clientOf(KEY);
    const heard: { progress: number; message?: string | undefined }[] = [];
    const { structuredContent } = await client.callTool(
      { name: 'create_run', arguments: { workflowId: 'delay', inputs: { ms: 50 }, waitSeconds: 20 } },
      { onprogress: (progress) => heard.push(progress) },
    );
    expect(structuredContent).toMatchObject({ status: 'completed' });
    expect(heard[0]).toMatchObject({ progress: 1, message: 'run.started' });
  });

  test('of a call that it cancels leaves the run to go on', async () => {
    const client = await clientOf(KEY);
    const cancelling = new AbortController();
    const call = client.callTool(
      { name: 'create_run', arguments: { workflowId: 'delay', inputs: { ms: 300 }, tags: ['left'], waitSeconds: 20 } },
      { signal: cancelling.signal, onprogress: () => cancelling.abort() },
    );
    await expect(call).rejects.toThrow();
    await eventually(async () => {
      const { runs } = (await host.call('/runs', { major: '2' })).body;
      return runs.some(({ tags, status }: Listed) => tags?.[0] === 'left' && status === 'completed');
    });
  });

  test('is told that the list of tools does not change', async () => {
    const client = await clientOf(KEY);
    expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: false } });
  });

  test('gets a refusal as a result with isError', async () => {
    const reader = await clientOf(READER);
    const refused = await reader.callTool({ name: 'create_run', arguments: { workflowId: 'echo' } });
    expect(refused).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('forbidden') }] });
    const client = await clientOf(KEY);
    const wrong = await client.callTool({ name: 'create_run', arguments: { workflowId: 'nothing-like-it' } });
    expect(wrong).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('workflowId') }] });
  });

  test('gets not_found for a run of another tenant', async () => {
    const created = await (await clientOf(KEY)).callTool({ name: 'create_run', arguments: { workflowId: 'echo' } });
    const runId = String(Reflect.get(created.structuredContent ?? {}, 'runId'));
    const stranger = await clientOf(OTHER_TENANT);
    const read = await stranger.callTool({ name: 'read_run', arguments: { runId } });
    expect(read).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('not_found') }] });
  });

  test('with a wrong credential cannot connect', async () => {
    await expect(clientOf('a-key-that-this-host-never-issued-000000')).rejects.toThrow(
      /unauthenticated|401|credential/i,
    );
  });

  test.each(['1999-01-01', '2025-11-25', '2025-03-26'])(
    `${covers('operations.host.mcp-advertised-revisions')} of the revision %s is refused`,
    async (revision) => {
      const response = await fetch(`${host.url()}/host/example/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${KEY}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': revision,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
      });
      expect(response.status).toBe(400);
      const message = expect.stringContaining('2026-07-28, 2025-06-18');
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number), message } });
    },
  );

  test.each([
    ['no version', { id: 1, method: 'tools/list' }],
    ['params that are a text', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: 'x' }],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'tools/list' }],
    ['a text', 'tools/list'],
  ])('gets -32600 for JSON that is no JSON-RPC 2.0 request: %s', async (_, body) => {
    const headers = {
      ...{ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${host.url()}/host/example/mcp`, init);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } });
  });

  test('gets 401 without a credential', async () => {
    const response = await fetch(`${host.url()}/host/example/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }),
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { data: { error: 'unauthenticated' } } });
  });

  test('of the revision 2025-06-18 is served', async () => {
    const response = await fetch(`${host.url()}/host/example/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${KEY}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'old', version: '1' } },
      }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"protocolVersion":"2025-06-18"');
  });
});

test(covers('operations.host.mcp-off-by-default', 'versioning.axes.mcp-revisions'), async () => {
  const { body } = await host.call('/.well-known/svc', { major: '2' });
  expect(body.mcp).toMatchObject({ revisions: ['2026-07-28', '2025-06-18'], preferredVersion: '2026-07-28' });
  const plain = await startAcme({});
  try {
    expect((await plain.call('/host/example/mcp', { body: {} })).status).toBe(404);
    expect((await plain.call('/.well-known/svc', { major: '2' })).body.mcp).toBeUndefined();
  } finally {
    await plain.stop();
  }
});
