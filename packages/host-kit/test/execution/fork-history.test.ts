import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type WorkflowEngine } from '@svc/host-kit';
import { covers } from '@svc/tools/covers';
import { startPostgres } from '@svc/tools/postgres';
import { afterAll, expect, test } from 'vitest';
import { postgresStore } from '../../src/stores/postgres/index.ts';

const KEY = 'operator-key-of-the-forks-0123456789abcd';
const FORKS = 12;

const postgres = await startPostgres();
afterAll(() => postgres.stop());

/** An engine whose one node makes an artifact. */
const engine: WorkflowEngine = {
  version: 1,
  forks: ['replay', 'branch'],
  async execute(_run, { append, artifact, replayed }) {
    if (replayed !== undefined) await replayed('draft');
    else {
      await append({ type: 'node.started', nodeId: 'draft', payload: { nodeId: 'draft', typeId: 'acme.draft' } });
      await artifact({ nodeId: 'draft', artifactType: 'text', content: 'a draft' });
      await append({ type: 'node.completed', nodeId: 'draft', payload: { nodeId: 'draft', outputs: {} } });
    }
    return { status: 'completed', outputs: {} };
  },
};

test(`${covers('operations.forks.replay', 'operations.forks.branch')} Makes twelve forks over one connection`, async () => {
  // A fork that took a second connection while it held one would wait for itself: the test would run into its time
  // limit.
  const store = await postgresStore({ url: postgres.url, connections: 1 });
  const scopes = ['runs:create', 'runs:read', 'artifacts:read'];
  const key = { id: 'key_1', hash: hashApiKey(KEY), tenant: 'acme', workspaces: ['w1'], principal: 'p_1' };
  const host = createHost({
    store,
    authenticate: [apiKeyLane({ keys: memoryKeyStore([{ ...key, scopes, mode: 'live' }]) })],
    engine,
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: () => true },
  });
  await host.start();
  async function call(path: string, body?: object) {
    const response = await host.fetch(
      new Request(`http://host.test/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
    expect(response.status).toBeLessThan(300);
    return response.json();
  }
  const until = (runId: string) =>
    expect.poll(async () => (await call(`/runs/${runId}`)).status, { timeout: 50_000 }).toBe('completed');
  try {
    const source = (await call('/runs', { workflowId: 'any', tenantId: 'w1' })).runId;
    await until(source);
    const fork = async (body: object): Promise<string> => (await call(`/runs/${source}:fork`, body)).runId;
    const bodies = Array.from({ length: FORKS }, (_, index) =>
      index % 2 === 0 ? { mode: 'replay' } : { mode: 'branch', fromSeq: 4 },
    );
    const forks = await Promise.all(bodies.map(fork));
    for (const runId of forks) await until(runId);
    for (const runId of forks) {
      const { events } = await call(`/runs/${runId}/events/poll?timeout=1`);
      const made = events.find(({ type }: { type: string }) => type === 'artifact.created').payload.artifactId;
      expect(await call(`/runs/${runId}/artifacts/${made}`)).toMatchObject({ runId, content: 'a draft' });
    }
  } finally {
    await host.stop(1000);
  }
});
