import { createHash } from 'node:crypto';
import type { Principal } from '@svc/auth';
import type { PresentedIdentity, WorkloadBinding } from '@svc/auth/workload';
import type { AccessRecord, StoredBinding } from '../ports/access.ts';
import type { IssuerGrants, Named } from './issuer-grants.ts';

/**
 * Returns the binding of an identity among records of its lookup. One that was made under a grant which the configuration
 * has no more binds nothing.
 */
export function boundIn(
  found: readonly AccessRecord[],
  { issuer, subject, scheme }: PresentedIdentity,
  grants: IssuerGrants,
): WorkloadBinding | undefined {
  const tenant = grants.tenantOf({ issuer, subject });
  return found.find(
    (record): record is StoredBinding =>
      record.kind === 'binding' &&
      record.tenant === tenant &&
      record.issuer === issuer &&
      record.subject === subject &&
      (record.scheme === undefined || record.scheme === scheme),
  );
}

/** An identity by which a workload was accepted, and the principal to which it was bound then. */
export interface AcceptedIdentity {
  readonly named: PresentedIdentity;
  readonly principal: string;
}

/** Returns the identities by which a workload was accepted: its own, and that of its delegator. */
export function identitiesOf({
  id,
  workload,
  tokens = [],
}: Pick<Principal, 'id' | 'workload' | 'tokens'>): readonly AcceptedIdentity[] {
  if (workload === undefined) return [];
  const { identity, actor, onBehalfOf, depth } = workload;
  const { scheme, issuer = '', subject } = identity;
  const own = { named: { scheme, issuer, subject }, principal: actor.principalId };
  // The tokens of a delegation are the last ones, that of the delegator first.
  const delegator = onBehalfOf && tokens[tokens.length - depth];
  if (delegator === undefined) return [own];
  return [
    own,
    { named: { scheme: undefined, issuer: delegator.issuer, subject: delegator.subject ?? '' }, principal: id },
  ];
}

/** Names a binding by its identity, so that a tenant binds each once. */
export function bindingId({ issuer, subject }: Named): string {
  return `wlb_${digestOf([issuer, subject])}`;
}

/** The principal of a workload for which none is asked: no other credential acts for it. */
export function principalOfWorkload(tenant: string, { issuer, subject }: Named): string {
  return `wkl_${digestOf([tenant, issuer, subject])}`;
}

function digestOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
