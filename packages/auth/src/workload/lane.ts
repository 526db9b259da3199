import { base64url } from 'jose';
import { sha256 } from '#sha256';
import { confirmedSender, type SenderConstraints } from '../bearer/confirmation.ts';
import type { Credential } from '../credential.ts';
import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import { type Jwt, readJwt, textClaim } from '../jwt/jwt.ts';
import { TokenFault } from '../jwt/signature.ts';
import type { Admission, AuthOutcome, Lane } from '../lane.ts';
import { isOpaqueId } from '../opaque-id.ts';
import type { ActingParty, Binding, Principal } from '../principal.ts';
import type { RequestHead } from '../request-head.ts';
import { checkedSubject, type Subject } from '../subject.ts';
import type { Tenancy } from '../tenancy.ts';
import {
  type DelegationRules,
  delegationVerifier,
  presentedProof,
  requireWithin,
  type VerifiedDelegation,
} from './delegation.ts';
import { type WorkloadIdentity, workloadIdentitySchema } from './identity.ts';
import type { VerifiedIdentity, WorkloadScheme } from './scheme.ts';

export interface WorkloadLaneOptions extends SenderConstraints {
  /** What discovery advertises as `schemes`: everything else is refused. */
  readonly schemes: readonly WorkloadScheme[];
  /** This host, as identities are minted for it. */
  readonly audience: string | readonly string[];
  /** The host's policy: which principal a verified identity is. Undefined: none. */
  readonly resolve: (identity: PresentedIdentity) => WorkloadBinding | undefined | Promise<WorkloadBinding | undefined>;
  /** What discovery advertises as `senderConstraint`. Empty, the default: tokens are taken from whoever bears them. */
  readonly senderConstraint?: readonly ('dpop' | 'mtls')[];
  readonly delegation?: DelegationRules;
  /** How long `resolve` may take. Default 2000. */
  readonly resolveTimeoutMs?: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface PresentedIdentity {
  /** Undefined for a delegator, whom an issuer of delegations vouches for. */
  readonly scheme: WorkloadIdentity['scheme'] | undefined;
  readonly issuer: string;
  readonly subject: string;
}

/** Who an identity is to the host, and what it may do there. */
export interface WorkloadBinding {
  /** Opaque, never personal data. */
  readonly principal: string;
  readonly principalKind?: 'user' | 'agent' | undefined;
  readonly tenant: string;
  readonly workspaces: Tenancy['workspaces'];
  readonly scopes: readonly string[];
  readonly mode: Tenancy['mode'];
}

/**
 * Authenticates workloads, by a token or by the certificate of their connection. The checks run in the interface's order: scheme,
 * proof, binding to the sender, audience, resolution; the first that fails decides the refusal, and an error anywhere is one.
 *
 * With a delegation proof in the header `SVC-Delegation` the principal is whom the proof acts for, held to the scopes that were
 * delegated; the caller becomes its actor.
 *
 * @throws {TypeError} for options that cannot be right
 * @example
 * const lane = workloadLane({ schemes: [jwtSvid({ trustDomains })], audience: 'https://svc.example.com', resolve: findWorkload, now: Date.now });
 * @see Interface: Workload identity
 */
export function workloadLane(options: WorkloadLaneOptions): Lane {
  const { schemes, resolve, senderConstraint = [], resolveTimeoutMs = 2000, now } = options;
  const ours = [options.audience].flat();
  if (schemes.length === 0) throw new TypeError('workloadLane: schemes must not be empty. Pass at least one scheme.');
  if (ours.length === 0 || ours.includes(''))
    throw new TypeError('workloadLane: audience must be one or more non-empty strings that name this host.');
  const issuers = schemes.flatMap((scheme) => scheme.issuers);
  if (new Set(issuers).size < issuers.length)
    throw new TypeError('workloadLane: schemes must not share an issuer. Name each issuer in one scheme.');
  const delegations = options.delegation && delegationVerifier(options.delegation);

  return {
    name: LANE,
    authenticate(request, credential, admission) {
      const isToken = credential?.scheme === 'bearer' || credential?.scheme === 'dpop';
      if (credential !== undefined && !isToken) return undefined;
      const jwt = credential && readJwt(credential.token);
      if (credential !== undefined && jwt === undefined) return undefined;
      for (const scheme of schemes) {
        const unverified = scheme.recognize({ request, credential, jwt });
        if (unverified === undefined) continue;
        return judged(scheme, () => unverified.verify(now()), { request, credential, jwt }, admission);
      }
      const isSvid = jwt !== undefined && textClaim(jwt.claims, 'sub')?.startsWith('spiffe://') === true;
      return isSvid
        ? { kind: 'refused', error: unverifiedError('This host does not accept workload identities of this scheme.') }
        : undefined;
    },
  };

  async function judged(
    scheme: WorkloadScheme,
    verify: () => Promise<VerifiedIdentity> | VerifiedIdentity,
    presented: { request: RequestHead; credential: Credential | undefined; jwt: Jwt | undefined },
    admission: Admission,
  ): Promise<AuthOutcome> {
    await admission.require();
    try {
      const identity = await verify();
      const sender = await requireSender(identity, presented);
      requireAudience(identity);
      const binding = await resolved({ scheme: identity.scheme, issuer: identity.issuer, subject: identity.subject });
      const proof = presentedProof(presented.request);
      const caller = { identity, binding, sender, issuerClass: scheme.issuerClass };
      const principal = proof === undefined ? directly(caller) : await onBehalf(caller, proof);
      return { kind: 'authenticated', principal, headers: sender.headers };
    } catch (error) {
      if (error instanceof TokenFault) throw refusalOf(error);
      throw AuthError.is(error) ? error : unverifiedError('The identity could not be verified.', error);
    }
  }

  async function requireSender(
    identity: VerifiedIdentity,
    { request, credential, jwt }: { request: RequestHead; credential: Credential | undefined; jwt: Jwt | undefined },
  ): Promise<Sender> {
    const { certificateThumbprint } = identity;
    const sender: Sender =
      jwt === undefined || credential === undefined
        ? { binding: 'mtls', headers: {}, thumbprint: certificateThumbprint }
        : await confirmedSender(jwt, request, credential, options);
    const accepted: readonly Binding[] = senderConstraint;
    if (accepted.length > 0 && !accepted.includes(sender.binding)) {
      const message = `The workload identity must be bound to its sender by ${accepted.join(' or ')}.`;
      throw new AuthError('sender_constraint_missing', message, undefined);
    }
    return sender;
  }

  function requireAudience({ audiences }: VerifiedIdentity): void {
    if (audiences === undefined || audiences.some((audience) => ours.includes(audience))) return;
    throw new TokenFault('audience', 'Its audience (aud) must name this host.');
  }

  async function resolved(identity: PresentedIdentity): Promise<WorkloadBinding> {
    let binding: WorkloadBinding | undefined;
    try {
      binding = await withinTime('The resolver', resolveTimeoutMs, resolve(identity));
    } catch (cause) {
      throw unresolvable(cause);
    }
    if (binding === undefined || !isOpaqueId(binding.principal) || !isOpaqueId(binding.tenant)) throw unresolvable();
    return binding;
  }

  function directly(caller: Caller): Principal {
    const { identity, binding, sender, issuerClass } = caller;
    const actor = partyOf(binding);
    return {
      ...principalOf(binding, subjectOf(binding, identity.issuer)),
      binding: sender.binding,
      scopes: binding.scopes,
      expiresAt: identity.expiresAt,
      workload: {
        actor,
        onBehalfOf: undefined,
        depth: 0,
        issuerClass,
        audience: identity.audiences === undefined ? 'absent' : 'match',
        identity: recordOf(caller),
      },
    };
  }

  async function onBehalf(caller: Caller, proof: string): Promise<Principal> {
    const { identity, binding, sender, issuerClass } = caller;
    if (delegations === undefined)
      throw unverifiedError('This host does not accept delegations. Omit the header SVC-Delegation.');
    const delegation = await delegations.verify(proof, now());
    const last = delegation.hops.at(-1);
    if (last?.subject !== identity.subject || last.issuer !== identity.issuer) {
      throw unverifiedError('The last delegate (act) of the delegation proof must be the calling workload.');
    }
    const delegator = await resolved({ scheme: undefined, ...delegation.delegator });
    const agrees = delegator.tenant === binding.tenant && delegator.mode === binding.mode;
    // One refusal for all of them, so that it does not tell whether there is such a tenant.
    if (!agrees || delegation.tenants.some((tenant) => tenant !== binding.tenant)) throw unresolvable();
    for (const { scopes } of delegation.hops) requireWithin(scopes, delegator.scopes);
    const subject: Subject = {
      ...subjectOf(delegator, delegation.delegator.issuer),
      actor: actors(delegation, binding),
    };
    return {
      ...principalOf(delegator, subject),
      binding: sender.binding,
      scopes: delegation.scopes,
      expiresAt: Math.min(identity.expiresAt, delegation.expiresAt),
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
}

const LANE = 'workload';

interface Sender {
  readonly binding: Binding;
  readonly headers: Readonly<Record<string, string>>;
  readonly thumbprint?: string | undefined;
}

interface Caller {
  readonly identity: VerifiedIdentity;
  readonly binding: WorkloadBinding;
  readonly sender: Sender;
  readonly issuerClass: string;
}

function principalOf(
  { principal, principalKind, tenant, workspaces, mode }: WorkloadBinding,
  subject: Subject,
): Pick<Principal, 'id' | 'kind' | 'credentialId' | 'lane' | 'tenancy' | 'subject'> {
  return {
    id: principal,
    kind: principalKind,
    credentialId: `${LANE}:${tenant}:${principal}`,
    lane: LANE,
    tenancy: { tenant, workspaces, mode },
    subject: checkedSubject(subject, { tenant, principal, principalKind }),
  };
}

function subjectOf({ principal, principalKind, tenant }: WorkloadBinding, issuer: string): Subject {
  return { issuer, subjectId: principal, tenant, lane: LANE, kind: principalKind ?? 'workload' };
}

function partyOf({ principal, principalKind }: WorkloadBinding): ActingParty {
  return { principalId: principal, kind: principalKind ?? 'workload' };
}

/** The caller by its principal, and who delegated to it before by opaque digests: nobody resolved them. */
function actors({ hops }: VerifiedDelegation, caller: WorkloadBinding): Subject {
  const earlier = hops.slice(0, -1).reduce<Subject | undefined>((inner, { subject, issuer }) => {
    const principal = `w_${sha256(JSON.stringify([issuer, subject])).slice(0, 40)}`;
    const outer = subjectOf({ ...caller, principal, principalKind: undefined }, issuer);
    return inner === undefined ? outer : { ...outer, actor: inner };
  }, undefined);
  const issuer = hops.at(-1)?.issuer ?? '';
  return { ...subjectOf(caller, issuer), ...(earlier !== undefined && { actor: earlier }) };
}

/** The interface's record of what was verified; its schema refuses anything that looks like what was presented. */
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

/** What a workload cannot be told from by the answer: an unreachable trust root refuses like a bad signature. */
function refusalOf({ kind, message, cause }: TokenFault): AuthError {
  if (kind === 'audience') return new AuthError('audience_mismatch', `The identity is refused. ${message}`, undefined);
  return unverifiedError(`The identity is refused. ${message}`, cause);
}

function unverifiedError(message: string, cause?: unknown): AuthError {
  return new AuthError('identity_unverified', message, undefined, { cause });
}

function unresolvable(cause?: unknown): AuthError {
  const message = 'The identity is bound to no principal of this host. Ask the operator of the host to bind it.';
  return new AuthError('identity_unresolvable', message, undefined, { cause });
}
