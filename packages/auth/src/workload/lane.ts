import type { AcceptedCredentials } from '../accepted-credentials.ts';
import { type Confirmed, confirmedSender, type SenderConstraints, useProof } from '../bearer/confirmation.ts';
import { type ClaimedCaller, claimedIn } from '../claimed-caller.ts';
import { clockOf } from '../clock-of.ts';
import type { Credential } from '../credential.ts';
import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import { audiencesOf, requireLifetime } from '../jwt/claims.ts';
import { readJwt, textClaim } from '../jwt/jwt.ts';
import { TokenFault } from '../jwt/signature.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Admission, AuthOutcome, Lane } from '../lane.ts';
import type { Binding, Principal } from '../principal.ts';
import type { RequestHead } from '../request-head.ts';
import { checkedBinding, type WorkloadBinding } from './binding.ts';
import {
  DELEGATION_RULES,
  type DelegationRules,
  type DelegationVerifier,
  delegationVerifier,
  presentedProof,
  requireWithin,
  type VerifiedDelegation,
} from './delegation.ts';
import type { WorkloadSchemeName } from './identity.ts';
import { type Caller, delegatedPrincipal, directPrincipal, WORKLOAD_LANE } from './principal.ts';
import { faultOfDelegation, refusalOf, UNRESOLVABLE, unjudged, unresolvable, unverifiedError } from './refusals.ts';
import type { Presented, Unverified, VerifiedIdentity, WorkloadScheme } from './scheme.ts';

export type { WorkloadBinding } from './binding.ts';

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
  /**
   * One sentence, of at most 1024 characters, about the principal that `resolve` returns for an identity. Discovery advertises
   * it. Default: "The host binds each subject, by its issuer and its exact text, to a principal."
   */
  readonly subjectMapping?: string;
  /** Time limit of `resolve` in milliseconds. Default 2000. */
  readonly resolveTimeoutMs?: number;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

const WORKLOAD_LANE_OPTIONS: OptionNames<WorkloadLaneOptions> = {
  dpop: true,
  certificateOf: true,
  schemes: true,
  audience: true,
  resolve: true,
  senderConstraint: true,
  delegation: true,
  subjectMapping: true,
  resolveTimeoutMs: true,
  now: true,
};

/** A verified identity, for the policy of the host. */
export interface PresentedIdentity {
  /** Undefined for a delegator: an issuer of delegations names it. */
  readonly scheme: WorkloadSchemeName | undefined;
  /** The trust root. */
  readonly issuer: string;
  /** The subject, in the form of the scheme. */
  readonly subject: string;
}

/**
 * Makes the lane that authenticates workloads, by a token or by the certificate of their connection. The checks run in
 * the interface's order: scheme, proof, binding to the sender, audience, resolution. The first that fails, also by an
 * error, refuses the request. Between the last two, the status of a token is judged, where its issuer has `statusLists`. A
 * DPoP proof is used up after all of them.
 *
 * With a delegation proof in the header `SVC-Delegation` the principal is the delegator, limited to the delegated
 * scopes; the caller is its actor.
 *
 * @throws {TypeError} when `schemes`, `audience`, `delegation` or `subjectMapping` is invalid
 * @example
 * const schemes = [jwtSvid({ trustDomains })];
 * const audience = 'https://svc.example.com';
 * const lane = workloadLane({ schemes, audience, resolve: findWorkload });
 * @see Interface: Workload identity
 */
export function workloadLane(options: WorkloadLaneOptions): Lane {
  requireKnown('workloadLane', options, WORKLOAD_LANE_OPTIONS);
  const { delegation } = options;
  if (delegation !== undefined) requireKnown('workloadLane: delegation', delegation, DELEGATION_RULES);
  const judge = new WorkloadJudge(options);
  return {
    name: WORKLOAD_LANE,
    advertises: [acceptedWorkloads(options)],
    authenticate: (request, credential, admission) => judge.authenticate(request, credential, admission),
  };
}

function acceptedWorkloads(options: WorkloadLaneOptions): AcceptedCredentials {
  const { schemes, senderConstraint = [], delegation, subjectMapping = BY_EXACT_TEXT, dpop } = options;
  if (typeof subjectMapping !== 'string' || subjectMapping === '' || subjectMapping.length > 1024)
    throw new TypeError('workloadLane: subjectMapping must be a sentence of at most 1024 characters.');
  return {
    kind: 'workload',
    schemes: [...new Set(schemes.map(({ scheme }) => scheme))],
    trustRoots: [...new Set(schemes.flatMap(({ trustRoots }) => trustRoots))],
    senderConstraint,
    maxChainDepth: delegation?.maxChainDepth,
    subjectMapping,
    dpopAlgorithms: dpop?.algorithms,
  };
}

const BY_EXACT_TEXT = 'The host binds each subject, by its issuer and its exact text, to a principal.';

/** Runs the checks of the lane, each a method, in the order of `#judge`. */
class WorkloadJudge {
  readonly #options: WorkloadLaneOptions;
  readonly #now: () => number;
  readonly #audiences: readonly string[];
  readonly #senderConstraint: readonly Binding[];
  readonly #delegations: DelegationVerifier | undefined;

  constructor(options: WorkloadLaneOptions) {
    requireSchemes(options.schemes);
    this.#options = options;
    this.#now = clockOf('workloadLane', options.now);
    this.#audiences = requireAudiences(options.audience);
    this.#senderConstraint = options.senderConstraint ?? [];
    this.#delegations = options.delegation && delegationVerifier(options.delegation);
  }

  /** Returns undefined for a request without a workload identity: its credential may be of another lane. */
  authenticate(
    request: RequestHead,
    credential: Credential | undefined,
    admission: Admission,
  ): Promise<AuthOutcome> | AuthOutcome | undefined {
    const presented = presentedIn(request, credential);
    if (presented === undefined) return undefined;
    for (const scheme of this.#options.schemes) {
      const unverified = scheme.recognize(presented);
      if (unverified !== undefined) return this.#judge(unverified, scheme.issuerClass, presented, admission);
    }
    if (!isSvid(presented)) return undefined;
    return { kind: 'refused', error: unverifiedError('This host does not accept workload identities of this scheme.') };
  }

  async #judge(
    unverified: Unverified,
    issuerClass: string,
    presented: Presented,
    admission: Admission,
  ): Promise<AuthOutcome> {
    await admission.require(this.#claimed(unverified, presented));
    try {
      const identity = await unverified.verify(this.#now());
      const sender = await this.#requireSender(identity, presented);
      this.#requireAudience(identity);
      // After the sender is confirmed: a thief of a bound token makes the host fetch nothing.
      await identity.requireStatus?.();
      const { scheme, issuer, subject } = identity;
      const binding = await this.#resolve({ scheme, issuer, subject });
      const principal = await this.#principalOf({ identity, binding, sender, issuerClass }, presented.request);
      await useProof(sender, principal, admission);
      return { kind: 'authenticated', principal, headers: sender.headers };
    } catch (error) {
      if (error instanceof TokenFault) throw refusalOf(error);
      throw AuthError.is(error)
        ? error
        : unjudged('identity_unverified', 'The identity could not be verified.', error, 'internal');
    }
  }

  #claimed({ certificate }: Unverified, { jwt }: Presented): ClaimedCaller | undefined {
    if (jwt === undefined) {
      return certificate && { credential: () => certificate.thumbprint, caller: () => certificate.name };
    }
    return claimedIn(jwt, () => {
      this.#requireAudience({ audiences: audiencesOf(jwt.claims) });
      requireLifetime(jwt.claims, { ...LOOSE_TIMES, now: this.#now() });
    });
  }

  async #requireSender(identity: VerifiedIdentity, { request, credential, jwt }: Presented): Promise<Confirmed> {
    const sender: Confirmed =
      jwt === undefined || credential === undefined
        ? certifiedSender(identity)
        : await confirmedSender(jwt, request, credential, this.#options);
    const accepted = this.#senderConstraint;
    if (accepted.length === 0 || accepted.includes(sender.binding)) return sender;
    const message = `The workload identity must be bound to its sender by ${accepted.join(' or ')}.`;
    throw new AuthError('sender_constraint_missing', message, undefined);
  }

  #requireAudience({ audiences }: Pick<VerifiedIdentity, 'audiences'>): void {
    if (audiences === undefined || audiences.some((audience) => this.#audiences.includes(audience))) return;
    throw new TokenFault('audience', 'Its audience (aud) must name this host.');
  }

  async #resolve(identity: PresentedIdentity): Promise<WorkloadBinding> {
    const { resolve, resolveTimeoutMs = 2000 } = this.#options;
    let binding: WorkloadBinding | undefined;
    try {
      const found = await withinTime('The resolver', resolveTimeoutMs, resolve(identity));
      binding = found && checkedBinding(found);
    } catch (cause) {
      throw unjudged('identity_unresolvable', UNRESOLVABLE, cause, 'directory');
    }
    if (binding === undefined) throw unresolvable();
    return binding;
  }

  async #principalOf(caller: Caller, request: RequestHead): Promise<Principal> {
    const proof = presentedProof(request);
    if (proof === undefined) return directPrincipal(caller);
    const delegation = await this.#requireDelegation(caller, proof);
    const delegator = await this.#resolve({ scheme: undefined, ...delegation.delegator });
    requireAgreement(caller.binding, delegator, delegation);
    return delegatedPrincipal(caller, delegator, delegation);
  }

  async #requireDelegation({ identity }: Caller, proof: string): Promise<VerifiedDelegation> {
    if (this.#delegations === undefined) {
      throw unverifiedError(NO_DELEGATIONS, undefined, 'delegation');
    }
    const delegation = await this.#delegations.verify(proof, this.#now()).catch(faultOfDelegation);
    const last = delegation.hops.at(-1);
    if (last?.subject === identity.subject && last.issuer === identity.issuer) return delegation;
    throw unverifiedError(NOT_THE_DELEGATE, undefined, 'delegation');
  }
}

/** Each scheme checks the times by its own rules when it verifies. */
const LOOSE_TIMES = { clockSkewSeconds: 3600, maxLifetimeSeconds: Number.POSITIVE_INFINITY, issuedAtOptional: true };

function requireSchemes(schemes: readonly WorkloadScheme[]): void {
  if (schemes.length === 0) {
    throw new TypeError('workloadLane: schemes must not be empty. Pass at least one scheme.');
  }
  const issuers = schemes.flatMap((scheme) => scheme.issuers);
  if (new Set(issuers).size === issuers.length) return;
  throw new TypeError('workloadLane: schemes must not share an issuer. Name each issuer in one scheme.');
}

function requireAudiences(audience: string | readonly string[]): readonly string[] {
  const audiences = [audience].flat();
  if (audiences.length > 0 && !audiences.includes('')) return audiences;
  throw new TypeError('workloadLane: audience must be one or more non-empty strings that name this host.');
}

/** Returns undefined for a credential that is not a token. */
function presentedIn(request: RequestHead, credential: Credential | undefined): Presented | undefined {
  if (credential === undefined) return { request, credential, jwt: undefined };
  if (credential.scheme !== 'bearer' && credential.scheme !== 'dpop') return undefined;
  const jwt = readJwt(credential.token);
  return jwt && { request, credential, jwt };
}

function isSvid({ jwt }: Presented): boolean {
  return jwt !== undefined && textClaim(jwt.claims, 'sub')?.startsWith('spiffe://') === true;
}

function certifiedSender({ certificateThumbprint }: VerifiedIdentity): Confirmed {
  return {
    binding: 'mtls',
    headers: {},
    ...(certificateThumbprint !== undefined && { thumbprint: certificateThumbprint }),
  };
}

/** Checks that a delegation stays within the tenant of the caller and within the scopes of the delegator. */
function requireAgreement(caller: WorkloadBinding, delegator: WorkloadBinding, delegation: VerifiedDelegation): void {
  const agrees = delegator.tenant === caller.tenant && delegator.mode === caller.mode;
  // One refusal for all cases: it must not tell whether a tenant exists.
  if (!agrees || delegation.tenants.some((tenant) => tenant !== caller.tenant)) throw unresolvable();
  for (const { scopes } of delegation.hops) requireWithin(scopes, delegator.scopes);
}

const NO_DELEGATIONS = 'This host does not accept delegations. Omit the header SVC-Delegation.';
const NOT_THE_DELEGATE = 'The last delegate (act) of the delegation proof must be the calling workload.';
