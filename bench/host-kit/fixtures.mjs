export const KEY = 'operator-key-of-the-benchmark-0123456789';

export const RUN = {
  runId: 'run_01k0000000000000000000000z',
  tenant: 'acme',
  workspace: 'acme-prod',
  mode: 'live',
  workflowId: 'echo',
  status: 'completed',
  owner: {
    tenant: 'acme',
    workspace: 'acme-prod',
    principal: 'p_7f3a',
    subject: { issuer: 'urn:svc:api-key', subjectId: 'p_7f3a', tenant: 'acme', lane: 'api-key', kind: 'workload' },
  },
  inputs: { hello: 'world' },
  tags: [],
  engineVersion: 1,
  eventLogSchemaVersion: 3,
  lastSequence: 1,
  createdAt: 1_780_000_000_000,
  startedAt: 1_780_000_000_010,
  completedAt: 1_780_000_000_020,
};
