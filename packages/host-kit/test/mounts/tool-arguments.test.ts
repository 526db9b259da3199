import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost } from '@svc/host-kit';
import { mcpMount } from '@svc/host-kit/mounts/mcp';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, test } from 'vitest';

const KEY = 'development-key-of-this-machine-only';
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
  mounts: [mcpMount()],
});

/** Calls a tool, and returns the text of its result. */
async function textOf(name: string, given: object): Promise<string> {
  const headers = {
    ...{ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
  };
  const params = { name, arguments: given };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const answer = await host.fetch(new Request('http://host.test/host/example/mcp', { method: 'POST', headers, body }));
  const [, data = ''] = /^data: (.*)$/m.exec(await answer.text()) ?? [];
  return JSON.parse(data).result.content[0].text;
}

describe('a tool of MCP tells what its arguments lack', () => {
  test.each([
    ['create_run', {}, 'arguments.workflowId: is required'],
    ['create_run', { workflowId: 'x', input: {} }, 'arguments: has no field "input". Did you mean inputs?'],
    ['create_run', { workflowId: 5 }, 'arguments.workflowId: must be a string, not a number'],
    ['read_run', {}, 'arguments.runId: is required'],
    ['cancel_run', {}, 'arguments.runId: is required'],
    ['answer_run', { runId: 'run_1' }, 'arguments.answer: is required'],
  ])('%s %j', async (name, given, problem) => {
    expect(await textOf(name, given)).toMatch(new RegExp(`: ${problem.replaceAll('?', '\\?')}$`));
  });

  test('and gets them as its schema returned them', async () => {
    expect(JSON.parse(await textOf('create_run', { workflowId: 'x' }))).toMatchObject({ status: 'pending' });
  });
});
