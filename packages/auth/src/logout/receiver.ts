import { sha256 } from '#sha256';
import { clockOf } from '../clock-of.ts';
import { withinTime } from '../deadline.ts';
import type { DenyListWriter, Withdrawal } from '../deny-list.ts';
import type { ReplayStore } from '../dpop/replay-store.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { isKeyUrl, type KeyFetch, remoteKeys } from '../jwt/remote-keys.ts';
import { TokenFault } from '../jwt/signature.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Refusal } from '../refusal.ts';
import { tell } from '../tell.ts';
import { type LogoutRules, type LogoutToken, logoutToken } from './logout-token.ts';

/** An issuer that may end sessions. */
export interface LogoutIssuer {
  /** URL of the issuer. Compared with `iss` character by character. */
  readonly issuer: string;
  /** The ids of the clients at the issuer for which it sends logout tokens, as in `aud`. */
  readonly clientIds: readonly string[];
  /** The public keys of the issuer. Default: the keys that it publishes. */
  readonly keys?: KeySource;
  /** URL of the keys, which may be on another origin. Default: `jwks_uri` of the issuer's metadata. */
  readonly jwksUri?: string;
  /** Whether tokens of the type `JWT` or without a type are accepted besides `logout+jwt`. Default false. */
  readonly plainJwt?: boolean;
  /**
   * Whether a logout with `sid` withdraws every earlier token of its `sub`, too. For issuers whose access tokens have no
   * `sid`: such a token cannot be told from those of other sessions. Default false.
   */
  readonly endsEverySession?: boolean;
}

/** Options of `logoutReceiver`. */
export interface LogoutReceiverOptions {
  /** The issuers, each once. */
  readonly issuers: readonly LogoutIssuer[];
  /** Gets the withdrawals. */
  readonly denyList: DenyListWriter;
  /** Remembers the ids (`jti`) of accepted logout tokens. */
  readonly replays: ReplayStore;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Fetches metadata and keys of issuers. Required unless every issuer has `keys`. */
  readonly fetch?: KeyFetch;
  /** The longest life of an access token in seconds: a withdrawal ends after it. Default 86 400, a day. */
  readonly maxLifetimeSeconds?: number;
  /**
   * Called with the cause when a logout fails on this host: the error of the deny list, the replay store or the keys. It must
   * not throw. Default: not called.
   */
  readonly onFailure?: (cause: unknown) => void;
  /** Time limit of each of the two stores in milliseconds. Default 5000. */
  readonly timeoutMs?: number;
}

const OPTIONS: OptionNames<LogoutReceiverOptions> = {
  issuers: true,
  denyList: true,
  replays: true,
  now: true,
  fetch: true,
  maxLifetimeSeconds: true,
  onFailure: true,
  timeoutMs: true,
};
const ISSUER: OptionNames<LogoutIssuer> = {
  issuer: true,
  clientIds: true,
  keys: true,
  jwksUri: true,
  plainJwt: true,
  endsEverySession: true,
};

/**
 * Makes the receiver of back-channel logouts. It takes the body of the issuer's request, a form with `logout_token`, and
 * returns the response to send: 200 when the credentials are withdrawn, 400 otherwise. After 200 the deny list knows the
 * session, or the earlier tokens of the subject.
 *
 * @throws {TypeError} when an option is invalid
 * @example
 * const receive = logoutReceiver({ issuers, denyList, replays, fetch: guardedFetch() });
 * const { status, headers, body } = await receive(await request.text());
 * @see OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8
 */
export function logoutReceiver(options: LogoutReceiverOptions): (form: string) => Promise<Refusal> {
  requireKnown('logoutReceiver', options, OPTIONS);
  const { denyList, replays, maxLifetimeSeconds = DAY, onFailure, timeoutMs = 5000 } = options;
  const now = clockOf('logoutReceiver', options.now);
  if (!(maxLifetimeSeconds > 0)) throw new TypeError('logoutReceiver: maxLifetimeSeconds must be more than 0.');
  const issuers = rulesByIssuer(options, now);

  return async (form) => {
    try {
      const token = await logoutToken(onlyToken(form), (issuer) => issuers.get(issuer), now());
      // Withdrawn first: a logout whose id is recorded and whose withdrawal failed could not be repeated.
      for (const withdrawal of withdrawalsOf(token, issuers.get(token.issuer)?.endsEverySession === true)) {
        await withinTime('The deny list', timeoutMs, denyList.deny(withdrawal));
      }
      const id = sha256(`logout ${sha256(token.issuer)} ${sha256(new TextEncoder().encode(token.jti))}`);
      const answer = await withinTime('The replay store', timeoutMs, replays.claim(id, token.expiresAt + SKEW_MS));
      if (answer === 'seen') throw new TokenFault('unverified', 'It was presented before (jti).');
      if (answer !== 'fresh') throw new Error('logoutReceiver: the replay store is full.');
      return { status: 200, headers: HEADERS, body: '{}' };
    } catch (error) {
      if (error instanceof TokenFault && error.kind !== 'outage') return invalid(error.message);
      tell(onFailure, error instanceof TokenFault ? (error.cause ?? error) : error);
      return failed();
    }
  };

  function withdrawalsOf(token: LogoutToken, endsEverySession: boolean): readonly Withdrawal[] {
    const { issuer, subject, sid, issuedAt } = token;
    const until = issuedAt + (maxLifetimeSeconds * 1000 + SKEW_MS);
    // The times of tokens have whole seconds, so those of the same second count as earlier.
    const issuedBefore = issuedAt + 1000;
    return [
      ...(sid === undefined ? [] : [{ kind: 'session', issuer, sid, until } as const]),
      ...(subject !== undefined && (sid === undefined || endsEverySession)
        ? [{ kind: 'subject', issuer, subject, issuedBefore, until } as const]
        : []),
    ];
  }
}

const DAY = 86_400;
const SKEW_MS = 60_000;

interface IssuerRules extends LogoutRules {
  readonly endsEverySession: boolean;
}

function rulesByIssuer({ issuers, fetch }: LogoutReceiverOptions, now: () => number): ReadonlyMap<string, IssuerRules> {
  if (issuers.length === 0) throw new TypeError('logoutReceiver: issuers must not be empty. Pass at least one issuer.');
  const rules = new Map<string, IssuerRules>();
  for (const [index, entry] of issuers.entries()) {
    const { issuer, clientIds, jwksUri, plainJwt = false, endsEverySession = false } = entry;
    const fail = (problem: string) => new TypeError(`logoutReceiver: issuers[${index}].${problem}.`);
    requireKnown(`logoutReceiver: issuers[${index}]`, entry, ISSUER);
    if (!isKeyUrl(issuer)) throw fail('issuer must be an https URL without query or fragment');
    if (rules.has(issuer)) throw fail('issuer must differ from those of the other entries');
    if (!Array.isArray(clientIds) || clientIds.length === 0 || clientIds.includes(''))
      throw fail('clientIds must be a list of ids');
    const keys = entry.keys ?? (fetch && remoteKeys({ issuer, jwksUri, fetch, now }));
    if (keys === undefined) throw fail('keys must be set when there is no fetch');
    rules.set(issuer, { keys, audiences: clientIds, plainJwt, endsEverySession });
  }
  return rules;
}

/** @see OpenID Connect Back-Channel Logout 1.0, section 2.5 */
function onlyToken(form: string): string {
  const tokens = form.length <= MAX_FORM ? new URLSearchParams(form).getAll('logout_token') : [];
  const [token] = tokens;
  if (token !== undefined && tokens.length === 1) return token;
  throw new TokenFault('unverified', 'The form must have the parameter logout_token, once.');
}

const MAX_FORM = 16_384;

/** A response to a logout must not be stored by a cache. */
const HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' } as const;

function invalid(message: string): Refusal {
  return refused('invalid_request', `The logout token is refused. ${message}`);
}

/** The specification has the status 400 for a logout that failed, too. */
function failed(): Refusal {
  return refused('temporarily_unavailable', 'The logout failed on this host. Send the logout token again.');
}

function refused(error: string, description: string): Refusal {
  const body = JSON.stringify({ error, error_description: description });
  return { status: 400, headers: HEADERS, body };
}
