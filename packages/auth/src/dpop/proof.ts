import type { CryptoKey } from 'jose';
import { sha256, sha256Base64url } from '#sha256';
import { equalTexts } from '../equal-texts.ts';
import { AuthError } from '../errors.ts';
import { type Algorithm, DEFAULT_ALGORITHMS, isAlgorithm, keyTypeOf } from '../jwt/algorithms.ts';
import { type Jwt, objectClaim, readJwt, textClaim } from '../jwt/jwt.ts';
import { importPublic } from '../jwt/key-set.ts';
import type { JsonObject } from '../jwt/strict-json.ts';
import { verifiesSignature } from '../jwt/verify-signature.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
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

const DPOP_OPTIONS: OptionNames<DpopOptions> = {
  origin: true,
  replays: true,
  now: true,
  nonces: true,
  algorithms: true,
  windowSeconds: true,
};

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
  requireKnown('dpopVerifier', options, DPOP_OPTIONS);
  const verifier = new ProofVerifier(options);
  return { algorithms: verifier.algorithms, verify: (request, bound) => verifier.verify(request, bound) };
}

/** The token of a request, and the thumbprint of the key to which it is bound. */
interface BoundToken {
  readonly token: string;
  readonly thumbprint: string;
}

/** The checked header of a proof. */
interface ProofKey {
  readonly algorithm: Algorithm;
  readonly jwk: JsonObject;
  readonly thumbprint: string;
}

/** Runs the checks of a proof, each a method, in the order of `verify`. */
class ProofVerifier {
  readonly algorithms: readonly Algorithm[];
  readonly #origin: string;
  readonly #windowSeconds: number;
  readonly #replays: ReplayStore;
  readonly #now: () => number;
  readonly #nonces: Nonces | undefined;
  readonly #imported = new Map<string, CryptoKey>();

  constructor({ origin, replays, now, nonces, algorithms = DEFAULT_ALGORITHMS, windowSeconds = 60 }: DpopOptions) {
    this.#origin = requireOrigin(origin);
    if (algorithms.length === 0 || !algorithms.every(isAlgorithm)) {
      throw new TypeError('dpopVerifier: algorithms must be a non-empty list of names in ALGORITHMS.');
    }
    if (!(windowSeconds > 0 && windowSeconds <= 300)) {
      throw new TypeError('dpopVerifier: windowSeconds must be more than 0 and at most 300.');
    }
    this.algorithms = algorithms;
    this.#windowSeconds = windowSeconds;
    this.#replays = replays;
    this.#now = now;
    this.#nonces = nonces;
  }

  async verify(request: RequestHead, bound: BoundToken): Promise<Readonly<Record<string, string>>> {
    const proof = this.#onlyProof(request);
    const proofKey = this.#checkedHeader(proof);
    if (!equalTexts(proofKey.thumbprint, bound.thumbprint)) {
      throw this.#refused('Its jwk must be the key that the token is bound to (cnf.jkt).');
    }
    await this.#requireSignature(proof, proofKey);
    this.#requireRequest(proof.claims, request);
    this.#requireToken(proof.claims, bound.token);
    const issuedAt = this.#requireIssuedAt(proof.claims);
    this.#requireNonce(proof.claims);
    await this.#requireFirstUse(proof.claims, proofKey.thumbprint, issuedAt);
    return this.#nonces === undefined ? NO_HEADERS : { 'dpop-nonce': this.#nonces.current() };
  }

  #onlyProof(request: RequestHead): Jwt {
    const [value, ...others] = headerValues(request, 'dpop');
    if (value === undefined) throw this.#refused('Send one proof in the header DPoP.');
    const proof = others.length === 0 ? readJwt(value) : undefined;
    if (proof === undefined) throw this.#refused('The header DPoP must contain exactly one proof, a signed JWT.');
    return proof;
  }

  #checkedHeader({ header }: Jwt): ProofKey {
    const { typ, alg } = header;
    if (typ !== 'dpop+jwt') throw this.#refused('Its typ must be dpop+jwt.');
    if (!isAlgorithm(alg) || !this.algorithms.includes(alg)) {
      throw this.#refused(`Its alg must be one of ${this.algorithms.join(', ')}.`);
    }
    if (FOREIGN.some((name) => Object.hasOwn(header, name))) {
      throw this.#refused('Its header must contain only typ, alg and jwk.');
    }
    const jwk = objectClaim(header, 'jwk');
    const thumbprint = jwk === undefined ? undefined : publicKeyThumbprint(jwk);
    const { kty, crv } = keyTypeOf(alg);
    if (jwk === undefined || thumbprint === undefined || jwk.kty !== kty || (crv !== undefined && jwk.crv !== crv)) {
      throw this.#refused('Its jwk must be a public key for its algorithm.');
    }
    return { algorithm: alg, jwk, thumbprint };
  }

  async #requireSignature(proof: Jwt, proofKey: ProofKey): Promise<void> {
    const key = await this.#import(proofKey);
    if (!(await verifiesSignature(proof, key, proofKey.algorithm))) throw this.#refused('Its signature is invalid.');
  }

  /** Caches imported keys: an import costs as much as a verification, and a client keeps its key. */
  async #import({ jwk, algorithm, thumbprint }: ProofKey): Promise<CryptoKey> {
    const name = `${algorithm} ${thumbprint}`;
    const known = this.#imported.get(name);
    if (known !== undefined) return known;
    const key = await importPublic(jwk, algorithm).catch((cause: unknown) => {
      throw this.#refused('Its jwk is not a valid public key.', cause);
    });
    if (this.#imported.size >= MAX_IMPORTED) this.#imported.clear();
    this.#imported.set(name, key);
    return key;
  }

  #requireRequest(claims: JsonObject, request: RequestHead): void {
    if (textClaim(claims, 'htm') !== request.method) throw this.#refused('Its htm must be the method of the request.');
    const path = targetPath(request.originalUrl ?? request.url ?? '');
    if (path === undefined || !isSameUri(textClaim(claims, 'htu') ?? '', `${this.#origin}${path}`)) {
      throw this.#refused('Its htu must be the URL of the request.');
    }
  }

  #requireToken(claims: JsonObject, token: string): void {
    if (equalTexts(textClaim(claims, 'ath') ?? '', sha256Base64url(token))) return;
    throw this.#refused('Its ath must be the hash of the access token.');
  }

  #requireIssuedAt({ iat }: JsonObject): number {
    const window = this.#windowSeconds;
    if (typeof iat === 'number' && Number.isSafeInteger(iat) && Math.abs(this.#now() / 1000 - iat) <= window)
      return iat;
    throw this.#refused(`Its iat must be a time within ${window} s of the host's clock.`);
  }

  #requireNonce(claims: JsonObject): void {
    const nonces = this.#nonces;
    if (nonces === undefined || nonces.accepts(textClaim(claims, 'nonce') ?? '')) return;
    const message =
      'The DPoP proof needs a nonce of this host. Make a new proof with the nonce of the header DPoP-Nonce.';
    const dpop = { error: 'use_dpop_nonce', algorithms: this.algorithms, nonce: nonces.current() } as const;
    throw new AuthError('unauthenticated', message, undefined, { rejected: false, dpop });
  }

  async #requireFirstUse(claims: JsonObject, thumbprint: string, issuedAt: number): Promise<void> {
    const id = textClaim(claims, 'jti') ?? '';
    if (!PROOF_ID.test(id)) throw this.#refused('Its jti must be 1 to 256 visible ASCII characters.');
    const expiresAt = (issuedAt + this.#windowSeconds) * 1000;
    const first = await this.#replays.claim(sha256(`${thumbprint} ${id}`), expiresAt);
    if (!first) throw this.#refused('It was used before. Make a new proof for each request.');
  }

  #refused(problem: string, cause?: unknown): AuthError {
    const message = `The DPoP proof is refused. ${problem}`;
    const dpop = { error: 'invalid_dpop_proof', algorithms: this.algorithms, nonce: this.#nonces?.current() } as const;
    return new AuthError('unauthenticated', message, undefined, { cause, dpop });
  }
}

function requireOrigin(text: string): string {
  const origin = comparableUri(text)?.replace(/\/$/, '');
  if (origin !== undefined && origin.split('/').length <= 3) return origin;
  throw new TypeError('dpopVerifier: origin must be an origin without a path, e.g. https://svc.example.com.');
}

const NO_HEADERS: Readonly<Record<string, string>> = {};
const FOREIGN = ['crit', 'b64', 'zip', 'cty', 'jku', 'x5u', 'x5c', 'kid', 'enc'];
const PROOF_ID = /^[\x21-\x7e]{1,256}$/;
const MAX_IMPORTED = 10_000;
