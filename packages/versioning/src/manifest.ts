import type { Major } from './version.ts';

/**
 * Every operation of the protocol, with its method, its unversioned path and the majors that define it. Major 1 also
 * serves each path under `/v1`, except discovery, which has one path for both majors.
 *
 * @see Interface: Endpoints; Versioning, Paths
 */
export const MANIFEST: readonly Operation[] = [
  { operationId: 'discovery', method: 'GET', path: '/.well-known/svc', majors: [1, 2] },
  { operationId: 'openapi', method: 'GET', path: '/openapi.json', majors: [1, 2] },
  { operationId: 'readWorkflow', method: 'GET', path: '/workflows/{workflowId}', majors: [1, 2] },
  { operationId: 'createRun', method: 'POST', path: '/runs', majors: [1, 2] },
  { operationId: 'listRuns', method: 'GET', path: '/runs', majors: [2] },
  { operationId: 'readRun', method: 'GET', path: '/runs/{runId}', majors: [1, 2] },
  { operationId: 'streamEvents', method: 'GET', path: '/runs/{runId}/events', majors: [1, 2] },
  { operationId: 'pollEvents', method: 'GET', path: '/runs/{runId}/events/poll', majors: [1, 2] },
  { operationId: 'cancelRun', method: 'POST', path: '/runs/{runId}/cancel', majors: [1, 2] },
  { operationId: 'bulkCancelRuns', method: 'POST', path: '/runs:bulk-cancel', majors: [1, 2] },
  { operationId: 'pauseRun', method: 'POST', path: '/runs/{runId}:pause', majors: [1, 2] },
  { operationId: 'resumeRun', method: 'POST', path: '/runs/{runId}:resume', majors: [1, 2] },
  { operationId: 'forkRun', method: 'POST', path: '/runs/{runId}:fork', majors: [1, 2] },
  { operationId: 'diffRun', method: 'GET', path: '/runs/{runId}:diff', majors: [1, 2] },
  { operationId: 'readAncestry', method: 'GET', path: '/runs/{runId}/ancestry', majors: [1, 2] },
  { operationId: 'createAnnotation', method: 'POST', path: '/runs/{runId}/annotations', majors: [1, 2] },
  { operationId: 'listAnnotations', method: 'GET', path: '/runs/{runId}/annotations', majors: [1, 2] },
  { operationId: 'readArtifact', method: 'GET', path: '/runs/{runId}/artifacts/{artifactId}', majors: [1, 2] },
  { operationId: 'resolveInterrupt', method: 'POST', path: '/runs/{runId}/interrupts/{nodeId}', majors: [1, 2] },
  { operationId: 'inspectInterruptToken', method: 'GET', path: '/interrupts/{token}', majors: [1, 2] },
  { operationId: 'resolveInterruptToken', method: 'POST', path: '/interrupts/{token}', majors: [1, 2] },
  { operationId: 'readCompensation', method: 'GET', path: '/runs/{runId}/compensation', majors: [2] },
  { operationId: 'readEffects', method: 'GET', path: '/runs/{runId}/effects', majors: [2] },
  { operationId: 'readEffectSeams', method: 'GET', path: '/host/effect-seams', majors: [2] },
  { operationId: 'streamHostEvents', method: 'GET', path: '/host/events', majors: [2] },
  { operationId: 'verifyAudit', method: 'GET', path: '/audit/verify', majors: [1, 2] },
  { operationId: 'registerWebhook', method: 'POST', path: '/webhooks', majors: [1, 2] },
  { operationId: 'unregisterWebhook', method: 'DELETE', path: '/webhooks/{webhookId}', majors: [1, 2] },
  { operationId: 'listDeadLetters', method: 'GET', path: '/webhooks/{webhookId}/dead-letters', majors: [1, 2] },
  { operationId: 'rotateWebhookSecret', method: 'POST', path: '/webhooks/{webhookId}/rotate-secret', majors: [1, 2] },
  { operationId: 'createTriggerSubscription', method: 'POST', path: '/trigger-subscriptions', majors: [1, 2] },
  {
    operationId: 'listTriggerDeadLetters',
    method: 'GET',
    path: '/trigger-subscriptions/{id}/dead-letters',
    majors: [1, 2],
  },
  { operationId: 'listWorkspaceFiles', method: 'GET', path: '/host/workspace/files', majors: [1] },
  { operationId: 'readWorkspaceFile', method: 'GET', path: '/host/workspace/files/{path}', majors: [1] },
  { operationId: 'writeWorkspaceFile', method: 'PUT', path: '/host/workspace/files/{path}', majors: [1] },
  { operationId: 'deleteWorkspaceFile', method: 'DELETE', path: '/host/workspace/files/{path}', majors: [1] },
];

/** The identifier of an operation, the same in both majors. */
export type OperationId =
  | 'discovery'
  | 'openapi'
  | 'readWorkflow'
  | 'createRun'
  | 'listRuns'
  | 'readRun'
  | 'streamEvents'
  | 'pollEvents'
  | 'cancelRun'
  | 'bulkCancelRuns'
  | 'pauseRun'
  | 'resumeRun'
  | 'forkRun'
  | 'diffRun'
  | 'readAncestry'
  | 'createAnnotation'
  | 'listAnnotations'
  | 'readArtifact'
  | 'resolveInterrupt'
  | 'inspectInterruptToken'
  | 'resolveInterruptToken'
  | 'readCompensation'
  | 'readEffects'
  | 'readEffectSeams'
  | 'streamHostEvents'
  | 'verifyAudit'
  | 'registerWebhook'
  | 'unregisterWebhook'
  | 'listDeadLetters'
  | 'rotateWebhookSecret'
  | 'createTriggerSubscription'
  | 'listTriggerDeadLetters'
  | 'listWorkspaceFiles'
  | 'readWorkspaceFile'
  | 'writeWorkspaceFile'
  | 'deleteWorkspaceFile';

/** One operation of the protocol. */
export interface Operation {
  /** Unique in {@link MANIFEST}. */
  readonly operationId: OperationId;
  /** The HTTP method in upper case. A `GET` operation also accepts `HEAD`. */
  readonly method: string;
  /**
   * The unversioned path. `{name}` matches one segment, `{path}` one or more; `:verb` after the last segment is
   * literal.
   */
  readonly path: string;
  /** The majors that define the operation. */
  readonly majors: readonly Major[];
}

/** The path of the discovery document, the same under both majors. */
export const DISCOVERY_PATH = '/.well-known/svc';
