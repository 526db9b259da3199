import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost } from '@svc/host-kit';
import { a2aMount } from '@svc/host-kit/mounts/a2a';
import { mcpMount } from '@svc/host-kit/mounts/mcp';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { asMountsDescribed } from '@svc/tools/as-described';
import { covers } from '@svc/tools/covers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchOfPage } from './page.ts';

const KEY = 'development-key-of-this-machine-only';
const PAGE = 'https://console.example.com';
const ORIGIN = 'https://svc.example.com';
const [hash, scopes] = [hashApiKey(KEY), ['runs:*']];
const keys = memoryKeyStore([
  { id: 'key_1', hash, tenant: 'acme', workspaces: ['main'], principal: 'p_1', scopes, mode: 'live' },
]);
const host = createHost({
  store: memoryStore(),
  authenticate: [apiKeyLane({ keys })],
  engine: async () => ({}),
  secretKey: new Uint8Array(32),
  authorization: { hasWorkspace: () => true },
  baseUrl: ORIGIN,
  http: { cors: { origins: [PAGE] } },
  mounts: [mcpMount(), a2aMount({ agent: { name: 'a', description: 'An agent.', version: '1.0.0', skills: [] } })],
  ports: { log: () => {} },
});
beforeAll(() => host.start());
afterAll(() => host.stop(0));

const AUTHORIZED = { authorization: `Bearer ${KEY}` };
const page = fetchOfPage(host, PAGE);
const described = asMountsDescribed((request) => host.fetch(request), '/host/example/openapi.json');

/** Posts to the mount, and returns the status and the JSON-RPC response. */
async function post(body: unknown, headers: Record<string, string> = {}) {
  const sent = {
    ...{ ...AUTHORIZED, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    ...headers,
  };
  const init = { method: 'POST', headers: sent, body: JSON.stringify(body) };
  const response = await described(new Request(`${ORIGIN}/host/example/mcp`, init));
  const text = await response.text();
  return { status: response.status, rpc: JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? (text || 'null')) };
}

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
const initialize = (protocolVersion: string) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});
const discover = {
  ...{ jsonrpc: '2.0', id: 1, method: 'server/discover' },
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};

describe(covers('operations.host.mcp-advertised-revisions'), () => {
  test('the advertised revisions are served', async () => {
    expect(await post(LIST, { 'mcp-protocol-version': '2025-06-18' })).toMatchObject({ status: 200 });
    expect(await post(initialize('2025-06-18'))).toMatchObject({ rpc: { result: { protocolVersion: '2025-06-18' } } });
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' };
    expect(await post(discover, headers)).toMatchObject({
      status: 200,
      rpc: { result: { supportedVersions: ['2026-07-28'] } },
    });
  });

  test.each(['2025-11-25', '2025-03-26', '2024-11-05', '2024-10-07', '1999-01-01'])(
    'a request of the revision %s is refused with the names of those that are served',
    async (revision) => {
      const { status, rpc } = await post(LIST, { 'mcp-protocol-version': revision });
      expect([status, rpc.error.message]).toEqual([400, expect.stringContaining('2026-07-28, 2025-06-18')]);
    },
  );

  test.each(['2025-11-25', '2025-03-26', '2024-11-05', '2024-10-07', '1999-01-01', 'latest'])(
    'a client that begins with %s is offered a revision that is served',
    async (revision) => {
      expect(await post(initialize(revision))).toMatchObject({
        status: 200,
        rpc: { result: { protocolVersion: '2025-06-18' } },
      });
    },
  );

  test.each([
    ['of requests', [LIST, { ...LIST, id: 2 }]],
    ['of one request', [LIST]],
    ['of nothing', []],
  ])('a batch %s is refused: no revision that is served has batches', async (_, batch) => {
    for (const headers of [{}, { 'mcp-protocol-version': '2025-06-18' }, { 'mcp-protocol-version': '2026-07-28' }])
      expect(await post(batch, headers)).toMatchObject({ status: 400, rpc: { id: null, error: { code: -32600 } } });
  });
});

describe(covers('operations.http.cors'), () => {
  test.each([
    ['2026-07-28', { versionNegotiation: { mode: 'auto' as const } }],
    ['2025-06-18', {}],
  ])('the page of a permitted origin calls MCP %s', async (revision, options) => {
    const client = new Client({ name: 'page', version: '1.0.0' }, options);
    const requestInit = { headers: AUTHORIZED };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${ORIGIN}/host/example/mcp`), { fetch: page, requestInit }),
    );
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('create_run');
    const created = await client.callTool({ name: 'create_run', arguments: { workflowId: 'any' } });
    expect(created.structuredContent).toMatchObject({ workflowId: 'any' });
    await client.close();
  });

  test.each(['1.0', '0.3'])('the page of a permitted origin calls A2A %s', async (version) => {
    const method = version === '1.0' ? 'GetTask' : 'tasks/get';
    const response = await page(`${ORIGIN}/host/example/a2a`, {
      method: 'POST',
      headers: { ...AUTHORIZED, 'content-type': 'application/json', 'a2a-version': version },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { id: 'run_unknown' } }),
    });
    expect(await response.json()).toMatchObject({ id: 1, error: { code: -32001 } });
  });

  test('the page of another origin calls neither', async () => {
    const stranger = fetchOfPage(host, 'https://evil.example');
    for (const path of ['mcp', 'a2a'])
      await expect(stranger(`${ORIGIN}/host/example/${path}`, { method: 'POST', headers: AUTHORIZED })).rejects.toThrow(
        /^CORS: /,
      );
  });
});

describe(covers('operations.openapi.describes-every-answer'), () => {
  test.each<[string, number, unknown, Record<string, string>]>([
    ['a client that does not accept streams', 406, LIST, { accept: 'application/json' }],
    ['a body of another media type', 415, LIST, { 'content-type': 'text/plain' }],
    ['a method that MCP does not have', 404, { ...discover, method: 'nothing' }, { 'mcp-method': 'nothing' }],
    ['headers that are not those of the request', 400, discover, { 'mcp-method': 'tools/list' }],
    ['a notification', 202, { jsonrpc: '2.0', method: 'notifications/initialized' }, {}],
  ])('MCP describes its answer to %s: %d', async (_title, status, body, headers) => {
    const isModern = body !== LIST && status !== 202;
    expect(await post(body, { ...(isModern && { 'mcp-protocol-version': '2026-07-28' }), ...headers })).toMatchObject({
      status,
    });
  });
});
