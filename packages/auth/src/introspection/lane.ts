import { requireOpenAccount } from '../bearer/account.ts';
import { type CallerRules, callerOf } from '../bearer/caller.ts';
import { confirmedSender, type SenderConstraints, useProof } from '../bearer/confirmation.ts';
import type { TokenIssuer } from '../bearer/issuer.ts';
import { tokenRefusal, unboundToken } from '../bearer/token-refusal.ts';
import { clockOf } from '../clock-of.ts';
import type { Credential } from '../credential.ts';
import { withinTime } from '../deadline.ts';
import { AuthError } from '../errors.ts';
import { DEFAULT_ALGORITHMS } from '../jwt/algorithms.ts';
import { audiencesOf, requireLifetime, requireText } from '../jwt/claims.ts';
import { readJwt, textClaim } from '../jwt/jwt.ts';
import type { KeySource } from '../jwt/key-set.ts';
import { isKeyUrl } from '../jwt/remote-keys.ts';
import { TokenFault } from '../jwt/signature.ts';
import type { JsonObject } from '../jwt/strict-json.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Admission, AuthOutcome, Lane } from '../lane.ts';
import type { RequestHead } from '../request-head.ts';
import type { StatusJudge } from '../status-list/status-lists.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { type IntrospectionFetch, introspected } from './endpoint.ts';
import { signedAnswers } from './signed-answer.ts';
import { Verdicts } from './verdicts.ts';

/** Options of `introspectionLane`. The mapping options are those of `TokenIssuer`. */
export interface IntrospectionLaneOptions
  extends SenderConstraints,
    Pick<
      TokenIssuer,
      | 'issuer'
      | 'audience'
      | 'claims'
      | 'tenants'
      | 'principalOf'
      | 'senderConstrained'
      | 'isDisabled'
      | 'maxLifetimeSeconds'
    > {
  /** URL of the introspection endpoint. */
  readonly endpoint: string;
  /** Authenticates this host there: `clientSecretBasic` or `privateKeyJwt`. */
  readonly client: ClientAuthentication;
  /** Sends a POST. Pass a guarded fetch that may reach the endpoint. */
  readonly fetch: IntrospectionFetch;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /**
   * Returns whether a credential may be a token of the issuer. Every such credential is sent to the endpoint, so exclude
   * API keys that were not minted. It is not asked about minted keys and about JWTs of another issuer, which are never
   * sent. A failure, or no answer within 5 s, refuses the request as an outage. Default: all others may be.
   */
  readonly isToken?: (token: string) => boolean | Promise<boolean>;
  /** Whether tokens of people, of machines (`client_id` without another `sub`), or of both are accepted. Default: both. */
  readonly profiles?: readonly TokenIssuer['profile'][];
  /** Keys of the issuer. Answers must then be signed (RFC 9701). Default: answers are plain JSON. */
  readonly answerKeys?: KeySource;
  /**
   * The status lists of the issuer, made by `statusLists` of `@svc/auth/status-list`: when an answer has the member
   * `status`, the status in the list decides at each request, also while the answer is remembered. Default: the member is
   * ignored.
   */
  readonly statusLists?: TokenIssuer['statusLists'];
  /** The public keys of the issuer, which sign its status lists. Default: `answerKeys`. Not used without `statusLists`. */
  readonly keys?: KeySource;
  /**
   * Longest use of the answer that a token is active, in seconds, 0 to 300; never after `exp`. With 0 the issuer is asked
   * for each request, and requests at the same time share an answer. Default 30.
   */
  readonly maxAgeSeconds?: number;
  /** Longest use of the answer that a token is not active, in seconds, 0 to 60. Default 5. */
  readonly inactiveSeconds?: number;
  /** Most answers of each of the two kinds in memory. Default 10 000. */
  readonly maxEntries?: number;
  /** Most questions under way. Above it, new tokens get 503. Default 100. */
  readonly maxPending?: number;
  /** Time limit of a question in milliseconds. Default 5000. */
  readonly timeoutMs?: number;
}

const OPTIONS: OptionNames<IntrospectionLaneOptions> = {
  issuer: true,
  audience: true,
  claims: true,
  tenants: true,
  principalOf: true,
  senderConstrained: true,
  isDisabled: true,
  maxLifetimeSeconds: true,
  dpop: true,
  certificateOf: true,
  endpoint: true,
  client: true,
  fetch: true,
  now: true,
  isToken: true,
  profiles: true,
  answerKeys: true,
  statusLists: true,
  keys: true,
  maxAgeSeconds: true,
  inactiveSeconds: true,
  maxEntries: true,
  maxPending: true,
  timeoutMs: true,
};

/**
 * Makes the lane that authenticates opaque tokens by asking their issuer (RFC 7662). Its principals are like those of
 * `bearerLane`: the answer must name this host as its audience, be within its validity period, and map to a tenant and
 * workspaces, and `cnf` in it is honoured. Put the lane between the lane for signed tokens and that for API keys.
 *
 * An answer is used for `maxAgeSeconds` and never after `exp`, so a revoked token is accepted for at most that long. With
 * `statusLists`, the member `status` of the answer decides as well.
 * While the endpoint fails, callers get `service_unavailable`, which counts against no limit.
 *
 * @throws {TypeError} when an option is invalid
 * @example
 * const client = clientSecretBasic({ clientId: 'svc', clientSecret });
 * const endpoint = 'https://idp.example.com/introspect';
 * const issuer = 'https://idp.example.com';
 * const lane = introspectionLane({ issuer, endpoint, client, audience: 'svc', fetch: guardedFetch() });
 * @see RFC 7662; RFC 9701
 */
export function introspectionLane(options: IntrospectionLaneOptions): Lane {
  requireKnown('introspectionLane', options, OPTIONS);
  const checked = checkedOptions(options);
  const { issuer, endpoint: url, client, fetch, answerKeys, isToken } = options;
  const { now } = checked;
  const signed =
    answerKeys && signedAnswers(issuer, answerKeys, { readers: [client.clientId, ...checked.audiences], now });
  const endpoint = { url, issuer, client, fetch, timeoutMs: checked.timeoutMs, signed };
  const verdicts = new Verdicts((token) => introspected(endpoint, token), checked);
  const statuses = statusesOf(options, now);
  const mayBe = (token: string) => mayBeOf(issuer, token) && (isToken === undefined || isToken(token));

  return {
    name: 'introspection',
    advertises: [
      {
        kind: 'opaque-token',
        issuer,
        profiles: checked.profiles,
        audiences: checked.audiences,
        maxAgeSeconds: checked.maxAgeMs / 1000,
        senderConstrained: options.senderConstrained ?? false,
        dpopAlgorithms: options.dpop?.algorithms,
      },
    ],
    authenticate(request, credential, admission) {
      if (credential?.scheme !== 'bearer' && credential?.scheme !== 'dpop') return undefined;
      const answer = mayBe(credential.token);
      if (answer === false) return undefined;
      return answer === true
        ? judged(request, credential, admission)
        : decideLater(answer, request, credential, admission);
    },
  };

  async function decideLater(
    pending: Promise<boolean>,
    ...parts: [request: RequestHead, credential: Credential, admission: Admission]
  ): Promise<AuthOutcome | undefined> {
    const answer: unknown = await withinTime('isToken', LOOKUP_TIMEOUT_MS, pending);
    if (typeof answer !== 'boolean') throw new TypeError('introspectionLane: isToken must return true or false.');
    return answer ? judged(...parts) : undefined;
  }

  async function judged(request: RequestHead, credential: Credential, admission: Admission): Promise<AuthOutcome> {
    const known = verdicts.known(credential.token);
    const isAdmitted = known === undefined || isCostly(known.verdict);
    if (isAdmitted) await admission.require();
    try {
      const answer = known === undefined ? await asked(credential.token) : known.verdict;
      if (answer === undefined) throw inactive();
      const { rules, claims, expiresAt } = requireAnswer(answer);
      const sender = await confirmedSender({ claims }, request, credential, options);
      const { binding, headers } = sender;
      if (options.senderConstrained === true && binding === 'bearer') throw unboundToken();
      const subject = requireText(claims, 'sub');
      // After the sender is confirmed: a thief of a bound token makes the host fetch nothing.
      if (statuses?.accepts(claims) === false) {
        // A list costs a request.
        if (!isAdmitted) await admission.require();
        await statuses.require(claims);
      }
      await requireOpenAccount(options.isDisabled, subject);
      const principal = { ...callerOf(claims, rules), binding, expiresAt };
      await useProof(sender, principal, admission);
      return { kind: 'authenticated', principal, headers };
    } catch (error) {
      throw error instanceof TokenFault ? tokenRefusal(error) : error;
    }
  }

  /** A proof costs a signature, and a lookup a request. */
  function isCostly(verdict: JsonObject | undefined): boolean {
    return verdict !== undefined && (options.isDisabled !== undefined || Object.hasOwn(verdict, 'cnf'));
  }

  async function asked(token: string): Promise<JsonObject | undefined> {
    try {
      return await verdicts.ask(token);
    } catch (cause) {
      throw new TokenFault('outage', 'The issuer cannot be asked at the moment.', { cause });
    }
  }

  function requireAnswer(answer: JsonObject): { rules: CallerRules; claims: JsonObject; expiresAt: number } {
    if (answer.iss !== undefined && answer.iss !== issuer)
      throw new TokenFault('unverified', 'Its issuer (iss) is another one.', { reason: 'signing-key' });
    const type = answer.token_type;
    if (type !== undefined && !(typeof type === 'string' && TOKEN_TYPES.includes(type.toLowerCase())))
      throw new TokenFault('unverified', 'It is not an access token (token_type).', { reason: 'token-type' });
    if (String(type).toLowerCase() === 'dpop' && !Object.hasOwn(answer, 'cnf'))
      throw new TokenFault('unverified', 'Its type is DPoP, and it has no cnf.', { reason: 'token-type' });
    if (!audiencesOf(answer).some((audience) => checked.audiences.includes(audience)))
      throw new TokenFault('audience', 'Its audience (aud) must name this host.');
    const { maxLifetimeSeconds } = checked;
    const times = { now: now(), clockSkewSeconds: SKEW_SECONDS, maxLifetimeSeconds, issuedAtOptional: true };
    const expiresAt = requireLifetime(answer, times);
    const client = textClaim(answer, 'client_id');
    // A machine is its own subject, and many issuers leave the subject of a machine out. A person is never its client.
    const sub = textClaim(answer, 'sub') ?? (Object.hasOwn(answer, 'username') ? undefined : client);
    const profile = sub !== undefined && sub === client ? 'client' : 'user';
    if (!checked.profiles.includes(profile))
      throw new TokenFault('unverified', `Tokens of the profile ${profile} are not accepted.`, {
        reason: 'token-type',
      });
    const claims = answer.sub === undefined && sub !== undefined ? { ...answer, sub } : answer;
    const { claims: mapping, tenants, principalOf } = options;
    const rules = {
      issuer,
      profile,
      ...(mapping !== undefined && { claims: mapping }),
      ...(tenants !== undefined && { tenants }),
      ...(principalOf !== undefined && { principalOf }),
    } as const;
    return { rules, claims, expiresAt };
  }
}

function statusesOf(options: IntrospectionLaneOptions, now: () => number): StatusJudge | undefined {
  const { issuer, statusLists: lists, keys = options.answerKeys } = options;
  if (lists === undefined) return undefined;
  if (typeof lists?.judgeOf !== 'function')
    throw new TypeError('introspectionLane: statusLists must be made by statusLists of @svc/auth/status-list.');
  if (typeof keys?.find !== 'function')
    throw new TypeError('introspectionLane: keys must be the keys of the issuer, which sign its statusLists.');
  return lists.judgeOf({ issuer, keys, algorithms: DEFAULT_ALGORITHMS, clockSkewSeconds: SKEW_SECONDS, now });
}

const TOKEN_TYPES = ['bearer', 'dpop'];
const SKEW_SECONDS = 60;
const LOOKUP_TIMEOUT_MS = 5000;

function inactive(): AuthError {
  const message = 'The token is not active: it is unknown, has expired, or was revoked. Get another one.';
  return new AuthError('unauthenticated', message, undefined, { reason: 'inactive' });
}

/** A key of this host must not leave it, and a token of another issuer is none of its business. */
function mayBeOf(issuer: string, token: string): boolean {
  if (MINTED.test(token)) return false;
  const jwt = readJwt(token);
  return jwt === undefined || textClaim(jwt.claims, 'iss') === issuer;
}

const MINTED = /^svc_(?:live|test)_/;

interface Checked {
  readonly now: () => number;
  readonly audiences: readonly string[];
  readonly profiles: readonly TokenIssuer['profile'][];
  readonly maxLifetimeSeconds: number;
  readonly maxAgeMs: number;
  readonly inactiveMs: number;
  readonly maxEntries: number;
  readonly maxPending: number;
  readonly timeoutMs: number;
}

function checkedOptions(options: IntrospectionLaneOptions): Checked {
  const { issuer, endpoint, client, fetch, profiles = ['user', 'client'], maxLifetimeSeconds = DAY } = options;
  const fail = (problem: string) => new TypeError(`introspectionLane: ${problem}.`);
  if (typeof issuer !== 'string' || !isKeyUrl(issuer))
    throw fail('issuer must be an https URL without query or fragment');
  if (typeof endpoint !== 'string' || !isKeyUrl(endpoint))
    throw fail('endpoint must be an https URL, or an http URL on this machine, without credentials, query or fragment');
  if (typeof client?.partsOf !== 'function') throw fail('client must be made by clientSecretBasic or privateKeyJwt');
  if (typeof fetch !== 'function') throw fail('fetch must be a function, e.g. guardedFetch()');
  const now = clockOf('introspectionLane', options.now);
  const audiences = [options.audience].flat();
  if (audiences.length === 0 || audiences.some((audience) => typeof audience !== 'string' || audience === ''))
    throw fail('audience must be one or more non-empty strings that name this host');
  if (profiles.length === 0 || profiles.some((profile) => profile !== 'user' && profile !== 'client'))
    throw fail('profiles must be a list of "user" and "client"');
  if (!(maxLifetimeSeconds > 0)) throw fail('maxLifetimeSeconds must be more than 0');
  const bounded = (name: string, value: number, least: number, most: number) => {
    if (value >= least && value <= most) return value;
    throw fail(`${name} must be ${least} to ${most}`);
  };
  return {
    now,
    audiences,
    profiles,
    maxLifetimeSeconds,
    maxAgeMs: 1000 * bounded('maxAgeSeconds', options.maxAgeSeconds ?? 30, 0, 300),
    inactiveMs: 1000 * bounded('inactiveSeconds', options.inactiveSeconds ?? 5, 0, 60),
    maxEntries: bounded('maxEntries', options.maxEntries ?? 10_000, 1, 1_000_000),
    maxPending: bounded('maxPending', options.maxPending ?? 100, 1, 10_000),
    timeoutMs: bounded('timeoutMs', options.timeoutMs ?? 5000, 1, 60_000),
  };
}

const DAY = 86_400;
