import type { Credential } from '../credential.ts';
import type { DpopVerifier } from '../dpop/proof.ts';
import { equalTexts } from '../equal-texts.ts';
import { AuthError } from '../errors.ts';
import { type Jwt, objectClaim, textClaim } from '../jwt/jwt.ts';
import type { Binding } from '../principal.ts';
import type { RequestHead } from '../request-head.ts';

/** What a host can hold the sender of a token to. */
export interface SenderConstraints {
  /** Checks DPoP proofs. Without it a token that is bound to a key cannot be used here. */
  readonly dpop?: DpopVerifier | undefined;
  /** Finds the client's certificate. Without it a token that is bound to one cannot be used here. */
  readonly certificateOf?: ((request: RequestHead) => { readonly thumbprint: string } | undefined) | undefined;
}

export interface Confirmed {
  readonly binding: Binding;
  readonly headers: Readonly<Record<string, string>>;
  /** The thumbprint that was proved, in base64url. */
  readonly thumbprint?: string;
}

/**
 * Holds the sender of a verified token to what the token is bound to (`cnf`). A token that is bound to nothing is a bearer's,
 * whatever else came with the request; one that is bound to something this host cannot check is refused.
 *
 * @throws {AuthError} `sender_constraint_missing`, or what the DPoP verifier throws
 * @see RFC 7800, section 3.1; RFC 8705, section 3; RFC 9449, sections 7.1 and 7.2
 */
export async function confirmedSender(
  jwt: Jwt,
  request: RequestHead,
  credential: Credential,
  constraints: SenderConstraints,
): Promise<Confirmed> {
  const confirmation = objectClaim(jwt.claims, 'cnf');
  if (Object.hasOwn(jwt.claims, 'cnf') && (confirmation === undefined || Object.keys(confirmation).length !== 1)) {
    throw missing('The claim cnf of the token must have exactly one member, jkt or x5t#S256.');
  }
  if (confirmation === undefined) {
    if (credential.scheme === 'dpop')
      throw missing('The token is not bound to a key. Send it as "Authorization: Bearer <token>".');
    return BEARER;
  }
  const key = textClaim(confirmation, 'jkt');
  if (key !== undefined) return boundToKey(key, request, credential, constraints.dpop);
  const certificate = textClaim(confirmation, 'x5t#S256');
  if (certificate !== undefined) return boundToCertificate(certificate, request, credential, constraints.certificateOf);
  throw missing('The claim cnf of the token must have exactly one member, jkt or x5t#S256.');
}

const BEARER: Confirmed = { binding: 'bearer', headers: {} };

async function boundToKey(
  thumbprint: string,
  request: RequestHead,
  credential: Credential,
  dpop: DpopVerifier | undefined,
): Promise<Confirmed> {
  if (dpop === undefined) throw missing('The token is bound to a key, and this host does not accept DPoP proofs.');
  if (credential.scheme !== 'dpop') {
    const message =
      'The token is bound to a key. Send it as "Authorization: DPoP <token>" with a proof in the header DPoP.';
    throw new AuthError('sender_constraint_missing', message, undefined, {
      dpop: { error: 'invalid_token', algorithms: dpop.algorithms },
    });
  }
  const headers = await dpop.verify(request, { token: credential.token, thumbprint });
  return { binding: 'dpop', headers, thumbprint };
}

function boundToCertificate(
  thumbprint: string,
  request: RequestHead,
  credential: Credential,
  certificateOf: SenderConstraints['certificateOf'],
): Confirmed {
  const certificate = credential.scheme === 'bearer' ? certificateOf?.(request) : undefined;
  if (certificate === undefined || !equalTexts(certificate.thumbprint, thumbprint)) {
    throw missing('The token is bound to a client certificate. Send it over a connection made with that certificate.');
  }
  return { binding: 'mtls', headers: {}, thumbprint };
}

function missing(message: string): AuthError {
  return new AuthError('sender_constraint_missing', message, undefined);
}
