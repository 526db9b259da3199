import type { TokenFacts } from '../principal.ts';
import { textClaim } from './jwt.ts';
import type { JsonObject } from './strict-json.ts';

/** Returns the facts of a verified token by which a deny list knows it. */
export function tokenFacts(claims: JsonObject, issuer: string): TokenFacts {
  return new Facts(claims, issuer);
}

/** A subject may be a name or an e-mail address, so it can be read and is no part of JSON: a log has it by no accident. */
class Facts implements TokenFacts {
  readonly issuer: string;
  readonly jti?: string;
  readonly sid?: string;
  readonly issuedAt?: number;
  readonly #subject: string | undefined;

  constructor(claims: JsonObject, issuer: string) {
    const [jti, sid] = [textClaim(claims, 'jti'), textClaim(claims, 'sid')];
    const { iat } = claims;
    this.issuer = issuer;
    if (jti !== undefined) this.jti = jti;
    if (sid !== undefined) this.sid = sid;
    if (typeof iat === 'number') this.issuedAt = iat * 1000;
    this.#subject = textClaim(claims, 'sub');
  }

  get subject(): string | undefined {
    return this.#subject;
  }
}
