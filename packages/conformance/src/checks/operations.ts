import type { Major } from '../rule.ts';
import { segment, unknownId } from '../shapes/id.ts';
import type { Target } from '../target.ts';

/** A request for an operation that changes nothing. */
export interface Probe {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/**
 * Requests that a host answers 404, 405 or 501 exactly when it does not serve the operation. The run must have ended.
 */
export function answeredWhenServed(runId: string, workflowId: string): readonly Probe[] {
  const run = `/runs/${segment(runId)}`;
  return [
    { name: 'API description', method: 'GET', path: '/openapi.json' },
    { name: 'read workflow', method: 'GET', path: `/workflows/${segment(workflowId)}` },
    { name: 'create run', method: 'POST', path: '/runs', body: {} },
    { name: 'read run', method: 'GET', path: run },
    { name: 'event stream', method: 'GET', path: `${run}/events?streamMode=conformance-no-such-mode` },
    { name: 'event poll', method: 'GET', path: `${run}/events/poll?timeout=1` },
    { name: 'cancel', method: 'POST', path: `${run}/cancel`, body: {} },
    { name: 'bulk cancel', method: 'POST', path: '/runs:bulk-cancel', body: { runIds: [] } },
    { name: 'pause', method: 'POST', path: `${run}:pause`, body: {} },
    { name: 'resume', method: 'POST', path: `${run}:resume`, body: {} },
    { name: 'fork', method: 'POST', path: `${run}:fork`, body: {} },
    { name: 'register webhook', method: 'POST', path: '/webhooks', body: {} },
    { name: 'audit verification', method: 'GET', path: '/audit/verify' },
  ];
}

/** Requests for operations that require a scope, with ids that do not exist. */
export function scoped(
  major: Major,
  { tenant, workspace }: Pick<Target, 'tenant' | 'workspace'>,
): readonly (Probe & { readonly scope: string })[] {
  const id = segment(unknownId(major, tenant));
  return [
    { name: 'create run', method: 'POST', path: '/runs', body: {}, scope: 'runs:create' },
    { name: 'read run', method: 'GET', path: `/runs/${id}`, scope: 'runs:read' },
    { name: 'event poll', method: 'GET', path: `/runs/${id}/events/poll`, scope: 'runs:read' },
    { name: 'event stream', method: 'GET', path: `/runs/${id}/events`, scope: 'runs:read' },
    { name: 'cancel', method: 'POST', path: `/runs/${id}/cancel`, body: {}, scope: 'runs:cancel' },
    { name: 'bulk cancel', method: 'POST', path: '/runs:bulk-cancel', body: {}, scope: 'runs:cancel' },
    { name: 'pause', method: 'POST', path: `/runs/${id}:pause`, body: {}, scope: 'runs:cancel' },
    { name: 'resume', method: 'POST', path: `/runs/${id}:resume`, body: {}, scope: 'runs:cancel' },
    { name: 'read artifact', method: 'GET', path: `/runs/${id}/artifacts/none`, scope: 'artifacts:read' },
    {
      name: 'resolve interrupt',
      method: 'POST',
      path: `/runs/${id}/interrupts/none`,
      body: {},
      scope: 'approvals:respond',
    },
    { name: 'read workflow', method: 'GET', path: '/workflows/none', scope: 'manifest:read' },
    { name: 'register webhook', method: 'POST', path: '/webhooks', body: {}, scope: 'webhooks:manage' },
    {
      name: 'unregister webhook',
      method: 'DELETE',
      path: `/webhooks/${id}${major === 1 ? `?tenantId=${segment(workspace ?? 'none')}` : ''}`,
      scope: 'webhooks:manage',
    },
  ];
}
