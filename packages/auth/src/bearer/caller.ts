import { requireText } from '../jwt/claims.ts';
import { objectClaim, textClaim } from '../jwt/jwt.ts';
import { TokenFault } from '../jwt/signature.ts';
import type { JsonObject } from '../jwt/strict-json.ts';
import { tokenFacts } from '../jwt/token-facts.ts';
import { isOpaqueId } from '../opaque-id.ts';
import type { Principal } from '../principal.ts';
import { checkedSubject, type Subject } from '../subject.ts';
import type { TokenIssuer } from './issuer.ts';
import { grantsOf } from './mapping.ts';

/** The rules by which the claims of an issuer become a caller. */
export type CallerRules = Pick<TokenIssuer, 'issuer' | 'profile' | 'claims' | 'tenants' | 'principalOf'>;

/** A caller as the claims name it, before its sender is confirmed. */
export type NamedCaller = Omit<Principal, 'binding' | 'expiresAt'>;

/**
 * Makes the caller that verified claims name.
 *
 * @throws {AuthError} `forbidden` when the claims give access to no tenant or workspace
 * @throws {TokenFault} `unverified` when the subject is not opaque
 */
export function callerOf(claims: JsonObject, issuer: CallerRules): NamedCaller {
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
    ...signInOf(claims),
    tokens: [tokenFacts(claims, issuer.issuer)],
    subject: checkedSubject(subject, { tenant, principal: id, principalKind: kind }),
  };
}

/** A malformed claim tells nothing: a rule that asks for it refuses. */
function signInOf(claims: JsonObject): Pick<NamedCaller, 'signIn'> {
  const { acr, amr, auth_time: time } = claims;
  if (acr === undefined && amr === undefined && time === undefined) return NO_SIGN_IN;
  const methods: readonly unknown[] = Array.isArray(amr) ? amr : [];
  const areTexts = methods.length > 0 && methods.every((method) => typeof method === 'string');
  return {
    signIn: {
      ...(typeof acr === 'string' && { acr }),
      ...(areTexts && { amr: methods.map(String) }),
      ...(Number.isSafeInteger(time) && typeof time === 'number' && { at: time * 1000 }),
    },
  };
}

const NO_SIGN_IN = {};

/** Makes the chain of actors that the issuer asserts. Provenance: it grants nothing. @see RFC 8693, section 4.1 */
function actorOf(act: JsonObject, issuer: CallerRules, tenant: string, lane: string, depth: number): Subject {
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

function opaqueSubject(claims: JsonObject, { issuer, principalOf }: CallerRules): string {
  const sub = requireText(claims, 'sub');
  const id = principalOf === undefined ? sub : principalOf(issuer, sub);
  if (isOpaqueId(id)) return id;
  throw new TokenFault('unverified', 'Its subject (sub) must be an opaque id, or the host must map it to one.', {
    reason: 'grants',
  });
}
