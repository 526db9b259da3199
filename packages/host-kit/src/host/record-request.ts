import type { AuditFact } from '@svc/auth/audit';
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
    log({ level: 'info', event: 'authorization.decided', tenant: tenancy.tenant, ...decided });
}

/** The audit fact of a request. */
export function requestFact(answered: RequestRecord): AuditFact {
  const { principal, operation, method, path, scope, status, startedAt, latencyMs, decided } = answered;
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
      ...(decided !== undefined && { allowed: decided.allowed, reason: decided.reason }),
    },
  });
}
