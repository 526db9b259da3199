import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcmeHost, CHIEF, KEY, OTHER_TENANT, startAcme, WIDE } from './acme-host.ts';
import { eventually } from './booted-host.ts';

const AUDIT = 'operator_brought_key_that_reads_the_records';

let host: AcmeHost;
const runs: string[] = [];
let webhookId: string;
let artifactId: string;

beforeAll(async () => {
  const of = { tenant: 'acme', mode: 'live', principal: 'p_all', workspaces: ['*'] };
  const scopes = ['runs:create', 'runs:read', 'runs:annotate', 'artifacts:read', 'manifest:read', 'webhooks:manage'];
  host = await startAcme(
    { durable: true, retryPolicy: { maxAttempts: 1 } },
    {
      apiKeys: [
        { ...of, id: 'key_1', key: KEY, workspaces: ['acme-prod'], scopes: [...scopes, 'approvals:respond'] },
        { ...of, id: 'key_2', key: WIDE, scopes },
        { ...of, id: 'key_3', key: AUDIT, scopes: ['audit:read'] },
        { ...of, id: 'key_4', key: OTHER_TENANT, tenant: 'umbrella', scopes: ['audit:read'] },
        { ...of, id: 'key_5', key: CHIEF, scopes: ['audit:read'], workspaces: ['acme-prod'] },
      ],
      protocol: { mirror: { share: 1, maxConcurrent: 16, majors: [1, 2] } },
    },
  );
  const hook = { url: `${host.receiver.url}/gone`, events: ['run.completed'], tenantId: 'acme-prod' };
  ({ webhookId } = (await host.call('/v1/webhooks', { body: hook })).body);
  await host.call(`/host/example/webhooks/${webhookId}/pause`, { method: 'POST' });
  for (const body of [
    { workflowId: 'echo', inputs: { greeting: 'hello' }, tags: ['b', 'a'], metadata: { team: 'blue' } },
    { workflowId: 'artifact', inputs: { content: { title: 'x' } } },
    { workflowId: 'conformance-approval', inputs: {} },
    { workflowId: 'conformance-failure', inputs: {} },
    { workflowId: 'trip', inputs: { nights: 1, isFull: true } },
  ]) {
    const { status, body: made } = await host.call('/v1/runs', { body });
    if (status === 201) runs.push(made.runId);
  }
  for (const runId of runs) {
    await eventually(async () => {
      const { body } = await host.call(`/v1/runs/${runId}`);
      return ['completed', 'failed', 'waiting-approval'].includes(body.status);
    });
    await host.call(`/v1/runs/${runId}/annotations`, { body: { signal: { kind: 'flag' }, note: 'look' } });
  }
  // A run with a child, and the child.
  const trip = (await host.call(`/v1/runs/${runs.at(-1)}/events/poll?timeout=1`)).body.events;
  const [child] =
    JSON.stringify(trip)
      .match(/run_[0-9A-Za-z]+/g)
      ?.filter((id) => !runs.includes(id)) ?? [];
  if (child !== undefined) runs.push(child);
  const { body } = await host.call(`/v1/runs/${runs[1]}/events/poll?timeout=1`);
  artifactId = body.events.find(({ type }: { type: string }) => type === 'artifact.created').payload.artifactId;
});
afterAll(() => host.stop());

const report = async () => (await host.call('/host/example/versions/mirror', { key: AUDIT })).body;

test('every read of both majors is compared, and none differs', async () => {
  expect(runs).toHaveLength(6);
  for (const prefix of ['/v1', ''] as const) {
    const major = prefix === '' ? '2' : '1';
    const spelled = (id: string) => (prefix === '' ? `acme~2F${id}` : id);
    const read = async (path: string) =>
      expect([path, (await host.call(prefix + path, { major })).status]).toEqual([path, 200]);
    for (const runId of runs) {
      await read(`/runs/${spelled(runId)}`);
      await read(`/runs/${spelled(runId)}/events/poll?timeout=1`);
      await read(`/runs/${spelled(runId)}/annotations`);
    }
    await read(
      `/runs/${spelled(runs[0] ?? '')}/events/poll?timeout=1&${major === '1' ? 'lastSequence' : 'afterSequence'}=1`,
    );
    await read(`/runs/${spelled(runs[1] ?? '')}/artifacts/${artifactId}`);
    await read('/workflows/echo');
    await read(`/webhooks/${spelled(webhookId)}/dead-letters${major === '1' ? '?tenantId=acme-prod' : ''}`);
  }
  await eventually(async () => {
    const compared = (await report()).operations.map(
      ({ operation, major }: { operation: string; major: number }) => `${major} ${operation}`,
    );
    const names = ['readRun', 'pollEvents', 'listAnnotations', 'readArtifact', 'readWorkflow'];
    return [...names.flatMap((name) => [`1 ${name}`, `2 ${name}`]), '1 listDeadLetters'].every((each) =>
      compared.includes(each),
    );
  });
  const { differences, operations } = await report();
  expect(differences).toEqual([]);
  expect(operations.every(({ different }: { different: number }) => different === 0)).toBe(true);
});

test('the callers of each major are told to an auditor of the whole tenant alone', async () => {
  const callers = '/host/example/versions/callers';
  await eventually(async () => (await host.call(callers, { key: AUDIT })).body.callers.length > 0);
  const { body } = await host.call(callers, { key: AUDIT });
  expect(body.callers.map(({ credential }: { credential: string }) => credential)).toEqual(['key_1']);
  expect((await host.call(callers, { key: OTHER_TENANT })).body.callers).toEqual([]);
  expect((await host.call(callers, { key: CHIEF })).status).toBe(403);
  expect((await host.call(callers, { key: WIDE })).status).toBe(403);
});
