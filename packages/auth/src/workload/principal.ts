import { base64url } from 'jose';
import { sha256 } from '#sha256';
import type { Confirmed } from '../bearer/confirmation.ts';
import type { ActingParty, Principal } from '../principal.ts';
import { checkedSubject, type Subject } from '../subject.ts';
import type { WorkloadBinding } from './binding.ts';
import type { VerifiedDelegation } from './delegation.ts';
import { type WorkloadIdentity, workloadIdentitySchema } from './identity.ts';
import type { VerifiedIdentity } from './scheme.ts';

/** The name of the lane in principals and Subject records. */
export const WORKLOAD_LANE = 'workload';

/** A workload whose identity, sender and principal are known. */
export interface Caller {
  readonly identity: VerifiedIdentity;
  readonly binding: WorkloadBinding;
  readonly sender: Confirmed;
  readonly issuerClass: string;
}

/** Makes the principal of a workload that acts for itself. */
export function directPrincipal(caller: Caller): Principal {
  const { identity, binding, sender, issuerClass } = caller;
  return {
    ...principalOf(binding, subjectOf(binding, identity.issuer)),
    binding: sender.binding,
    scopes: binding.scopes,
    expiresAt: identity.expiresAt,
    ...(identity.token !== undefined && { tokens: [identity.token] }),
    workload: {
      actor: partyOf(binding),
      onBehalfOf: undefined,
      depth: 0,
      issuerClass,
      audience: identity.audiences === undefined ? 'absent' : 'match',
      identity: recordOf(caller),
    },
  };
}

/** Makes the principal of a workload that acts for a delegator, with the delegated scopes. */
export function delegatedPrincipal(
  caller: Caller,
  delegator: WorkloadBinding,
  delegation: VerifiedDelegation,
): Principal {
  const { identity, binding, sender, issuerClass } = caller;
  const subject: Subject = {
    ...subjectOf(delegator, delegation.delegator.issuer),
    actor: actors(delegation, binding),
  };
  return {
    ...principalOf(delegator, subject),
    binding: sender.binding,
    scopes: delegation.scopes,
    expiresAt: Math.min(identity.expiresAt, delegation.expiresAt),
    tokens: [...(identity.token === undefined ? [] : [identity.token]), ...delegation.tokens],
    workload: {
      actor: partyOf(binding),
      onBehalfOf: partyOf(delegator),
      depth: delegation.hops.length,
      issuerClass,
      audience: 'match',
      identity: recordOf(caller, delegation),
    },
  };
}

function principalOf(
  { principal, principalKind, tenant, workspaces, mode }: WorkloadBinding,
  subject: Subject,
): Pick<Principal, 'id' | 'kind' | 'credentialId' | 'lane' | 'tenancy' | 'subject'> {
  return {
    id: principal,
    kind: principalKind,
    credentialId: `${WORKLOAD_LANE}:${tenant}:${principal}`,
    lane: WORKLOAD_LANE,
    tenancy: { tenant, workspaces, mode },
    subject: checkedSubject(subject, { tenant, principal, principalKind }),
  };
}

function subjectOf({ principal, principalKind, tenant }: WorkloadBinding, issuer: string): Subject {
  return { issuer, subjectId: principal, tenant, lane: WORKLOAD_LANE, kind: principalKind ?? 'workload' };
}

function partyOf({ principal, principalKind }: WorkloadBinding): ActingParty {
  return { principalId: principal, kind: principalKind ?? 'workload' };
}

/**
 * Makes the chain of actors: the caller by its principal, earlier delegates by opaque digests, as they are not
 * resolved.
 */
function actors({ hops }: VerifiedDelegation, caller: WorkloadBinding): Subject {
  const earlier = hops.slice(0, -1).reduce<Subject | undefined>((inner, { subject, issuer }) => {
    const principal = `w_${sha256(JSON.stringify([issuer, subject])).slice(0, 40)}`;
    const outer = subjectOf({ ...caller, principal, principalKind: undefined }, issuer);
    return inner === undefined ? outer : { ...outer, actor: inner };
  }, undefined);
  const issuer = hops.at(-1)?.issuer ?? '';
  return { ...subjectOf(caller, issuer), ...(earlier !== undefined && { actor: earlier }) };
}

/** Makes the interface's record of a verified identity. Its schema refuses a value that looks like a credential. */
function recordOf({ identity, sender }: Caller, delegation?: VerifiedDelegation): WorkloadIdentity {
  const { scheme, subject, issuer, audiences } = identity;
  const { binding, thumbprint } = sender;
  return workloadIdentitySchema.parse({
    scheme,
    subject,
    issuer,
    ...(audiences?.[0] !== undefined && { audience: audiences[0] }),
    ...(binding !== 'bearer' && {
      keyBinding: { method: binding, ...(thumbprint && { thumbprintRef: digestOf(thumbprint) }) },
    }),
    ...(delegation !== undefined && {
      delegation: {
        chain: delegation.hops,
        audience: delegation.audience,
        expiresAt: new Date(delegation.expiresAt).toISOString(),
        proofRef: delegation.proofRef,
      },
    }),
  });
}

function digestOf(thumbprint: string): string {
  const hex = Array.from(base64url.decode(thumbprint), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `sha256:${hex}`;
}
