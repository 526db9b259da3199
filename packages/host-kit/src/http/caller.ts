import {
  AuthError,
  type Authenticator,
  authorizationDecided,
  authorize,
  type Principal,
  type QuotaCounter,
  type RoleAuthorizer,
} from '@svc/auth';
import { ownLimits, type RateLimiter, rateLimitHeaders } from '@svc/auth/rate-limit';
import { Exchange } from './exchange.ts';
import { resourceIn } from './resource.ts';
import type { SignInRules } from './sign-in-rules.ts';

export interface CallerOptions {
  readonly authenticator: Authenticator;
  /** Decides by roles beside scopes. Undefined: scopes decide alone. */
  readonly roles: RoleAuthorizer | undefined;
  /** Counts requests by credential. Undefined: they are not limited. */
  readonly limiter: RateLimiter | undefined;
  /** The sign-in that operations and scopes need. */
  readonly signIn: SignInRules;
  /** Counts the quotas of credentials. Undefined: a credential with a quota is refused. */
  readonly quotas: QuotaCounter | undefined;
}

/** The steps of the pipeline that are about the caller. */
export interface CallerSteps {
  /** @throws {AuthError} `unauthenticated`, `key_expired`, `key_revoked` and the other refusals of the lanes */
  authenticate(exchange: Exchange): Promise<void>;
  /** @throws {AuthError} `rate_limited`, or `service_unavailable` when a quota cannot be counted */
  limitRate(exchange: Exchange): Promise<void> | undefined;
  /**
   * Requires a scope of `principal`.
   *
   * @returns the principal, narrowed to the workspaces in which its roles allow the scope
   * @throws {AuthError} `forbidden`
   */
  permit(exchange: Exchange, principal: Principal, scope: string): Promise<Principal>;
  /**
   * Requires every scope of the operation, and the sign-in that it needs.
   *
   * @throws {AuthError} `forbidden`; `unauthenticated` with the challenge of RFC 9470
   */
  permitScopes(exchange: Exchange): Promise<void>;
  /**
   * Judges the caller of a long answer once more, as if it sent the request now. The request is neither counted nor
   * recorded again.
   *
   * @returns undefined when the caller would be refused, or when its credential can be judged only once
   */
  judgeAgain(exchange: Exchange): Promise<Principal | undefined>;
}

export function callerSteps({ authenticator, roles, limiter, signIn, quotas }: CallerOptions): CallerSteps {
  const ownLimiter = ownLimits();
  return { authenticate, limitRate, permit, permitScopes, judgeAgain };

  async function authenticate(exchange: Exchange): Promise<void> {
    const { gate } = exchange.endpoint;
    if (gate === undefined) return;
    const outcome = await gate.authenticator.authenticate(credentialsOf(exchange), async ({ principal, headers }) => {
      // A caller above its limit must not use up its proofs: they fill the replay store.
      const decision = await limiter?.peek(principal.credentialId);
      if (decision?.allowed !== false) return;
      exchange.principal = principal;
      exchange.headers = { ...headers, ...rateLimitHeaders(decision) };
      throw decision.error;
    });
    if (outcome.kind === 'refused') throw gate.refused?.(outcome.error) ?? outcome.error;
    exchange.principal = outcome.principal;
    if (outcome.headers !== undefined) exchange.headers = outcome.headers;
  }

  function limitRate(exchange: Exchange): Promise<void> | undefined {
    const { principal } = exchange;
    if (principal === undefined) return undefined;
    const own = principal.rateLimit && ownLimiter(principal.rateLimit);
    if (own !== undefined || principal.quota !== undefined) return consumeAll(own, exchange, principal);
    return limiter === undefined ? undefined : consume(limiter, exchange, principal);
  }

  /**
   * The credential's own limit first: a request that it refuses does not count against the limit of the host. The quota
   * last: a request that a limit refuses does not use it up.
   */
  async function consumeAll(own: RateLimiter | undefined, exchange: Exchange, principal: Principal): Promise<void> {
    if (own !== undefined) await consume(own, exchange, principal);
    const ofOwn = exchange.headers;
    if (limiter !== undefined) await consume(limiter, exchange, principal);
    if (own !== undefined) exchange.headers = ofOwn;
    if (principal.quota === undefined) return;
    const refused = quotas === undefined ? UNCOUNTED : await quotas.consume(principal.quota);
    if (refused === undefined) return;
    exchange.headers = { ...exchange.headers, ...refused.headers };
    throw refused.error;
  }

  async function consume(limiter: RateLimiter, exchange: Exchange, { credentialId }: Principal): Promise<void> {
    const decision = await limiter.consume(credentialId);
    exchange.headers = { ...exchange.headers, ...rateLimitHeaders(decision) };
    if (!decision.allowed) throw decision.error;
  }

  async function permit(exchange: Exchange, principal: Principal, scope: string): Promise<Principal> {
    exchange.scope = scope;
    const byScope = authorize(principal, scope);
    const byRole = byScope.allowed ? await roles?.authorize(principal, scope) : undefined;
    const { action, resource } = exchange.endpoint;
    const asked = { action, resource: resourceIn(exchange.params) ?? resource };
    exchange.decided = authorizationDecided(principal, asked, byRole ?? byScope);
    if (!byScope.allowed) throw byScope.error;
    if (byRole?.allowed === false) throw byRole.error;
    // Last: a caller that may not use the scope is not asked to sign in again for it.
    signIn.requireForScope(scope, principal);
    return byRole === undefined ? principal : { ...principal, tenancy: byRole.tenancy };
  }

  async function permitScopes(exchange: Exchange): Promise<void> {
    const { endpoint, principal } = exchange;
    exchange.permitted = principal;
    for (const scope of endpoint.scopes) {
      exchange.permitted = await permit(exchange, exchange.permitted ?? exchange.caller, scope);
    }
    if (principal !== undefined) signIn.requireFor(endpoint.operationId, principal);
  }

  async function judgeAgain({ arrival, endpoint, principal: before, scope }: Exchange): Promise<Principal | undefined> {
    // A DPoP proof is bound to one request: judged again, it would be rejected as its own replay.
    if (before === undefined || scope === undefined || before.binding === 'dpop') return undefined;
    const again = new Exchange(arrival, { ...endpoint, action: 'judge-again', resource: 'withheld' }, {});
    const outcome = await authenticator.authenticate(credentialsOf(again));
    if (outcome.kind === 'refused' || outcome.principal.credentialId !== before.credentialId) return undefined;
    try {
      signIn.requireFor(endpoint.operationId, outcome.principal);
      return await permit(again, outcome.principal, scope);
    } catch (error) {
      if (AuthError.is(error)) return undefined;
      throw error;
    }
  }
}

/** A quota that no part counts would be none. */
const UNCOUNTED = {
  error: new AuthError(
    'service_unavailable',
    'The quota of the credential cannot be counted. Ask the operator of the host to pass apiKeys to createHost.',
    undefined,
    { rejected: false },
  ),
  headers: {},
};

/** The parts of a request that an authenticator reads. */
function credentialsOf({ arrival: { request, peer } }: Exchange) {
  const { method, url, headers } = request;
  return { method, url, headers, peer };
}
