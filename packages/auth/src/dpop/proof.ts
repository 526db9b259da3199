import type { CryptoKey } from 'jose';
import { sha256, sha256Base64url } from '#sha256';
import { equalTexts } from '../equal-texts.ts';
import { AuthError } from '../errors.ts';
import { type Algorithm, DEFAULT_ALGORITHMS, isAlgorithm, keyTypeOf } from '../jwt/algorithms.ts';
import { type Jwt, objectClaim, readJwt, textClaim } from '../jwt/jwt.ts';
import { importPublic } from '../jwt/key-set.ts';
import type { JsonObject } from '../jwt/strict-json.ts';
import { verifiesSignature } from '../jwt/verify-signature.ts';
import { headerValues, type RequestHead } from '../request-head.ts';
import type { Nonces } from './nonce.ts';
import type { ReplayStore } from './replay-store.ts';
import { comparableUri, isSameUri, targetPath } from './request-uri.ts';
import { publicKeyThumbprint } from './thumbprint.ts';

/** Options of `dpopVerifier`. */
export interface DpopOptions {
  /** The origin of the host as clients see it, e.g. `https://svc.example.com`. The `Host` header is not read. */
  readonly origin: string;
  /** Stores used proofs. */
  readonly replays: ReplayStore;
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  readonly now: () => number;
  /** Nonces of the host, required in every proof. Default: none is required. */
  readonly nonces?: Nonces | undefined;
  /** Accepted signature algorithms. Default RS256, PS256, ES256, EdDSA and Ed25519. */
  readonly algorithms?: readonly Algorithm[];
  /** Accepted difference between `iat` and the host's clock, either way, in seconds, at most 300. Default 60. */
  readonly windowSeconds?: number;
}

/** Checks that the sender of a token holds the key to which the token is bound. */
export interface DpopVerifier {
  /** Accepted signature algorithms. */
  readonly algorithms: readonly Algorithm[];
  /**
   * Verifies the proof of a request.
   *
   * @param bound the access token, and the thumbprint in its `cnf.jkt`
   * @returns headers for the response
   * @throws {AuthError} `unauthenticated` with a DPoP challenge
   */
  verify(
    request: RequestHead,
    bound: {
      /** The access token. */
      readonly token: string;
      /** The thumbprint in `cnf.jkt` of the token. */
      readonly thumbprint: string;
    },
  ): Promise<Readonly<Record<string, string>>>;
}

/**
 * Makes a verifier of DPoP proofs. A proof is valid for one request: its method, its URL, its token, the present time,
 * and once.
 *
 * @throws {TypeError} when `origin`, `algorithms` or `windowSeconds` is invalid
 * @example
 * const replays = memoryReplayStore({ now: Date.now });
 * const dpop = dpopVerifier({ origin: 'https://svc.example.com', replays, now: Date.now });
 * @see RFC 9449, sections 4.3, 7.1, 9 and 11.1
 */
export function dpopVerifier(options: DpopOptions): DpopVerifier {
  const { replays, now, nonces, algorithms = DEFAULT_ALGORITHMS, windowSeconds = 60 } = options;
  const origin = comparableUri(options.origin)?.replace(/\/$/, '');
  if (origin === undefined || origin.split('/').length > 3) {
    throw new TypeError('dpopVerifier: origin must be an origin without a path, e.g. https://svc.example.com.');
  }
  if (algorithms.length === 0 || !algorithms.every(isAlgorithm)) {
    throw new TypeError('dpopVerifier: algorithms must be a non-empty list of names in ALGORITHMS.');
  }
  if (!(windowSeconds > 0 && windowSeconds <= 300)) {
    throw new TypeError('dpopVerifier: windowSeconds must be more than 0 and at most 300.');
  }
  const imported = importCache();

  return { algorithms, verify };

  async function verify(request: RequestHead, bound: { readonly token: string; readonly thumbprint: string }) {
    const proof = onlyProof(request);
    const { algorithm, jwk, thumbprint } = checkedHeader(proof);
    if (!equalTexts(thumbprint, bound.thumbprint))
      throw refused('Its jwk must be the key that the token is bound to (cnf.jkt).');
    const key = await imported(jwk, algorithm, thumbprint);
    if (!(await verifiesSignature(proof, key, algorithm))) throw refused('Its signature is invalid.');
    const issuedAt = requireClaims(proof.claims, request, bound.token);
    requireNonce(proof.claims);
    await requireFirstUse(proof.claims, thumbprint, issuedAt);
    return nonces === undefined ? NO_HEADERS : { 'dpop-nonce': nonces.current() };
  }

  function onlyProof(request: RequestHead): Jwt {
    const [value, ...others] = headerValues(request, 'dpop');
    if (value === undefined) throw refused('Send one proof in the header DPoP.');
    const proof = others.length === 0 ? readJwt(value) : undefined;
    if (proof === undefined) throw refused('The header DPoP must contain exactly one proof, a signed JWT.');
    return proof;
  }

  function checkedHeader({ header }: Jwt): { algorithm: Algorithm; jwk: JsonObject; thumbprint: string } {
    const { typ, alg } = header;
    if (typ !== 'dpop+jwt') throw refused('Its typ must be dpop+jwt.');
    if (!isAlgorithm(alg) || !algorithms.includes(alg))
      throw refused(`Its alg must be one of ${algorithms.join(', ')}.`);
    if (FOREIGN.some((name) => Object.hasOwn(header, name)))
      throw refused('Its header must contain only typ, alg and jwk.');
    const jwk = objectClaim(header, 'jwk');
    const thumbprint = jwk === undefined ? undefined : publicKeyThumbprint(jwk);
    const { kty, crv } = keyTypeOf(alg);
    if (jwk === undefined || thumbprint === undefined || jwk.kty !== kty || (crv !== undefined && jwk.crv !== crv)) {
      throw refused('Its jwk must be a public key for its algorithm.');
    }
    return { algorithm: alg, jwk, thumbprint };
  }

  function requireClaims(claims: JsonObject, request: RequestHead, token: string): number {
    if (textClaim(claims, 'htm') !== request.method) throw refused('Its htm must be the method of the request.');
    const path = targetPath(request.originalUrl ?? request.url ?? '');
    if (path === undefined || !isSameUri(textClaim(claims, 'htu') ?? '', `${origin}${path}`)) {
      throw refused('Its htu must be the URL of the request.');
    }
    if (!equalTexts(textClaim(claims, 'ath') ?? '', sha256Base64url(token))) {
      throw refused('Its ath must be the hash of the access token.');
    }
    const { iat } = claims;
    if (typeof iat !== 'number' || !Number.isSafeInteger(iat) || !(Math.abs(now() / 1000 - iat) <= windowSeconds)) {
      throw refused(`Its iat must be a time within ${windowSeconds} s of the host's clock.`);
    }
    return iat;
  }

  function requireNonce(claims: JsonObject): void {
    if (nonces === undefined || nonces.accepts(textClaim(claims, 'nonce') ?? '')) return;
    const message =
      'The DPoP proof needs a nonce of this host. Make a new proof with the nonce of the header DPoP-Nonce.';
    const dpop = { error: 'use_dpop_nonce', algorithms, nonce: nonces.current() } as const;
    throw new AuthError('unauthenticated', message, undefined, { rejected: false, dpop });
  }

  async function requireFirstUse(claims: JsonObject, thumbprint: string, issuedAt: number): Promise<void> {
    const id = textClaim(claims, 'jti') ?? '';
    if (!PROOF_ID.test(id)) throw refused('Its jti must be 1 to 256 visible ASCII characters.');
    const first = await replays.claim(sha256(`${thumbprint} ${id}`), (issuedAt + windowSeconds) * 1000);
    if (!first) throw refused('It was used before. Make a new proof for each request.');
  }

  function refused(problem: string, cause?: unknown): AuthError {
    const message = `The DPoP proof is refused. ${problem}`;
    const dpop = { error: 'invalid_dpop_proof', algorithms, nonce: nonces?.current() } as const;
    return new AuthError('unauthenticated', message, undefined, { cause, dpop });
  }

  /** Caches imported keys: an import costs as much as a verification, and a client keeps its key. */
  function importCache(): (jwk: JsonObject, algorithm: Algorithm, thumbprint: string) => Promise<CryptoKey> {
    const keys = new Map<string, CryptoKey>();
    return async (jwk, algorithm, thumbprint) => {
      const name = `${algorithm} ${thumbprint}`;
      const known = keys.get(name);
      if (known !== undefined) return known;
      const key = await importPublic(jwk, algorithm).catch((cause: unknown) => {
        throw refused('Its jwk is not a valid public key.', cause);
      });
      if (keys.size >= MAX_IMPORTED) keys.clear();
      keys.set(name, key);
      return key;
    };
  }
}

const NO_HEADERS: Readonly<Record<string, string>> = {};
const FOREIGN = ['crit', 'b64', 'zip', 'cty', 'jku', 'x5u', 'x5c', 'kid', 'enc'];
const PROOF_ID = /^[\x21-\x7e]{1,256}$/;
const MAX_IMPORTED = 10_000;
