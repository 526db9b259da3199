import { sha256, sha256Base64url } from '#sha256';
import { clockOf } from '../clock-of.ts';
import { withinTime } from '../deadline.ts';
import { equalTexts } from '../equal-texts.ts';
import { AuthError } from '../errors.ts';
import { type Algorithm, DEFAULT_ALGORITHMS, isAlgorithm, keyTypeOf } from '../jwt/algorithms.ts';
import { type Jwt, objectClaim, readJwt, textClaim } from '../jwt/jwt.ts';
import type { JsonObject } from '../jwt/strict-json.ts';
import { verifiesSignature } from '../jwt/verify-signature.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import { outage } from '../outage.ts';
import type { RateDecision, RateLimiter } from '../rate-limit/limiter.ts';
import { memoryRateLimiter } from '../rate-limit/memory.ts';
import type { RefusalReason } from '../refusal-reason.ts';
import { headerValues, type RequestHead } from '../request-head.ts';
import { ImportedKeys, type ProofKey } from './imported-keys.ts';
import type { Nonces } from './nonce.ts';
import type { ReplayAnswer, ReplayStore } from './replay-store.ts';
import { comparableUri, isSameUri, targetPath } from './request-uri.ts';
import { publicKeyThumbprint } from './thumbprint.ts';

/** Options of `dpopVerifier`. */
export interface DpopOptions {
  /** The origin of the host as clients see it, e.g. `https://svc.example.com`. The `Host` header is not read. */
  readonly origin: string;
  /** Stores used proofs. */
  readonly replays: ReplayStore;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Nonces of the host, required in every proof. Default: none is required. */
  readonly nonces?: Nonces | undefined;
  /** Accepted signature algorithms. Default RS256, PS256, ES256, EdDSA and Ed25519. */
  readonly algorithms?: readonly Algorithm[];
  /** Accepted difference between `iat` and the host's clock, either way, in seconds, at most 300. Default 60. */
  readonly windowSeconds?: number;
  /**
   * Limits the proofs of each holder of tokens, so that one holder cannot fill the replay store for the others. Default: a
   * `memoryRateLimiter` of 20 000 proofs in twice `windowSeconds`, the longest life of a proof.
   */
  readonly perHolder?: RateLimiter;
}

const DPOP_OPTIONS: OptionNames<DpopOptions> = {
  origin: true,
  replays: true,
  now: true,
  nonces: true,
  algorithms: true,
  windowSeconds: true,
  perHolder: true,
};

/** Checks that the sender of a token holds the key to which the token is bound. */
export interface DpopVerifier {
  /** Accepted signature algorithms. */
  readonly algorithms: readonly Algorithm[];
  /**
   * Verifies the proof of a request, and uses it up.
   *
   * @param bound the access token, and the thumbprint in its `cnf.jkt`
   * @returns headers for the response
   * @throws {AuthError} `unauthenticated` with a DPoP challenge; the errors of `VerifiedProof.use`
   */
  verify(request: RequestHead, bound: BoundToken): Promise<Readonly<Record<string, string>>>;
  /**
   * Verifies the proof of a request without using it up. A caller must call `use` before it accepts the request.
   *
   * @param bound the access token, and the thumbprint in its `cnf.jkt`
   * @throws {AuthError} `unauthenticated` with a DPoP challenge
   */
  examine(request: RequestHead, bound: BoundToken): Promise<VerifiedProof>;
}

/** A token that is bound to a key. */
export interface BoundToken {
  /** The access token. */
  readonly token: string;
  /** The thumbprint in `cnf.jkt` of the token. */
  readonly thumbprint: string;
}

/** A valid proof that is not used up yet. */
export interface VerifiedProof {
  /** For the response. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Uses the proof up.
   *
   * @param holder the party whose proofs are counted together. Default: the key.
   * @throws {AuthError} `unauthenticated` when the proof was used before; `rate_limited` when the holder has used too
   *   many; `service_unavailable` when the replay store is full or fails
   */
  use(holder?: string): Promise<void>;
}

/**
 * Makes a verifier of DPoP proofs. A proof is valid for one request: its method, its URL, its token, the present time,
 * and once. A proof with `exp` is also refused from that time on, and one with `nbf` before it.
 *
 * @throws {TypeError} when `origin`, `algorithms` or `windowSeconds` is invalid
 * @example
 * const replays = memoryReplayStore();
 * const dpop = dpopVerifier({ origin: 'https://svc.example.com', replays });
 * @see RFC 9449, sections 4.3, 7.1, 9 and 11.1; RFC 7519, sections 4.1.4 and 4.1.5
 */
export function dpopVerifier(options: DpopOptions): DpopVerifier {
  requireKnown('dpopVerifier', options, DPOP_OPTIONS);
  const verifier = new ProofVerifier(options);
  return {
    algorithms: verifier.algorithms,
    examine: (request, bound) => verifier.examine(request, bound),
    async verify(request, bound) {
      const { headers, use } = await verifier.examine(request, bound);
      await use();
      return headers;
    },
  };
}

/** Runs the checks of a proof, each a method, in the order of `examine`. */
class ProofVerifier {
  readonly algorithms: readonly Algorithm[];
  readonly #origin: string;
  readonly #windowSeconds: number;
  readonly #replays: ReplayStore;
  readonly #now: () => number;
  readonly #nonces: Nonces | undefined;
  readonly #perHolder: RateLimiter;
  readonly #imported = new ImportedKeys();

  constructor(options: DpopOptions) {
    const { origin, replays, nonces, algorithms = DEFAULT_ALGORITHMS, windowSeconds = 60 } = options;
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
    this.#now = clockOf('dpopVerifier', options.now);
    this.#nonces = nonces;
    this.#perHolder = options.perHolder ?? holderLimit(windowSeconds);
  }

  async examine(request: RequestHead, bound: BoundToken): Promise<VerifiedProof> {
    const proof = this.#onlyProof(request);
    const proofKey = this.#checkedHeader(proof);
    if (!equalTexts(proofKey.thumbprint, bound.thumbprint)) {
      throw this.#refused('Its jwk must be the key that the token is bound to (cnf.jkt).');
    }
    await this.#requireSignature(proof, proofKey);
    this.#requireRequest(proof.claims, request);
    this.#requireToken(proof.claims, bound.token);
    const issuedAt = this.#requireTimes(proof.claims);
    this.#requireNonce(proof.claims);
    const id = this.#identityOf(proof.claims, proofKey.thumbprint);
    const expiresAt = (issuedAt + this.#windowSeconds) * 1000;
    return {
      headers: this.#nonces === undefined ? NO_HEADERS : { 'dpop-nonce': this.#nonces.current() },
      use: (holder = proofKey.thumbprint) => this.#use(id, expiresAt, holder),
    };
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
    const key = await this.#imported.import(proofKey).catch((cause: unknown) => {
      throw this.#refused('Its jwk is not a valid public key.', 'proof', cause);
    });
    if (!(await verifiesSignature(proof, key, proofKey.algorithm))) throw this.#refused('Its signature is invalid.');
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

  /** Returns `iat`. The claims `exp` and `nbf` are optional in a proof, and bind where they are. */
  #requireTimes({ iat, exp, nbf }: JsonObject): number {
    const window = this.#windowSeconds;
    const now = this.#now() / 1000;
    if (exp !== undefined && !(isNumericDate(exp) && now < exp)) {
      throw this.#refused('Its exp must be in the future.', 'proof-time');
    }
    if (nbf !== undefined && !(isNumericDate(nbf) && nbf <= now + window)) {
      throw this.#refused('It is not valid yet (nbf).', 'proof-time');
    }
    if (typeof iat === 'number' && Number.isSafeInteger(iat) && Math.abs(now - iat) <= window) return iat;
    throw this.#refused(`Its iat must be a time within ${window} s of the host's clock.`, 'proof-time');
  }

  #requireNonce(claims: JsonObject): void {
    const nonces = this.#nonces;
    if (nonces === undefined || nonces.accepts(textClaim(claims, 'nonce') ?? '')) return;
    const message =
      'The DPoP proof needs a nonce of this host. Make a new proof with the nonce of the header DPoP-Nonce.';
    const dpop = { error: 'use_dpop_nonce', algorithms: this.algorithms, nonce: nonces.current() } as const;
    throw new AuthError('unauthenticated', message, undefined, { rejected: false, dpop, reason: 'proof-nonce' });
  }

  #identityOf(claims: JsonObject, thumbprint: string): string {
    const id = textClaim(claims, 'jti') ?? '';
    if (!PROOF_ID.test(id)) throw this.#refused('Its jti must be 1 to 256 visible ASCII characters.');
    return sha256(`${thumbprint} ${id}`);
  }

  /** Only fresh proofs count against their holder: a thief of used ones does not use up its limit. */
  async #use(id: string, expiresAt: number, holder: string): Promise<void> {
    requireAllowed(await this.#perHolder.peek(holder));
    const answer = await this.#claim(id, expiresAt);
    if (answer === 'seen') throw this.#refused('It was used before. Make a new proof for each request.', 'proof-used');
    if (answer === 'full') throw outage(FULL, new Error('The replay store is full.'), 'replay-store-full');
    await this.#perHolder.consume(holder);
  }

  /** A store that fails says nothing about the proof. Only its three answers count. */
  async #claim(id: string, expiresAt: number): Promise<ReplayAnswer> {
    try {
      const claim: unknown = this.#replays.claim(id, expiresAt);
      const answer = typeof claim === 'string' ? claim : await withinTime('The replay store', STORE_TIMEOUT_MS, claim);
      if (answer === 'fresh' || answer === 'seen' || answer === 'full') return answer;
      throw new TypeError('replays: claim must return fresh, seen or full, or a promise of one of them.');
    } catch (cause) {
      throw outage(UNCHECKED, cause, 'replay-store');
    }
  }

  #refused(problem: string, reason: RefusalReason = 'proof', cause?: unknown): AuthError {
    const message = `The DPoP proof is refused. ${problem}`;
    const dpop = { error: 'invalid_dpop_proof', algorithms: this.algorithms, nonce: this.#nonces?.current() } as const;
    return new AuthError('unauthenticated', message, undefined, { cause, dpop, reason });
  }
}

function requireOrigin(text: string): string {
  const origin = comparableUri(text)?.replace(/\/$/, '');
  if (origin !== undefined && origin.split('/').length <= 3) return origin;
  throw new TypeError('dpopVerifier: origin must be an origin without a path, e.g. https://svc.example.com.');
}

function holderLimit(windowSeconds: number): RateLimiter {
  return memoryRateLimiter({ limit: PROOFS_PER_HOLDER, windowSeconds: Math.max(1, Math.ceil(2 * windowSeconds)) });
}

function requireAllowed(decision: RateDecision): void {
  if (!decision.allowed) throw decision.error;
}

/** Fractions of a second are allowed. @see RFC 7519, section 2 */
function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

const NO_HEADERS: Readonly<Record<string, string>> = {};
const FOREIGN = ['crit', 'b64', 'zip', 'cty', 'jku', 'x5u', 'x5c', 'kid', 'enc'];
const PROOF_ID = /^[\x21-\x7e]{1,256}$/;
const STORE_TIMEOUT_MS = 5000;
/** A fifth of the proofs that `memoryReplayStore` holds. */
const PROOFS_PER_HOLDER = 20_000;
const UNCHECKED = 'The DPoP proof cannot be checked at the moment. Try again in a few seconds, with a new proof.';
const FULL = 'This host has no room to record the DPoP proof. Try again in a few seconds, with a new proof.';
