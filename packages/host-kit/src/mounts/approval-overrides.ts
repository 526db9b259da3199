import { resolveId } from '@svc/versioning/ids';
import { HostError } from '../errors.ts';
import { json } from '../http/description.ts';
import { type MountRoute, mountRoute, parse } from '../http/route.ts';
import { decodedSegment } from '../http/segment.ts';
import { overrideApproval } from '../interrupts/override.ts';
import { Unanswerable } from '../interrupts/unanswerable.ts';
import type { RunServices } from '../runs/change-run.ts';
import { overrideRequest, resolvedBody, resolvedInterrupt } from '../wire/interrupt.ts';
import { addressedMajor, type ServedMajors, VERSION_HEADER } from './addressed-major.ts';

/**
 * The route `/host/<org>/interrupts/{runId}/{nodeId}/override`. It has a scope of its own, so that a caller who may
 * answer approvals cannot override them.
 */
export function approvalOverrideRoutes(options: RunServices & { readonly served: ServedMajors }): MountRoute[] {
  return [
    mountRoute({
      method: 'POST',
      path: '/interrupts/{runId}/{nodeId}/override',
      scope: 'approvals:override',
      takesBody: true,
      describes: {
        operationId: 'overrideApproval',
        summary: 'Override an approval',
        description:
          'Accepts the approval of a node for a caller that need not be an approver. It grants an approval with ' +
          '`overrideBypassesQuorum`; otherwise it counts as one vote. The log of the run has the reason.',
        headers: VERSION_HEADER,
        body: overrideRequest,
        example: { reason: 'Both approvers are on holiday, and the release fixes an outage.' },
        answers: { 200: json('The override is recorded. This is the state of the run.', resolvedInterrupt) },
        errors: ['not_found', 'run_forbidden', 'id_tenant_mismatch', 'interrupt_already_resolved'],
      },
      // Safe without an idempotency key: a repeated override counts once.
      async serve({ request, headers, params, principal, json: body }) {
        const { reason } = parse(overrideRequest, body);
        const resolved = resolveId(params.runId ?? '', { tenant: principal.tenancy.tenant, major: 2, overlap: true });
        if (!resolved.ok) throw resolved.error;
        const address = { runId: resolved.id, nodeId: decodedSegment(params.nodeId) ?? '' };
        const { run, nodeId } = await overrideApproval(options, principal, address, reason).catch(asHostError);
        const major = addressedMajor(request.url, headers, options.served);
        return { status: 200, body: resolvedBody(major, run, nodeId) };
      },
    }),
  ];
}

function asHostError(error: unknown): never {
  if (!(error instanceof Unanswerable)) throw error;
  if (error.reason === 'not-found') {
    throw new HostError('not_found', 'The node asks for no approval.', { details: undefined });
  }
  const message = 'The approval is already decided, or its run no longer waits.';
  throw new HostError('interrupt_already_resolved', message, { details: undefined });
}
