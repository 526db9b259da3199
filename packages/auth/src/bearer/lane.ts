import type { AcceptedCredentials } from '../accepted-credentials.ts';
import { clockOf } from '../clock-of.ts';
import type { KeyFetch } from '../jwt/remote-keys.ts';
import { type OptionNames, requireKnown } from '../known-options.ts';
import type { Lane } from '../lane.ts';
import type { SenderConstraints } from './confirmation.ts';
import { type ResolvedIssuer, resolvedIssuers, type TokenIssuer } from './issuer.ts';
import { TokenJudge } from './token-judge.ts';
import { VerifiedTokens } from './verified-tokens.ts';

/** Options of `bearerLane`. */
export interface BearerLaneOptions extends SenderConstraints {
  /** The accepted issuers, each at most once per profile. */
  readonly issuers: readonly TokenIssuer[];
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Fetches metadata and keys of issuers. Required unless every issuer has `keys`. */
  readonly fetch?: KeyFetch;
  /**
   * Most tokens of which the lane remembers that their signature is valid, by the hash of the whole token. Such a token
   * is judged by every rule again, with the keys, the time and the proof of each request; only the signature is not
   * verified twice with the same key. Default 10 000, about 40 MB; 0 verifies the signature at each request.
   */
  readonly rememberedTokens?: number;
}

const BEARER_LANE_OPTIONS: OptionNames<BearerLaneOptions> = {
  dpop: true,
  certificateOf: true,
  issuers: true,
  now: true,
  fetch: true,
  rememberedTokens: true,
};

/**
 * Makes the lane that authenticates signed tokens (JWTs) of given issuers, sent as `Bearer` or, bound to a key, as
 * `DPoP`. It leaves every other credential to the next lane.
 *
 * A token must be signed by its issuer with an accepted algorithm, have the type of its profile, name this host as its
 * audience, be within its validity period, and map to a tenant and workspaces. An ID token is accepted only when this
 * host is its single audience.
 *
 * @throws {TypeError} when `now`, `rememberedTokens` or an issuer is invalid
 * @example
 * const issuers = [{ issuer: 'https://idp.example.com', audience: 'svc', profile: 'user' as const }];
 * const lane = bearerLane({ issuers, fetch: guardedFetch() });
 * @see Interface: User-bearer tokens (human callers, optional); RFC 9068, section 4; RFC 8725
 */
export function bearerLane(options: BearerLaneOptions): Lane {
  requireKnown('bearerLane', options, BEARER_LANE_OPTIONS);
  const { fetch, rememberedTokens = 10_000 } = options;
  const now = clockOf('bearerLane', options.now);
  if (options.issuers.length === 0)
    throw new TypeError('bearerLane: issuers must not be empty. Pass at least one issuer.');
  if (!Number.isSafeInteger(rememberedTokens) || rememberedTokens < 0)
    throw new TypeError('bearerLane: rememberedTokens must be a whole number, at least 0. Omit it for the default.');
  const issuers = resolvedIssuers(options.issuers, { fetch, now });
  const judge = new TokenJudge({
    issuers,
    constraints: options,
    verified: new VerifiedTokens(rememberedTokens),
    now,
  });
  return {
    name: 'bearer-token',
    advertises: [...issuers.values()].flat().map((issuer) => acceptedTokens(issuer, options)),
    authenticate(request, credential, admission) {
      if (credential?.scheme !== 'bearer' && credential?.scheme !== 'dpop') return undefined;
      return judge.judge(request, credential, admission);
    },
  };
}

function acceptedTokens(
  { issuer, profile, audiences, algorithms, maxLifetimeSeconds, senderConstrained = false }: ResolvedIssuer,
  { dpop }: SenderConstraints,
): AcceptedCredentials {
  const bounds = { maxLifetimeSeconds, senderConstrained, dpopAlgorithms: dpop?.algorithms };
  return { kind: 'signed-token', issuer, profile, audiences, algorithms, ...bounds };
}
