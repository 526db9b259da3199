import {
  AuthError,
  type Authenticator,
  authorizationDecided,
  authorize,
  type Principal,
  type RoleAuthorizer,
} from '@svc/auth';
import { type RateLimiter, rateLimitHeaders } from '@svc/auth/rate-limit';
import { Exchange } from './exchange.ts';
import { resourceIn } from './resource.ts';

export interface CallerOptions {
  readonly authenticator: Authenticator;
  /** Decides by roles beside scopes. Undefined: scopes decide alone. */
  readonly roles: RoleAuthorizer | undefined;
  /** Counts requests by credential. Undefined: they are not limited. */
  readonly limiter: RateLimiter | undefined;
}

/** The steps of the pipeline that are about the caller. */
export interface CallerSteps {
  /** @throws {AuthError} `unauthenticated`, `key_expired`, `key_revoked` and the other refusals of the lanes */
  authenticate(exchange: Exchange): Promise<void>;
  /** @throws {AuthError} `rate_limited` */
  limitRate(exchange: Exchange): Promise<void> | undefined;
  /**
   * Requires a scope of `principal`.
   *
   * @returns the principal, narrowed to the workspaces in which its roles allow the scope
   * @throws {AuthError} `forbidden`
   */
  permit(exchange: Exchange, principal: Principal, scope: string): Promise<Principal>;
  /**
   * Judges the caller of a long answer once more, as if it sent the request now. The request is neither counted nor
   * recorded again.
   *
   * @returns undefined when the caller would be refused, or when its credential can be judged only once
   */
  judgeAgain(exchange: Exchange): Promise<Principal | undefined>;
}

export function callerSteps({ authenticator, roles, limiter }: CallerOptions): CallerSteps {
  return { authenticate, limitRate, permit, judgeAgain };

  async function authenticate(exchange: Exchange): Promise<void> {
    const { gate } = exchange.endpoint;
    if (gate === undefined) return;
    const outcome = await gate.authenticator.authenticate(credentialsOf(exchange));
    if (outcome.kind === 'refused') throw gate.refused?.(outcome.error) ?? outcome.error;
    exchange.principal = outcome.principal;
    if (outcome.headers !== undefined) exchange.headers = outcome.headers;
  }

  function limitRate(exchange: Exchange): Promise<void> | undefined {
    const { principal } = exchange;
    return limiter === undefined || principal === undefined ? undefined : consume(limiter, exchange, principal);
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
    if (byRole === undefined) return principal;
    if (!byRole.allowed) throw byRole.error;
    return { ...principal, tenancy: byRole.tenancy };
  }

  async function judgeAgain({ arrival, endpoint, principal: before, scope }: Exchange): Promise<Principal | undefined> {
    // A DPoP proof is bound to one request: judged again, it would be rejected as its own replay.
    if (before === undefined || scope === undefined || before.binding === 'dpop') return undefined;
    const again = new Exchange(arrival, { ...endpoint, action: 'judge-again', resource: 'withheld' }, {});
    const outcome = await authenticator.authenticate(credentialsOf(again));
    if (outcome.kind === 'refused' || outcome.principal.credentialId !== before.credentialId) return undefined;
    return permit(again, outcome.principal, scope).catch((error: unknown) => {
      if (AuthError.is(error)) return undefined;
      throw error;
    });
  }
}

/** The parts of a request that an authenticator reads. */
function credentialsOf({ arrival: { request, peer } }: Exchange) {
  const { method, url, headers } = request;
  return { method, url, headers, peer };
}
