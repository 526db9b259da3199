import type { JsonObject } from '../json.ts';

/** Returns an example of the payload of an event type, which is given in the stored vocabulary. */
export function payloadExample({ type }: { readonly type: string }): JsonObject {
  return EXAMPLES[type] ?? {};
}

const FAILURE = { code: 'node_failed', message: 'The node failed.', retryable: false };
const ANSWER = { nodeId: 'review', interruptId: 'acme/int_00000000000000000000000001', action: 'accept' };
const QUESTION = {
  kind: 'approval',
  key: 'review',
  data: { artifactId: 'art_1', artifactType: 'document', title: 'Approve the report', actions: ['accept', 'reject'] },
};

const EXAMPLES: Readonly<Record<string, JsonObject>> = {
  'run.started': { workflowId: 'echo', inputs: { text: 'hello' }, transport: 'rest' },
  'run.completed': { outputs: { text: 'hello' }, durationMs: 1250 },
  'run.failed': { error: FAILURE, failedNodeId: 'fetch', durationMs: 1250 },
  'run.cancelled': { reason: 'No longer needed.', durationMs: 1250 },
  'run.paused': { reason: 'Maintenance.', drainPolicy: 'drain-current-node' },
  'run.resumed': {},
  'node.started': { nodeId: 'fetch', typeId: 'http', attempt: 0 },
  'node.completed': { nodeId: 'fetch', outputs: { status: 200 }, durationMs: 120 },
  'node.failed': { nodeId: 'fetch', error: FAILURE, attempts: 1 },
  'node.suspended': { nodeId: 'review', interruptId: ANSWER.interruptId, kind: 'approval', key: 'review' },
  'node.resumed': { nodeId: 'review', interruptId: ANSWER.interruptId, resumeValue: { action: 'accept' } },
  'interrupt.requested': QUESTION,
  'interrupt.resolved': ANSWER,
  'approval.requested': QUESTION,
  'approval.received': ANSWER,
  'approval.granted': ANSWER,
  'approval.rejected': { ...ANSWER, action: 'reject' },
  'artifact.created': { artifactId: 'art_1', artifactType: 'document' },
  'log.appended': { level: 'info', message: 'Half of the work is done.' },
};
