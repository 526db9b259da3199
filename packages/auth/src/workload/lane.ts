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

/** Options of `workloadLane`. */
export interface WorkloadLaneOptions extends SenderConstraints {
  /** The accepted schemes, which discovery advertises as `schemes`. Others are refused. */
  readonly schemes: readonly WorkloadScheme[];
  /** The name of this host in identities, or several. */
  readonly audience: string | readonly string[];
  /** The policy of the host: returns the principal of a verified identity, or undefined for none. */
  readonly resolve: (identity: PresentedIdentity) => WorkloadBinding | undefined | Promise<WorkloadBinding | undefined>;
  /**
   * Accepted bindings of an identity to its sender, which discovery advertises as `senderConstraint`. Default empty:
   * bearer tokens are accepted.
   */
  readonly senderConstraint?: readonly ('dpop' | 'mtls')[];
  /** Rules for delegation proofs. Default: a request with a proof is refused. */
  readonly delegation?: DelegationRules;
  /** Time limit of `resolve` in milliseconds. Default 2000. */
  readonly resolveTimeoutMs?: number;
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  readonly now: () => number;
}

/** A verified identity, for the policy of the host. */
export interface PresentedIdentity {
  /** Undefined for a delegator: an issuer of delegations names it. */
  readonly scheme: WorkloadIdentity['scheme'] | undefined;
  /** The trust root. */
  readonly issuer: string;
  /** The subject, in the form of the scheme. */
  readonly subject: string;
}

/** The principal of an identity, with its grants. */
export interface WorkloadBinding {
  /** Opaque id of the principal, never personal data. */
  readonly principal: string;
  /** The stated kind. Default: a workload. */
  readonly principalKind?: 'user' | 'agent' | undefined;
  /** Opaque id of the tenant. */
  readonly tenant: string;
  /** Reachable workspaces of the tenant. */
  readonly workspaces: Tenancy['workspaces'];
  /** Scopes. A segment may be `*`. */
  readonly scopes: readonly string[];
  /** The data that the principal reaches. */
  readonly mode: Tenancy['mode'];
}

/**
 * Makes the lane that authenticates workloads, by a token or by the certificate of their connection. The checks run in
 * the interface's order: scheme, proof, binding to the sender, audience, resolution. The first that fails, also by an
 * error, refuses the request.
 *
 * With a delegation proof in the header `SVC-Delegation` the principal is the delegator, limited to the delegated
 * scopes; the caller is its actor.
 *
 * @throws {TypeError} when `schemes`, `audience` or `delegation` is invalid
 * @example
 * const schemes = [jwtSvid({ trustDomains })];
 * const audience = 'https://svc.example.com';
 * const lane = workloadLane({ schemes, audience, resolve: findWorkload, now: Date.now });
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
    // One refusal for all cases: it must not tell whether a tenant exists.
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

/**
 * Maps a fault to a refusal. An unreachable trust root has the code of a bad signature: the code must not tell them
 * apart.
 */
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
