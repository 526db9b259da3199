import { sha256 } from '#sha256';
import { AuthError } from '../errors.ts';
import { type Algorithm, DEFAULT_ALGORITHMS } from '../jwt/algorithms.ts';
import { audiencesOf, requireText } from '../jwt/claims.ts';
import { type Jwt, objectClaim, readJwt, textClaim } from '../jwt/jwt.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { requireSignature, TokenFault } from '../jwt/signature.ts';
import type { JsonObject } from '../jwt/strict-json.ts';
import { tokenFacts } from '../jwt/token-facts.ts';
import type { OptionNames } from '../known-options.ts';
import type { TokenFacts } from '../principal.ts';
import { headerValues, type RequestHead } from '../request-head.ts';
import { grants, isGrantableScope } from '../scopes.ts';
import { DELEGATION_HEADER } from './delegation-header.ts';
import type { DelegationHop } from './identity.ts';

/** The rules for delegation proofs. */
export interface DelegationRules {
  /** Longest chain in hops: a whole number, at least 1. Discovery advertises it. */
  readonly maxChainDepth: number;
  /** Issuers that may sign a hop, by exact `iss`, with their keys. */
  readonly issuers: readonly {
    /** The exact `iss`. */
    readonly issuer: string;
    /** The public keys of the issuer. */
    readonly keys: KeySource;
  }[];
  /** The name of this host in proofs, or several. */
  readonly audience: string | readonly string[];
  /** Accepted signature algorithms. Default RS256, PS256, ES256, EdDSA and Ed25519. */
  readonly algorithms?: readonly Algorithm[];
  /** Validity, in seconds from `iat`, of a proof without `exp`. Default: such a proof is refused. */
  readonly lifetimeWithoutExpirySeconds?: number;
  /** Longest lifetime of a hop in seconds, from `iat`, or from now without `iat`, to `exp`. Default 86400. */
  readonly maxLifetimeSeconds?: number;
  /** Accepted clock difference for `iat` and `nbf` in seconds. Default 60. */
  readonly clockSkewSeconds?: number;
}

/** The names of {@link DelegationRules}. */
export const DELEGATION_RULES: OptionNames<DelegationRules> = {
  maxChainDepth: true,
  issuers: true,
  audience: true,
  algorithms: true,
  lifetimeWithoutExpirySeconds: true,
  maxLifetimeSeconds: true,
  clockSkewSeconds: true,
};

/** A valid proof. It is provenance: it grants nothing by itself. */
export interface VerifiedDelegation {
  /** The subject for which the chain acts. */
  readonly delegator: { readonly issuer: string; readonly subject: string };
  /** The delegates, from the first to the caller. */
  readonly hops: readonly (DelegationHop & { readonly issuer: string; readonly scopes: readonly string[] })[];
  /** The scopes of the delegator that the last hop may use. */
  readonly scopes: readonly string[];
  /** The audience of the last hop. */
  readonly audience: string;
  /** The earliest expiry of the hops, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Tenants that the chain asserts. They are compared with the caller's tenant and grant nothing. */
  readonly tenants: readonly string[];
  /** The facts of each hop, by which a deny list knows it. */
  readonly tokens: readonly TokenFacts[];
  /** `sha256:` and the SHA-256 of the proof. */
  readonly proofRef: string;
}

export interface DelegationVerifier {
  readonly maxChainDepth: number;
  /**
   * Verifies a proof at `now`, in milliseconds since the epoch.
   *
   * @throws {AuthError} with a closed reason, or {TokenFault}
   */
  verify(proof: string, now: number): Promise<VerifiedDelegation>;
}

/**
 * Returns the proof of a request, if any.
 *
 * @throws {AuthError} `identity_unverified` for two proofs
 */
export function presentedProof(request: RequestHead): string | undefined {
  const [proof, ...others] = headerValues(request, DELEGATION_HEADER);
  if (others.length > 0) throw unverified('Send the header SVC-Delegation once.');
  return proof;
}

/**
 * Makes a verifier of delegation proofs: nested signed tokens of the type `delegation+jwt`. In each, a trusted issuer
 * states that the delegate `act.sub` may act for `sub` towards `aud`, within `scope`, until `exp`. The claim `prf` is
 * the proof of the previous hop, whose `act` must equal the nested `act` of this one. The times of every hop count.
 *
 * @throws {TypeError} when `maxChainDepth`, `issuers`, `audience` or a number of seconds is invalid
 * @see Interface: Workload identity, Delegation rules; RFC 8693, section 4.1
 */
export function delegationVerifier(rules: DelegationRules): DelegationVerifier {
  const { maxChainDepth, algorithms = DEFAULT_ALGORITHMS } = rules;
  const times = timeRules(rules);
  if (!Number.isSafeInteger(maxChainDepth) || maxChainDepth < 1) {
    throw new TypeError('workloadLane: delegation.maxChainDepth must be a whole number, at least 1.');
  }
  const keysOf = new Map(rules.issuers.map(({ issuer, keys }) => [issuer, keys]));
  const ours = [rules.audience].flat();
  if (keysOf.size === 0 || ours.length === 0) {
    throw new TypeError('workloadLane: delegation.issuers and delegation.audience must not be empty.');
  }

  return { maxChainDepth, verify };

  async function verify(proof: string, now: number): Promise<VerifiedDelegation> {
    const links = unwrapped(proof, maxChainDepth);
    for (const link of links) await requireIssued(link);
    requireConsistent(links);
    const hops = links.map(hopOf);
    const [{ claims }] = links;
    const delegator = { issuer: requireText(claims, 'iss'), subject: requireText(claims, 'sub') };
    requireAcyclic([delegator.subject, ...hops.map(({ subject }) => subject)]);
    requireNarrowing(hops.map(({ scopes }) => scopes));
    const audience = links.map((link) => audienceOf(link, ours)).at(-1) ?? '';
    const expiresAt = Math.min(...links.map((link) => expiryOf(link.claims, times, now)));
    if (!(now < expiresAt)) throw new AuthError('delegation_expired', 'The delegation proof has expired.', undefined);
    return {
      delegator,
      hops,
      scopes: hops.at(-1)?.scopes ?? [],
      audience,
      expiresAt,
      tenants: tenantsOf(links),
      tokens: links.map((link) => tokenFacts(link.claims, textClaim(link.claims, 'iss') ?? '')),
      proofRef: `sha256:${sha256(proof)}`,
    };
  }

  async function requireIssued(link: Jwt): Promise<void> {
    const keys = keysOf.get(textClaim(link.claims, 'iss') ?? '');
    if (keys === undefined) {
      throw unverified('A hop of the delegation proof has an issuer (iss) that this host does not trust.');
    }
    await requireSignature(link, keys, { algorithms, types: ['delegation+jwt'] });
  }
}

/** Returns the hops from first to last. No signature is verified before the chain is known to be short enough. */
function unwrapped(proof: string, maxChainDepth: number): readonly [Jwt, ...Jwt[]] {
  const links: Jwt[] = [];
  for (let next: string | undefined = proof; next !== undefined; ) {
    if (links.length === maxChainDepth) {
      const message = `The delegation chain is longer than the ${maxChainDepth} hops that this host accepts.`;
      throw new AuthError('delegation_chain_too_long', message, undefined);
    }
    const link = readJwt(next, MAX_PROOF);
    if (link === undefined) throw unverified('The delegation proof must be a signed JWT.');
    if (Object.hasOwn(link.claims, 'prf') && textClaim(link.claims, 'prf') === undefined) {
      throw unverified('The proof of the previous hop (prf) must be a signed JWT.');
    }
    links.unshift(link);
    next = textClaim(link.claims, 'prf');
  }
  const [first, ...others] = links;
  if (first === undefined) throw unverified('The delegation proof is empty.');
  return [first, ...others];
}

/**
 * The most characters of a proof: those that Node admits in all headers of a request. Each hop makes the proof longer by
 * a third and its own claims, so that six hops exceed the limit of other tokens.
 */
const MAX_PROOF = 16_384;

/** Checks that every hop has the same delegator and repeats the actors of the previous hop. */
function requireConsistent(links: readonly Jwt[]): void {
  let before: Jwt | undefined;
  for (const link of links) {
    const act = objectClaim(link.claims, 'act');
    const earlier = act && objectClaim(act, 'act');
    const expected = before && objectClaim(before.claims, 'act');
    if (act === undefined || textClaim(act, 'sub') === undefined || !sameActors(earlier, expected)) {
      throw unverified('Each hop of the delegation proof must repeat the actors (act) of the previous hop.');
    }
    if (before !== undefined && textClaim(link.claims, 'sub') !== textClaim(before.claims, 'sub')) {
      throw unverified('Each hop of the delegation proof must have the same subject (sub).');
    }
    before = link;
  }
}

function sameActors(left: JsonObject | undefined, right: JsonObject | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  if (left.sub !== right.sub || left.iss !== right.iss) return false;
  return sameActors(objectClaim(left, 'act'), objectClaim(right, 'act'));
}

function hopOf({ claims }: Jwt) {
  const act = objectClaim(claims, 'act') ?? {};
  const scope = textClaim(claims, 'scope');
  const scopes = scope === '' ? [] : scope?.split(' ');
  if (scopes === undefined || !scopes.every(isGrantableScope) || new Set(scopes).size < scopes.length) {
    throw unverified('Each hop of the delegation proof must list its scopes (scope), each once.');
  }
  const issuer = textClaim(act, 'iss') ?? requireText(claims, 'iss');
  return { subject: requireText(act, 'sub'), issuer, scopes };
}

function requireAcyclic(subjects: readonly string[]): void {
  if (new Set(subjects).size === subjects.length) return;
  const message = 'A subject appears twice in the delegation chain.';
  throw new AuthError('delegation_chain_cyclic', message, undefined);
}

function requireNarrowing(scopesByHop: readonly (readonly string[])[]): void {
  for (const [index, scopes] of scopesByHop.entries()) {
    const before = scopesByHop[index - 1];
    if (before !== undefined) requireWithin(scopes, before);
  }
}

function audienceOf({ claims }: Jwt, ours: readonly string[]): string {
  const [audience, ...others] = audiencesOf(claims);
  if (audience !== undefined && others.length === 0 && ours.includes(audience)) return audience;
  throw new TokenFault('audience', 'The audience (aud) of each hop of the delegation proof must be this host.');
}

/** The rules for the times of a hop, in seconds. */
interface TimeRules {
  readonly withoutExpiry: number | undefined;
  readonly maxLifetime: number;
  readonly clockSkew: number;
}

function timeRules(rules: DelegationRules): TimeRules {
  const { lifetimeWithoutExpirySeconds: withoutExpiry, maxLifetimeSeconds = 86_400, clockSkewSeconds = 60 } = rules;
  if (!(maxLifetimeSeconds > 0 && Number.isFinite(maxLifetimeSeconds))) {
    throw new TypeError('workloadLane: delegation.maxLifetimeSeconds must be a number more than 0.');
  }
  if (!(clockSkewSeconds >= 0 && clockSkewSeconds <= 300)) {
    throw new TypeError('workloadLane: delegation.clockSkewSeconds must be a number from 0 to 300.');
  }
  return { withoutExpiry, maxLifetime: maxLifetimeSeconds, clockSkew: clockSkewSeconds };
}

/**
 * Checks the times of a hop. Returns its expiry in milliseconds since the epoch, which may be past.
 *
 * @see RFC 7519, sections 4.1.4 to 4.1.6
 */
function expiryOf(claims: JsonObject, { withoutExpiry, maxLifetime, clockSkew }: TimeRules, now: number): number {
  const seconds = now / 1000;
  const issuedAt = optionalTime(claims, 'iat');
  const notBefore = optionalTime(claims, 'nbf');
  const derived = issuedAt !== undefined && withoutExpiry !== undefined ? issuedAt + withoutExpiry : undefined;
  const expiresAt = claims.exp === undefined ? derived : wholeSeconds(claims.exp);
  if (expiresAt === undefined) {
    const message = 'Each hop of the delegation proof must have an expiry (exp).';
    throw new AuthError('delegation_expired', message, undefined);
  }
  for (const time of [issuedAt, notBefore]) {
    // Negated, so that a clock that returns NaN refuses.
    if (time !== undefined && !(time <= seconds + clockSkew)) {
      throw unverified('A hop of the delegation proof is not valid yet (iat, nbf).');
    }
  }
  if (!(expiresAt - (issuedAt ?? seconds) <= maxLifetime)) {
    throw unverified(
      `Each hop of the delegation proof must expire (exp) at most ${maxLifetime} s after its issue (iat).`,
    );
  }
  return expiresAt * 1000;
}

function optionalTime(claims: JsonObject, name: string): number | undefined {
  if (!Object.hasOwn(claims, name)) return undefined;
  const time = wholeSeconds(claims[name]);
  if (time !== undefined) return time;
  throw unverified(`The ${name} of each hop of the delegation proof must be a time in whole seconds.`);
}

function wholeSeconds(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

function tenantsOf(links: readonly Jwt[]): readonly string[] {
  return links.map(({ claims }) => textClaim(claims, 'svc_tenant')).filter((tenant) => tenant !== undefined);
}

/**
 * Checks that scopes stay within others, wildcards included.
 *
 * @throws {AuthError} `delegation_scope_amplified`
 */
export function requireWithin(scopes: readonly string[], limit: readonly string[]): void {
  if (scopes.every((scope) => limit.includes(scope) || grants(limit, scope))) return;
  const message = 'The delegation has scopes that its delegator does not hold. Request a delegation of fewer scopes.';
  throw new AuthError('delegation_scope_amplified', message, undefined);
}

function unverified(message: string): AuthError {
  return new AuthError('identity_unverified', message, undefined, { reason: 'delegation' });
}
