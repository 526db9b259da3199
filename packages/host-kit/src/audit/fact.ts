import { isOpaqueId, type Principal } from '@svc/auth';
import type { AuditDetails, AuditFact } from '@svc/auth/audit';
import type { AccessRecord } from '../ports/access.ts';
import type { StoredApiKey } from '../ports/api-keys.ts';
import type { Run } from '../ports/runs.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { Trigger } from '../ports/triggers.ts';

/**
 * Writes an audit fact in the transaction of the change that it records. Does nothing on a host that keeps no audit
 * log.
 */
export type RecordAudit = (fact: AuditFact, transaction: Transaction) => Promise<void>;

/** The audited actions of callers. */
export type AuditAction =
  | 'request'
  | 'request.refused'
  | 'authentication.refused'
  | 'run.create'
  | 'run.fork'
  | 'run.cancel'
  | 'run.pause'
  | 'run.resume'
  | 'run.annotate'
  | 'run.debug-bundle'
  | 'interrupt.resolve'
  | 'interrupt.override'
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
  | 'portal-session.create'
  | 'portal-session.exchange'
  | 'portal-session.revoke'
  | 'trigger.register'
  | 'trigger.edit'
  | 'trigger.pause'
  | 'trigger.resume'
  | 'trigger.remove'
  | 'trigger.rotate-secret'
  | 'trigger.redrive'
  | 'trigger.dead-letter'
  | 'trigger.state'
  | 'trigger.skip'
  | 'trigger.refuse'
  | 'workspace.put'
  | 'workspace.remove'
  | 'byok.put'
  | 'byok.remove'
  | 'byok.open'
  | 'key.created'
  | 'key.updated'
  | 'key.rotated'
  | 'key.revoked'
  | 'key.used-first'
  | 'key.expired'
  | 'role.created'
  | 'role.updated'
  | 'role.removed'
  | 'assignment.created'
  | 'assignment.removed'
  | 'binding.created'
  | 'binding.updated'
  | 'binding.removed'
  | 'credential.withdrawn'
  | 'credential.restored';

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
    /** The workspace of the target. Default: that of a credential for a single workspace. */
    readonly workspace?: string | undefined;
    /** Further details, without secrets and content. */
    readonly details?: AuditDetails & { readonly [name in BaseField | 'workspace']?: never };
  },
): AuditFact {
  const { tenancy, credentialId, lane, binding } = principal;
  // The base fields come last: no detail of an action replaces what every fact says about its caller.
  const details = {
    ...performed.details,
    ...({ tenant: tenancy.tenant, mode: tenancy.mode, credential: credentialId, lane, binding } satisfies Base),
    ...placeOf(performed.workspace ?? onlyWorkspace(principal)),
  };
  return {
    action: performed.action,
    actor: isOpaqueId(principal.id) ? principal.id : 'withheld',
    target: performed.target === null || isTarget(performed.target) ? performed.target : 'withheld',
    occurredAt: new Date(performed.at).toISOString(),
    details: plainDetails(details),
  };
}

/**
 * Makes the audit fact about an action of a run, which acts for the principal that requested it. A run of a
 * single-tenant host names no principal.
 */
export function factAboutRun(
  { runId, tenant, workspace, mode, owner }: Pick<Run, 'runId' | 'tenant' | 'workspace' | 'mode' | 'owner'>,
  performed: {
    readonly action: AuditAction;
    readonly target: string | null;
    /** When the action happened, in ms since the epoch. */
    readonly at: number;
    readonly details?: AuditDetails;
  },
): AuditFact {
  const { action, target, at } = performed;
  const details = { ...performed.details, run: runId, tenant, mode, ...placeOf(workspace) };
  return {
    action,
    actor: owner !== undefined && isOpaqueId(owner.principal) ? owner.principal : null,
    target: target === null || isTarget(target) ? target : 'withheld',
    occurredAt: new Date(at).toISOString(),
    details: plainDetails(details),
  };
}

/** Makes the audit fact about an event of a trigger, which acts for the principal that registered it. */
export function factAboutTrigger(
  { triggerId, tenant, workspace, mode, registrar }: Trigger,
  { action, at, details }: { readonly action: AuditAction; readonly at: number; readonly details: AuditDetails },
): AuditFact {
  return {
    action,
    actor: isOpaqueId(registrar.id) ? registrar.id : 'withheld',
    target: isTarget(`${tenant}/${triggerId}`) ? `${tenant}/${triggerId}` : 'withheld',
    occurredAt: new Date(at).toISOString(),
    details: plainDetails({ ...details, tenant, mode, ...placeOf(workspace) }),
  };
}

/** The workspace by which the entry is listed. A name that the log does not accept is left out: the tenant's own auditors see it. */
function placeOf(workspace: string | undefined): { readonly workspace?: string } {
  return workspace !== undefined && PLAIN.test(workspace) ? { workspace } : {};
}

function onlyWorkspace({ tenancy: { workspaces } }: Principal): string | undefined {
  return workspaces !== 'all' && workspaces.length === 1 ? workspaces[0] : undefined;
}

/**
 * Makes the audit fact about an event of an API key that no caller requested: its first use, its expiry, and its import.
 */
export function factAboutKey(
  { id, tenant, mode, source }: Pick<StoredApiKey, 'id' | 'tenant' | 'mode' | 'source'>,
  { action, at }: { readonly action: AuditAction /** In ms since the epoch. */; readonly at: number },
): AuditFact {
  const details = { tenant, mode, source };
  return {
    action,
    actor: null,
    target: isTarget(id) ? id : 'withheld',
    occurredAt: new Date(at).toISOString(),
    details: plainDetails(details),
  };
}

/**
 * Makes the audit fact about a change of access that no caller requested: the import of a configuration, and a withdrawal
 * that an issuer asked for. One of all tenants names no tenant.
 */
export function factAboutAccess(
  record: AccessRecord,
  { action, at, details }: { readonly action: AuditAction; readonly at: number; readonly details?: AuditDetails },
): AuditFact {
  const { id, tenant, source } = record;
  const workspace = record.kind === 'assignment' ? record.workspace : undefined;
  // Roles hold for both modes, and only callers of live data change them and bindings.
  const mode = record.kind === 'withdrawal' ? record.mode : 'live';
  return {
    action,
    actor: null,
    target: isTarget(id) ? id : 'withheld',
    occurredAt: new Date(at).toISOString(),
    details: plainDetails({
      ...details,
      ...(tenant !== '' && { tenant }),
      ...(mode !== undefined && { mode }),
      source,
      ...placeOf(workspace),
    }),
  };
}

/** The fields of every fact about a caller's action. */
type Base = { readonly [name in BaseField]: string };
type BaseField = 'tenant' | 'mode' | 'credential' | 'lane' | 'binding';

function isTarget(target: string): boolean {
  const parts = target.split('/', 3);
  return parts.length <= 2 && parts.every(isOpaqueId);
}

/** Copies by hand: every request of a host makes a fact, and lists of entries cost twice as much. */
function plainDetails(details: AuditDetails): AuditDetails {
  const copy: Record<string, AuditDetails[string]> = {};
  for (const name of Object.keys(details)) {
    const value = details[name];
    if (value !== undefined) copy[name] = plain(value);
  }
  return copy;
}

function plain(value: string | number | boolean | null): string | number | boolean | null {
  return typeof value !== 'string' || PLAIN.test(value) ? value : 'withheld';
}

const PLAIN = /^[A-Za-z0-9 ._~:=/{}*,-]{0,256}$/;
