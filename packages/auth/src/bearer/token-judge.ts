import type { CryptoKey } from 'jose';
import { claimedIn } from '../claimed-caller.ts';
import type { Credential } from '../credential.ts';
import { audiencesOf, requireLifetime, requireText } from '../jwt/claims.ts';
import { type Jwt, readJwt, textClaim } from '../jwt/jwt.ts';
import { checkedHeader, keyFor, requireSignature, TokenFault, typeOf } from '../jwt/signature.ts';
import type { Admission, AuthOutcome } from '../lane.ts';
import type { RequestHead } from '../request-head.ts';
import { requireOpenAccount } from './account.ts';
import { callerOf, type NamedCaller } from './caller.ts';
import { confirmedSender, type SenderConstraints, useProof } from './confirmation.ts';
import type { ResolvedIssuer } from './issuer.ts';
import { isPseudonym } from './pseudonym.ts';
import { tokenRefusal, unboundToken } from './token-refusal.ts';
import type { ReadToken, VerifiedToken, VerifiedTokens } from './verified-tokens.ts';

/** The parts of a {@link TokenJudge}. */
export interface TokenJudgeParts {
  readonly issuers: ReadonlyMap<string, readonly ResolvedIssuer[]>;
  readonly constraints: SenderConstraints;
  readonly verified: VerifiedTokens;
  readonly now: () => number;
}

/**
 * Judges signed tokens. A signature that was verified before is not verified again while the key source finds the same
 * key object for it. Every other rule is judged for each request, in the same order: the same token at the same time
 * gets the same verdict either way.
 */
export class TokenJudge {
  readonly #parts: TokenJudgeParts;

  constructor(parts: TokenJudgeParts) {
    this.#parts = parts;
  }

  /** Returns undefined for a credential that is not a token of a known issuer. */
  judge(
    request: RequestHead,
    credential: Credential,
    admission: Admission,
  ): Promise<AuthOutcome> | AuthOutcome | undefined {
    const { verified, issuers } = this.#parts;
    const name = verified.nameOf(credential.token);
    const known = name === undefined ? undefined : verified.find(name);
    const presented = { name, request, credential, admission };
    if (known !== undefined) return this.#again(known, presented);
    const jwt = readJwt(credential.token);
    const entries = jwt && issuers.get(textClaim(jwt.claims, 'iss') ?? '');
    if (jwt === undefined || entries === undefined) return undefined;
    return this.#anew(jwt, entries, presented);
  }

  async #anew(jwt: Jwt, entries: readonly ResolvedIssuer[], presented: Presented): Promise<AuthOutcome> {
    const { name, credential, admission } = presented;
    const claimed = claimedIn(jwt, () => {
      const issuer = entryFor(jwt, entries);
      checkedHeader(jwt, issuer);
      this.#requireToken(jwt, issuer);
    });
    await admission.require(claimed);
    return refusing(async () => {
      const issuer = entryFor(jwt, entries);
      const { key, wanted } = await requireSignature(jwt, issuer.keys, issuer);
      const token = { header: jwt.header, claims: jwt.claims, issuer, key, wanted };
      if (name !== undefined) this.#parts.verified.add(name, credential.token.length, token);
      return await this.#settled(token, presented);
    });
  }

  /** Judges a token of which a signature was verified before. */
  #again(known: VerifiedToken, presented: Presented): Promise<AuthOutcome> | AuthOutcome {
    const { issuer, wanted, claims } = known;
    const { credential, admission } = presented;
    // A proof costs a signature and a lookup costs a request, so the client needs admission for them.
    if (credential.scheme !== 'bearer' || Object.hasOwn(claims, 'cnf') || issuer.isDisabled !== undefined) {
      return refusing(async () => {
        await admission.require(claimedIn(known, () => void this.#requireToken(known, issuer)));
        const key = await keyFor(issuer.keys, wanted);
        return key === known.key ? await this.#settled(known, presented) : await this.#anewWith(known, presented);
      });
    }
    let found: CryptoKey | undefined | Promise<CryptoKey | undefined>;
    try {
      found = keyFor(issuer.keys, wanted);
      // Most requests end here, without a promise.
      if (found === known.key) return this.#plain(known, presented);
    } catch (error) {
      throw error instanceof TokenFault ? tokenRefusal(error) : error;
    }
    return refusing(async () =>
      (await found) === known.key ? this.#plain(known, presented) : this.#anewWith(known, presented),
    );
  }

  /** The key was replaced or removed: nothing that it verified counts any more. */
  async #anewWith(known: VerifiedToken, presented: Presented): Promise<AuthOutcome> {
    const { verified, issuers } = this.#parts;
    if (presented.name !== undefined) verified.forget(presented.name);
    const jwt = { token: presented.credential.token, header: known.header, claims: known.claims };
    return await this.#anew(jwt, issuers.get(known.issuer.issuer) ?? [], presented);
  }

  /** The rules for a token that is bound to nothing, of an issuer without lookups. */
  #plain(token: VerifiedToken, presented: Presented): AuthOutcome | Promise<AuthOutcome> {
    const { issuer, claims } = token;
    const expiresAt = this.#requireToken(token, issuer);
    if (issuer.senderConstrained === true) throw unboundToken();
    requireText(claims, 'sub');
    if (issuer.statuses?.accepts(claims) === false) {
      // A list costs a request.
      return refusing(async () => {
        await presented.admission.require(claimedIn(token, () => void this.#requireToken(token, issuer)));
        return await this.#settled(token, presented);
      });
    }
    return {
      kind: 'authenticated',
      principal: { ...knownCaller(token), binding: 'bearer', expiresAt },
      headers: NO_HEADERS,
    };
  }

  async #settled(token: VerifiedToken, { request, credential, admission }: Presented): Promise<AuthOutcome> {
    const { issuer, claims } = token;
    const expiresAt = this.#requireToken(token, issuer);
    const sender = await confirmedSender(token, request, credential, this.#parts.constraints);
    const { binding, headers } = sender;
    if (issuer.senderConstrained === true && binding === 'bearer') throw unboundToken();
    const subject = requireText(claims, 'sub');
    // After the sender is confirmed: a thief of a bound token makes the host fetch nothing.
    if (issuer.statuses?.accepts(claims) === false) await issuer.statuses.require(claims);
    await requireOpenAccount(issuer.isDisabled, subject);
    const principal = { ...callerOf(claims, issuer), binding, expiresAt };
    await useProof(sender, principal, admission);
    return { kind: 'authenticated', principal, headers };
  }

  #requireToken(token: ReadToken, issuer: ResolvedIssuer): number {
    const { clockSkewSeconds, maxLifetimeSeconds } = issuer;
    requireAudience(token, issuer.audiences);
    if (issuer.profile === 'client' && typeOf(token) === 'at+jwt') {
      requireText(token.claims, 'client_id');
      requireText(token.claims, 'jti');
    }
    return requireLifetime(token.claims, { now: this.#parts.now(), clockSkewSeconds, maxLifetimeSeconds });
  }
}

/**
 * The caller is a function of the claims and of the rules of the issuer, unless the host names callers by a function that
 * may change its mind. Each request gets a copy: a change of it must not reach the next one.
 */
function knownCaller(token: VerifiedToken): NamedCaller {
  const { principalOf } = token.issuer;
  const { caller } = token;
  if (caller !== undefined) return copyOf(caller);
  const found = callerOf(token.claims, token.issuer);
  // The actors of a subject are further objects, and rare.
  if ((principalOf === undefined || isPseudonym(principalOf)) && found.subject.actor === undefined) {
    token.caller = found;
    return copyOf(found);
  }
  return found;
}

function copyOf(caller: NamedCaller): NamedCaller {
  const { tenancy, scopes, subject, signIn } = caller;
  const { workspaces } = tenancy;
  return {
    ...caller,
    tenancy: { ...tenancy, workspaces: workspaces === 'all' ? workspaces : [...workspaces] },
    scopes: [...scopes],
    subject: { ...subject },
    ...(signIn !== undefined && { signIn: { ...signIn } }),
  };
}

interface Presented {
  /** See `VerifiedTokens.nameOf`. */
  readonly name: string | undefined;
  readonly request: RequestHead;
  readonly credential: Credential;
  readonly admission: Admission;
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Turns the fault of a token into its refusal. */
async function refusing(work: () => Promise<AuthOutcome>): Promise<AuthOutcome> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof TokenFault ? tokenRefusal(error) : error;
  }
}

/**
 * Picks the profile by the type of the token. One issuer may sign for people and for machines; a machine is its own
 * subject.
 */
function entryFor(jwt: ReadToken, entries: readonly ResolvedIssuer[]): ResolvedIssuer {
  const fitting = entries.filter(({ types }) => types.some((type) => type === typeOf(jwt)));
  const isMachine = textClaim(jwt.claims, 'client_id') === textClaim(jwt.claims, 'sub');
  const entry = fitting.find(({ profile }) => (profile === 'client') === isMachine) ?? fitting[0];
  if (entry === undefined) {
    throw new TokenFault('unverified', 'This host does not accept its type (typ).', { reason: 'token-type' });
  }
  return entry;
}

function requireAudience(jwt: ReadToken, ours: readonly string[]): void {
  const audiences = audiencesOf(jwt.claims);
  const named = audiences.some((audience) => ours.includes(audience));
  const isIdToken = typeOf(jwt) !== 'at+jwt' && ID_TOKEN_CLAIMS.some((claim) => Object.hasOwn(jwt.claims, claim));
  if (named && !(isIdToken && audiences.length > 1)) return;
  throw new TokenFault('audience', 'Its audience (aud) must name this host, and an ID token no other.');
}

/** Claims that only ID tokens have. @see OpenID Connect Core 1.0, sections 2 and 3.3.2.11 */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash'];
