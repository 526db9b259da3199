import type { Credential } from '../credential.ts';
import type { DpopVerifier } from '../dpop/proof.ts';
import { equalTexts } from '../equal-texts.ts';
import { AuthError } from '../errors.ts';
import { type Jwt, objectClaim, textClaim } from '../jwt/jwt.ts';
import type { Binding } from '../principal.ts';
import type { RequestHead } from '../request-head.ts';

/** The sender constraints that a host can check. */
export interface SenderConstraints {
  /** Checks DPoP proofs. Default: a token that is bound to a key is refused. */
  readonly dpop?: DpopVerifier | undefined;
  /** Finds the client certificate of a request. Default: a token that is bound to a certificate is refused. */
  readonly certificateOf?:
    | ((request: RequestHead) =>
        | {
            /** SHA-256 of the certificate in base64url. */
            readonly thumbprint: string;
          }
        | undefined)
    | undefined;
}

/** A confirmed sender. */
export interface Confirmed {
  /** The proved binding of the token. */
  readonly binding: Binding;
  /** To be set on the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The proved thumbprint in base64url. */
  readonly thumbprint?: string;
}

/**
 * Checks that the sender of a verified token holds the key or certificate to which the token is bound (`cnf`). A token
 * without `cnf` is a bearer token. A binding that this host cannot check is refused.
 *
 * @throws {AuthError} `sender_constraint_missing`, or the error of the DPoP verifier
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
