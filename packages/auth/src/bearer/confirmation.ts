import type { Credential } from '../credential.ts';
import type { DpopVerifier, VerifiedProof } from '../dpop/proof.ts';
import { equalTexts } from '../equal-texts.ts';
import { AuthError } from '../errors.ts';
import { type Jwt, objectClaim, textClaim } from '../jwt/jwt.ts';
import type { Admission } from '../lane.ts';
import type { Binding, Principal } from '../principal.ts';
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
  /** The proof of a key, which is to be used up last. Undefined: the binding has no proof. */
  readonly proof?: VerifiedProof;
}

/**
 * Checks that the sender of a verified token holds the key or certificate to which the token is bound (`cnf`). A token
 * without `cnf` is a bearer token. Of two bindings both must hold, and a binding that this host cannot check is refused.
 * The proof is not used up: call `useProof` after every other check.
 *
 * @throws {AuthError} `sender_constraint_missing`, or the error of the DPoP verifier
 * @see RFC 7800, section 3.1; RFC 8705, section 3; RFC 9449, sections 7.1 and 7.2
 */
export async function confirmedSender(
  jwt: Pick<Jwt, 'claims'>,
  request: RequestHead,
  credential: Credential,
  constraints: SenderConstraints,
): Promise<Confirmed> {
  if (!Object.hasOwn(jwt.claims, 'cnf')) {
    if (credential.scheme === 'dpop')
      throw missing('The token is not bound to a key. Send it as "Authorization: Bearer <token>".');
    return BEARER;
  }
  const confirmation = objectClaim(jwt.claims, 'cnf') ?? {};
  const key = textClaim(confirmation, 'jkt');
  const certificate = textClaim(confirmation, 'x5t#S256');
  const understood = UNDERSTOOD.filter((name) => Object.hasOwn(confirmation, name));
  if (understood.length === 0 || understood.length !== [key, certificate].filter((text) => text !== undefined).length) {
    throw missing('The claim cnf of the token must have the member jkt or x5t#S256, a thumbprint.');
  }
  // Both must hold.
  const byCertificate =
    certificate === undefined
      ? undefined
      : boundToCertificate(certificate, request, key === undefined ? credential : undefined, constraints.certificateOf);
  if (key !== undefined) return boundToKey(key, request, credential, constraints.dpop);
  return byCertificate ?? BEARER;
}

/** Other members are ignored. @see RFC 7800, section 3.1 */
const UNDERSTOOD = ['jkt', 'x5t#S256'];

/** The sender of a token that is bound to nothing. */
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
  const proof = await dpop.examine(request, { token: credential.token, thumbprint });
  return { binding: 'dpop', headers: proof.headers, thumbprint, proof };
}

/**
 * Uses the proof of a sender up, if it has one. `Admission.beforeUse` may refuse the caller before that.
 *
 * @throws {AuthError} the refusal of `beforeUse`, or of the proof
 */
export async function useProof(
  { proof, headers }: Confirmed,
  principal: Principal,
  admission: Admission,
): Promise<void> {
  if (proof === undefined) return;
  await admission.beforeUse?.({ principal, headers });
  await proof.use(principal.credentialId);
}

/** @param alone the credential of a token that is bound to the certificate alone: its scheme must be Bearer */
function boundToCertificate(
  thumbprint: string,
  request: RequestHead,
  alone: Credential | undefined,
  certificateOf: SenderConstraints['certificateOf'],
): Confirmed {
  const certificate = alone === undefined || alone.scheme === 'bearer' ? certificateOf?.(request) : undefined;
  if (certificate === undefined || !equalTexts(certificate.thumbprint, thumbprint)) {
    throw missing('The token is bound to a client certificate. Send it over a connection made with that certificate.');
  }
  return { binding: 'mtls', headers: {}, thumbprint };
}

function missing(message: string): AuthError {
  return new AuthError('sender_constraint_missing', message, undefined);
}
