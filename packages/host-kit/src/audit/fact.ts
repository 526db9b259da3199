import { isOpaqueId, type Principal } from '@svc/auth';
import type { AuditDetails, AuditFact } from '@svc/auth/audit';
import type { Run } from '../ports/runs.ts';
import type { Transaction } from '../ports/transaction.ts';

/**
 * Writes an audit fact in the transaction of the change that it records. Does nothing on a host that keeps no audit
 * log.
 */
export type RecordAudit = (fact: AuditFact, transaction: Transaction) => Promise<void>;

/** The audited actions of callers. */
export type AuditAction =
  | 'request'
  | 'request.refused'
  | 'run.create'
  | 'run.fork'
  | 'run.cancel'
  | 'run.pause'
  | 'run.resume'
  | 'interrupt.resolve'
  | 'interrupt.token'
  | 'webhook.register'
  | 'webhook.unregister'
  | 'webhook.pause'
  | 'webhook.resume'
  | 'webhook.redrive'
  | 'webhook.rotate-secret'
  | 'webhook.edit'
  | 'webhook.test'
  | 'webhook.resend'
  | 'webhook.redrive-job'
  | 'webhook.replay-job'
  | 'webhook.transfer-job'
  | 'webhook.job-pause'
  | 'webhook.job-resume'
  | 'webhook.job-cancel'
  | 'workspace.put'
  | 'workspace.remove'
  | 'byok.put'
  | 'byok.remove'
  | 'byok.open';

/**
 * Makes the audit fact about a caller's action. An id or a text that the audit log does not accept is recorded as
 * `withheld`: a fact must not fail the request that it is about.
 */
export function factAbout(
  principal: Principal,
  performed: {
    readonly action: AuditAction;
    /** An id, or two joined by a slash. */
    readonly target: string | null;
    /** When the action happened, in ms since the epoch. */
    readonly at: number;
    /** Further details, without secrets and content. */
    readonly details?: AuditDetails & { readonly [name in BaseField]?: never };
  },
): AuditFact {
  const { tenancy, credentialId, lane, binding } = principal;
  // The base fields come last: no detail of an action replaces what every fact says about its caller.
  const details = {
    ...performed.details,
    ...({ tenant: tenancy.tenant, mode: tenancy.mode, credential: credentialId, lane, binding } satisfies Base),
  };
  return {
    action: performed.action,
    actor: isOpaqueId(principal.id) ? principal.id : 'withheld',
    target: performed.target === null || isTarget(performed.target) ? performed.target : 'withheld',
    occurredAt: new Date(performed.at).toISOString(),
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, plain(value)])),
  };
}

/**
 * Makes the audit fact about an action of a run, which acts for the principal that requested it. A run of a
 * single-tenant host names no principal.
 */
export function factAboutRun(
  { runId, tenant, mode, owner }: Pick<Run, 'runId' | 'tenant' | 'mode' | 'owner'>,
  performed: {
    readonly action: AuditAction;
    readonly target: string | null;
    /** When the action happened, in ms since the epoch. */
    readonly at: number;
    readonly details?: AuditDetails;
  },
): AuditFact {
  const { action, target, at } = performed;
  const details = { ...performed.details, run: runId, tenant, mode };
  return {
    action,
    actor: owner !== undefined && isOpaqueId(owner.principal) ? owner.principal : null,
    target: target === null || isTarget(target) ? target : 'withheld',
    occurredAt: new Date(at).toISOString(),
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, plain(value)])),
  };
}

/** The fields of every fact about a caller's action. */
type Base = { readonly [name in BaseField]: string };
type BaseField = 'tenant' | 'mode' | 'credential' | 'lane' | 'binding';

function isTarget(target: string): boolean {
  const parts = target.split('/', 3);
  return parts.length <= 2 && parts.every(isOpaqueId);
}

function plain(value: string | number | boolean | null): string | number | boolean | null {
  return typeof value !== 'string' || PLAIN.test(value) ? value : 'withheld';
}

const PLAIN = /^[A-Za-z0-9 ._~:=/{}*,-]{0,256}$/;
