import type { AuditFact } from '@svc/auth/audit';
import type { Major } from '@svc/versioning';
import { factAbout } from '../audit/fact.ts';
import type { RequestRecord } from '../http/request-record.ts';
import type { Log } from '../ports/log.ts';

/** Logs a request, and the decision that denied it. @see Interface: Audit logging */
export function logRequest(log: Log, answered: RequestRecord): void {
  const { principal, operation, method, path, scope, major, status, latencyMs, traceId, decided } = answered;
  const { credentialId, tenancy, lane, binding } = principal;
  log({
    level: 'info',
    event: 'request',
    keyId: credentialId,
    tenant: tenancy.tenant,
    lane,
    binding,
    operation,
    method,
    path,
    scope,
    major,
    status,
    latencyMs,
    traceId,
  });
  if (decided?.allowed === false)
    log({ level: 'info', event: 'authorization.decided', tenant: tenancy.tenant, ...decided, traceId });
}

/**
 * Returns the major that a request uses. Undefined for a path under `/host/<org>`, which belongs to none; its twin under
 * `/v1` ends with major 1.
 */
export function majorOf({ operation, path, major }: RequestRecord): Major | undefined {
  if (operation !== MOUNTED) return major;
  return path?.startsWith('/v1/') ? 1 : undefined;
}

/** The name under which requests to mounts are recorded. */
const MOUNTED = 'host';

/** The audit fact of a request. */
export function requestFact(answered: RequestRecord): AuditFact {
  const { principal, operation, method, path, scope, status, startedAt, latencyMs, traceId, decided } = answered;
  return factAbout(principal, {
    action: 'request',
    target: decided === undefined || decided.resource === 'withheld' ? null : decided.resource,
    at: startedAt,
    details: {
      operation,
      method: /^[A-Z]{1,16}$/.test(method) ? method : 'other',
      path: path ?? null,
      scope: scope ?? null,
      status,
      latencyMs,
      ...(traceId !== undefined && { traceId }),
      ...(decided !== undefined && { allowed: decided.allowed, reason: decided.reason }),
    },
  });
}
