import { systemRandom } from '@svc/host-kit';
import { secretBox } from '../../packages/host-kit/src/sealing/secret-box.ts';

export const SECRET_KEY = new Uint8Array(32);
const box = secretBox(SECRET_KEY, systemRandom);

/** Returns a running run of a workspace. */
export function runOf(runId, workspace, tenant = 'acme') {
  return {
    runId,
    tenant,
    workspace,
    mode: 'live',
    workflowId: 'bench',
    status: 'running',
    owner: { tenant, workspace, principal: 'p_1' },
    inputs: {},
    tags: [],
    engineVersion: 1,
    eventLogSchemaVersion: 3,
    lastSequence: 0,
    createdAt: Date.now(),
  };
}

/** Returns a durable subscription to the runs of workspaces. */
export function subscriptionOf({ webhookId, workspaces, port, path = 'hook', status = 'active', tenant = 'acme' }) {
  return {
    webhookId,
    tenant,
    workspaces,
    mode: 'live',
    major: 1,
    url: `https://hooks.example:${port}/${path}/${webhookId}`,
    events: ['node.completed'],
    tags: [],
    durable: true,
    status,
    circuit: { state: 'closed', consecutiveFailures: 0 },
    failures: [],
    signatureAlgorithms: ['v1'],
    sealedSecret: box.seal('a secret of the benchmark, long enough', webhookId),
    secretFingerprint: '00000000',
    createdAt: Date.now(),
  };
}
