import createClient from 'openapi-fetch';
import type { paths as HostPaths } from '../types/host.js';
import type { paths as V1 } from '../types/v1.js';
import type { paths as V2 } from '../types/v2.js';
import { type Statuses, sent, type Target } from './target.js';

/** Calls an operation of each family of major 1. */
export async function callMajor1({ url, key }: Target): Promise<Statuses> {
  const api = createClient<V1>({ baseUrl: url, headers: { authorization: `Bearer ${key}` } });
  const statuses: Statuses = {};
  const note = (name: string, { response }: { response: Response }) => {
    statuses[name] = response.status;
  };

  const discovery = await api.GET('/.well-known/svc');
  note('discovery', discovery);
  note('readWorkflow', await api.GET('/v1/workflows/{workflowId}', { params: { path: { workflowId: 'echo' } } }));
  const created = await api.POST('/v1/runs', {
    body: {
      workflowId: 'echo',
      inputs: { text: 'hello', list: [1, { deep: true }], nothing: null },
      metadata: { team: { name: 'a' } },
      configurable: { temperature: 0.2 },
      tags: ['nightly'],
    },
    params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
  });
  note('createRun', created);
  const runId = sent(created.data, 'run').runId;
  const polled = await api.GET('/v1/runs/{runId}/events/poll', { params: { path: { runId }, query: { timeout: 5 } } });
  note('pollEvents', polled);
  const read = await api.GET('/v1/runs/{runId}', { params: { path: { runId } } });
  note('readRun', read);
  const metadata: Record<string, unknown> | undefined = read.data?.metadata;
  if (JSON.stringify(metadata) !== '{"team":{"name":"a"}}') throw new Error('The metadata came back changed.');

  const waiting = await api.POST('/v1/runs', { body: { workflowId: 'approval', inputs: { title: 'ok?' } } });
  const asked = sent(waiting.data, 'run').runId;
  await api.GET('/v1/runs/{runId}/events/poll', { params: { path: { runId: asked } } });
  await untilStatus('waiting-approval', async () => {
    const { data } = await api.GET('/v1/runs/{runId}', { params: { path: { runId: asked } } });
    return data?.status;
  });
  note(
    'resolveInterrupt',
    await api.POST('/v1/runs/{runId}/interrupts/{nodeId}', {
      params: { path: { runId: asked, nodeId: 'approval' } },
      body: { resumeValue: { action: 'accept', feedback: 'well done' } },
    }),
  );
  note('cancelRun', await api.POST('/v1/runs/{runId}/cancel', { params: { path: { runId } }, body: {} }));
  note('bulkCancelRuns', await api.POST('/v1/runs:bulk-cancel', { body: { runIds: [runId] } }));

  const registered = await api.POST('/v1/webhooks', {
    body: { url: 'http://127.0.0.1:9/hook', events: ['run.completed'], tenantId: 'acme-prod' },
  });
  note('registerWebhook', registered);
  const path = { webhookId: sent(registered.data, 'webhook').webhookId };
  const query = { tenantId: 'acme-prod' };
  note('listDeadLetters', await api.GET('/v1/webhooks/{webhookId}/dead-letters', { params: { path, query } }));
  note('unregisterWebhook', await api.DELETE('/v1/webhooks/{webhookId}', { params: { path, query } }));
  note('verifyAudit', await api.GET('/v1/audit/verify', { params: { query: { fromSeq: 1, toSeq: 2 } } }));
  note(
    'writeWorkspaceFile',
    await api.PUT('/v1/host/workspace/files/{path}', {
      params: { path: { path: 'notes.md' } },
      body: { content: 'hello' },
    }),
  );
  note('listWorkspaceFiles', await api.GET('/v1/host/workspace/files'));

  const missing = await api.GET('/v1/runs/{runId}', { params: { path: { runId: 'run_that_is_not_there' } } });
  if (missing.error?.error !== 'not_found') throw new Error('The error of a missing run is not typed.');
  return statuses;
}

/** Calls an operation of each family of major 2. The client sends `SVC-Version` by itself, with every request. */
export async function callMajor2({ url, key }: Target): Promise<Statuses> {
  const headers = { authorization: `Bearer ${key}`, 'SVC-Version': '2' } as const;
  const api = createClient<V2>({ baseUrl: url, headers });
  const statuses: Statuses = {};
  const note = (name: string, { response }: { response: Response }) => {
    if (!response.headers.get('svc-version')?.startsWith('2.')) throw new Error(`${name} was answered by major 1.`);
    statuses[name] = response.status;
  };

  note('discovery', await api.GET('/.well-known/svc'));
  note('readWorkflow', await api.GET('/workflows/{workflowId}', { params: { path: { workflowId: 'echo' } } }));
  const created = await api.POST('/runs', {
    body: {
      workflowId: 'echo',
      inputs: { text: 'hello', list: [1, { deep: true }], nothing: null },
      metadata: { team: { name: 'a' } },
      configurable: { version: 1, run: { recursionLimit: 5 }, extensions: { 'acme.model': { name: 'x' } } },
    },
  });
  note('createRun', created);
  const runId = sent(created.data, 'run').runId;
  note(
    'pollEvents',
    await api.GET('/runs/{runId}/events/poll', { params: { path: { runId }, query: { timeout: 5 } } }),
  );
  note('readRun', await api.GET('/runs/{runId}', { params: { path: { runId } } }));
  const listed = await api.GET('/runs', { params: { query: { limit: 1, workflowId: 'echo' } } });
  note('listRuns', listed);
  if (listed.data?.runs[0]?.runId !== runId) throw new Error('The list does not begin with the newest run.');

  const waiting = await api.POST('/runs', { body: { workflowId: 'approval', inputs: { title: 'ok?' } } });
  const asked = sent(waiting.data, 'run').runId;
  await untilStatus('waiting-approval', async () => {
    const { data } = await api.GET('/runs/{runId}', { params: { path: { runId: asked } } });
    return data?.status;
  });
  note(
    'resolveInterrupt',
    await api.POST('/runs/{runId}/interrupts/{nodeId}', {
      params: { path: { runId: asked, nodeId: 'approval' } },
      body: { resumeValue: { action: 'accept' } },
    }),
  );
  note('bulkCancelRuns', await api.POST('/runs:bulk-cancel', { body: { runIds: [runId] } }));
  const registered = await api.POST('/webhooks', {
    body: { url: 'http://127.0.0.1:9/hook', events: ['run.completed'] },
  });
  note('registerWebhook', registered);
  const path = { webhookId: sent(registered.data, 'webhook').webhookId };
  note('listDeadLetters', await api.GET('/webhooks/{webhookId}/dead-letters', { params: { path } }));
  note('unregisterWebhook', await api.DELETE('/webhooks/{webhookId}', { params: { path } }));
  note('verifyAudit', await api.GET('/audit/verify', { params: { query: { fromSeq: 1, toSeq: 2 } } }));
  note('readEffectSeams', await api.GET('/host/effect-seams'));
  // One call may still choose its own version.
  const params = { header: { 'SVC-Version': '2.0' } } as const;
  note('discovery', await api.GET('/.well-known/svc', { params }));
  return statuses;
}

/** Calls an operation of each mount. */
export async function callHost({ url, key }: Target): Promise<Statuses> {
  const api = createClient<HostPaths>({ baseUrl: url, headers: { authorization: `Bearer ${key}` } });
  const runs = createClient<V1>({ baseUrl: url, headers: { authorization: `Bearer ${key}` } });
  const statuses: Statuses = {};
  const note = (name: string, { response }: { response: Response }) => {
    statuses[name] = response.status;
  };

  const status = await api.GET('/host/example/status');
  note('readHostStatus', status);
  if (status.data?.ready !== true) throw new Error('The host is not ready.');
  const registered = await runs.POST('/v1/webhooks', {
    body: { url: 'http://127.0.0.1:9/hook', events: ['run.completed'], tenantId: 'acme-prod' },
  });
  const path = { webhookId: sent(registered.data, 'webhook').webhookId };
  const listed = await api.GET('/host/example/webhooks', { params: { query: { limit: 10 } } });
  note('listOperatorWebhooks', listed);
  const found = listed.data?.webhooks.find(({ webhookId }) => webhookId === path.webhookId);
  const circuit: string | undefined = found?.circuit.state;
  if (circuit !== 'closed') throw new Error('The circuit of a new subscription is not closed.');
  note('readOperatorWebhook', await api.GET('/host/example/webhooks/{webhookId}', { params: { path } }));
  note('pauseWebhook', await api.POST('/host/example/webhooks/{webhookId}/pause', { params: { path } }));
  note('resumeWebhook', await api.POST('/host/example/webhooks/{webhookId}/resume', { params: { path } }));
  note(
    'redriveDeadLetters',
    await api.POST('/host/example/webhooks/{webhookId}/dead-letters/redrive', { params: { path }, body: {} }),
  );
  note(
    'storeByokSecret',
    await api.PUT('/host/example/byok/secrets/{name}', {
      params: { path: { name: 'openai' } },
      body: { value: 'sk-of-the-tenant' },
    }),
  );
  note('listByokSecrets', await api.GET('/host/example/byok/secrets'));
  note(
    'removeByokSecret',
    await api.DELETE('/host/example/byok/secrets/{name}', { params: { path: { name: 'openai' } } }),
  );
  const waiting = await runs.POST('/v1/runs', { body: { workflowId: 'approval', inputs: { title: 'ok?' } } });
  const runId = sent(waiting.data, 'run').runId;
  await untilStatus('waiting-approval', async () => {
    const { data } = await runs.GET('/v1/runs/{runId}', { params: { path: { runId } } });
    return data?.status;
  });
  const minted = await api.POST('/host/example/interrupts/{runId}/{nodeId}/tokens', {
    params: { path: { runId, nodeId: 'approval' } },
    body: { form: 1, intent: 'resolve' },
  });
  note('mintInterruptToken', minted);
  const token = sent(minted.data, 'token').token;
  note('inspectInterruptToken', await runs.GET('/v1/interrupts/{token}', { params: { path: { token } } }));
  const body = { resumeValue: { action: 'accept' } };
  note('resolveInterruptToken', await runs.POST('/v1/interrupts/{token}', { params: { path: { token } }, body }));
  const gated = await runs.POST('/v1/runs', {
    body: { workflowId: 'approval', inputs: { overrideBypassesQuorum: true } },
  });
  const gatedId = sent(gated.data, 'run').runId;
  await untilStatus('waiting-approval', async () => {
    const { data } = await runs.GET('/v1/runs/{runId}', { params: { path: { runId: gatedId } } });
    return data?.status;
  });
  const overridden = await api.POST('/host/example/interrupts/{runId}/{nodeId}/override', {
    params: { path: { runId: gatedId, nodeId: 'approval' } },
    body: { reason: 'The release fixes an outage.' },
  });
  note('overrideApproval', overridden);
  const chat = await api.POST('/host/example/chat', { body: { message: 'hello' } });
  note('sendChatMessage', chat);
  if (chat.data?.reply !== 'hello') throw new Error('The chat sent another reply.');
  note(
    'callMcp',
    await api.POST('/host/example/mcp', {
      headers: { accept: 'application/json, text/event-stream' },
      parseAs: 'text',
      body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    }),
  );
  note(
    'callA2a',
    await api.POST('/host/example/a2a', {
      params: { header: { 'A2A-Version': '1.0' } },
      body: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'nope' } },
    }),
  );
  return statuses;
}

async function untilStatus(wanted: string, read: () => Promise<string | undefined>): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if ((await read()) === wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`The run did not reach ${wanted} within 10 s.`);
}
