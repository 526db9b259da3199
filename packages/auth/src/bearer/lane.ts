import type { Credential } from '../credential.ts';
import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import { audiencesOf, requireLifetime, requireText } from '../jwt/claims.ts';
import { type Jwt, objectClaim, readJwt, textClaim } from '../jwt/jwt.ts';
import type { KeyFetch } from '../jwt/remote-keys.ts';
import { requireSignature, TokenFault, typeOf } from '../jwt/signature.ts';
import type { JsonObject } from '../jwt/strict-json.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Admission, AuthOutcome, Lane } from '../lane.ts';
import { isOpaqueId } from '../opaque-id.ts';
import type { Principal } from '../principal.ts';
import type { RequestHead } from '../request-head.ts';
import { checkedSubject, type Subject } from '../subject.ts';
import { confirmedSender, type SenderConstraints } from './confirmation.ts';
import { type ResolvedIssuer, resolvedIssuers, type TokenIssuer } from './issuer.ts';
import { grantsOf } from './mapping.ts';

/** Options of `bearerLane`. */
export interface BearerLaneOptions extends SenderConstraints {
  /** The accepted issuers, each at most once per profile. */
  readonly issuers: readonly TokenIssuer[];
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  readonly now: () => number;
  /** Fetches metadata and keys of issuers. Required unless every issuer has `keys`. */
  readonly fetch?: KeyFetch;
}

const BEARER_LANE_OPTIONS: OptionNames<BearerLaneOptions> = {
  dpop: true,
  certificateOf: true,
  issuers: true,
  now: true,
  fetch: true,
};

/**
 * Makes the lane that authenticates signed tokens (JWTs) of given issuers, sent as `Bearer` or, bound to a key, as
 * `DPoP`. It leaves every other credential to the next lane.
 *
 * A token must be signed by its issuer with an accepted algorithm, have the type of its profile, name this host as its
 * audience, be within its validity period, and map to a tenant and workspaces. An ID token is accepted only when this
 * host is its single audience.
 *
 * @throws {TypeError} when `now` or an issuer is invalid
 * @example
 * const issuers = [{ issuer: 'https://idp.example.com', audience: 'svc', profile: 'user' as const }];
 * const lane = bearerLane({ issuers, fetch: guardedFetch(), now: Date.now });
 * @see Interface: User-bearer tokens (human callers, optional); RFC 9068, section 4; RFC 8725
 */
export function bearerLane(options: BearerLaneOptions): Lane {
  requireKnown('bearerLane', options, BEARER_LANE_OPTIONS);
  const { now, fetch } = options;
  if (typeof now !== 'function') throw new TypeError('bearerLane: now must be a function, e.g. Date.now.');
  if (options.issuers.length === 0)
    throw new TypeError('bearerLane: issuers must not be empty. Pass at least one issuer.');
  const issuers = resolvedIssuers(options.issuers, { fetch, now });

  return {
    name: 'bearer-token',
    authenticate(request, credential, admission) {
      if (credential?.scheme !== 'bearer' && credential?.scheme !== 'dpop') return undefined;
      const jwt = readJwt(credential.token);
      const entries = jwt && issuers.get(textClaim(jwt.claims, 'iss') ?? '');
      if (jwt === undefined || entries === undefined) return undefined;
      return judged(jwt, entries, request, credential, admission);
    },
  };

  async function judged(
    jwt: Jwt,
    entries: readonly ResolvedIssuer[],
    request: RequestHead,
    credential: Credential,
    admission: Admission,
  ): Promise<AuthOutcome> {
    await admission.require();
    try {
      const issuer = entryFor(jwt, entries);
      await requireSignature(jwt, issuer.keys, issuer);
      const expiresAt = requireToken(jwt, issuer);
      const { binding, headers } = await confirmedSender(jwt, request, credential, options);
      if (issuer.senderConstrained === true && binding === 'bearer') throw unbound();
      if (await isDisabled(issuer, requireText(jwt.claims, 'sub'))) throw closed();
      return { kind: 'authenticated', principal: { ...principalOf(jwt, issuer), binding, expiresAt }, headers };
    } catch (error) {
      throw error instanceof TokenFault ? refusalOf(error) : error;
    }
  }

  function requireToken(jwt: Jwt, issuer: ResolvedIssuer): number {
    const { clockSkewSeconds, maxLifetimeSeconds } = issuer;
    requireAudience(jwt, issuer.audiences);
    if (issuer.profile === 'client' && typeOf(jwt) === 'at+jwt') {
      requireText(jwt.claims, 'client_id');
      requireText(jwt.claims, 'jti');
    }
    return requireLifetime(jwt.claims, { now: now(), clockSkewSeconds, maxLifetimeSeconds });
  }
}

/** A failed lookup refuses the request: the account may be closed. */
async function isDisabled(issuer: ResolvedIssuer, subject: string): Promise<boolean> {
  if (issuer.isDisabled === undefined) return false;
  try {
    return (await withinTime('The account lookup', ACCOUNT_TIMEOUT_MS, issuer.isDisabled(subject))) !== false;
  } catch (cause) {
    throw new TokenFault('outage', 'The account lookup failed.', cause);
  }
}

const ACCOUNT_TIMEOUT_MS = 5000;

/**
 * Picks the profile by the type of the token. One issuer may sign for people and for machines; a machine is its own
 * subject.
 */
function entryFor(jwt: Jwt, entries: readonly ResolvedIssuer[]): ResolvedIssuer {
  const fitting = entries.filter(({ types }) => types.some((type) => type === typeOf(jwt)));
  const isMachine = textClaim(jwt.claims, 'client_id') === textClaim(jwt.claims, 'sub');
  const entry = fitting.find(({ profile }) => (profile === 'client') === isMachine) ?? fitting[0];
  if (entry === undefined) throw new TokenFault('unverified', 'This host does not accept its type (typ).');
  return entry;
}

function requireAudience(jwt: Jwt, ours: readonly string[]): void {
  const audiences = audiencesOf(jwt.claims);
  const named = audiences.some((audience) => ours.includes(audience));
  const isIdToken = typeOf(jwt) !== 'at+jwt' && ID_TOKEN_CLAIMS.some((claim) => Object.hasOwn(jwt.claims, claim));
  if (named && !(isIdToken && audiences.length > 1)) return;
  throw new TokenFault('audience', 'Its audience (aud) must name this host, and an ID token no other.');
}

/** Claims that only ID tokens have. @see OpenID Connect Core 1.0, sections 2 and 3.3.2.11 */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash'];

function principalOf({ claims }: Jwt, issuer: ResolvedIssuer): Omit<Principal, 'binding' | 'expiresAt'> {
  const { profile } = issuer;
  const { tenancy, scopes } = grantsOf(claims, issuer.claims ?? {}, issuer.tenants);
  const { tenant } = tenancy;
  const id = opaqueSubject(claims, issuer);
  const lane = profile === 'user' ? 'oidc' : 'oauth2';
  const kind = profile === 'user' ? ('user' as const) : undefined;
  const act = objectClaim(claims, 'act');
  const subject: Subject = {
    issuer: issuer.issuer,
    subjectId: id,
    tenant,
    lane,
    kind: kind ?? 'workload',
    ...(act !== undefined && { actor: actorOf(act, issuer, tenant, lane, 1) }),
  };
  return {
    id,
    kind,
    credentialId: `${lane}:${tenant}:${id}`,
    lane,
    tenancy,
    scopes,
    subject: checkedSubject(subject, { tenant, principal: id, principalKind: kind }),
  };
}

/** Makes the chain of actors that the issuer asserts. Provenance: it grants nothing. @see RFC 8693, section 4.1 */
function actorOf(act: JsonObject, issuer: ResolvedIssuer, tenant: string, lane: string, depth: number): Subject {
  const earlier = objectClaim(act, 'act');
  return {
    issuer: textClaim(act, 'iss') ?? issuer.issuer,
    subjectId: opaqueSubject(act, issuer),
    tenant,
    lane,
    kind: 'workload',
    // One actor above the limit suffices: checkedSubject refuses the chain.
    ...(earlier !== undefined && depth <= MAX_ACTORS && { actor: actorOf(earlier, issuer, tenant, lane, depth + 1) }),
  };
}

const MAX_ACTORS = 4;

function opaqueSubject(claims: JsonObject, { issuer, principalOf }: ResolvedIssuer): string {
  const sub = requireText(claims, 'sub');
  const id = principalOf === undefined ? sub : principalOf(issuer, sub);
  if (isOpaqueId(id)) return id;
  throw new TokenFault('unverified', 'Its subject (sub) must be an opaque id, or the host must map it to one.');
}

function refusalOf({ kind, message, cause }: TokenFault): AuthError {
  if (kind === 'outage') {
    const outage = 'The token cannot be verified at the moment. Try again in a few seconds.';
    return new AuthError('service_unavailable', outage, undefined, { cause, rejected: false, retryAfterSeconds: 5 });
  }
  return new AuthError(CODES[kind], `The token is refused. ${message}`, undefined, { cause });
}

const CODES = {
  unverified: 'unauthenticated',
  expired: 'unauthenticated',
  audience: 'audience_mismatch',
  lifetime: 'credential_lifetime_exceeded',
} as const;

function unbound(): AuthError {
  const message = 'Tokens of this issuer must be bound to their sender, by DPoP or a client certificate.';
  return new AuthError('sender_constraint_missing', message, undefined);
}

function closed(): AuthError {
  const message = 'The account of the token is closed. Ask the operator of the host to reopen it.';
  return new AuthError('key_revoked', message, undefined);
}
