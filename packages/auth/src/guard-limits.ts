import type { Authenticator } from './authenticate.ts';
import type { AuthError } from './errors.ts';
import { outage } from './outage.ts';
import type { Principal } from './principal.ts';
import type { CredentialQuota, QuotaCounter } from './quota-counter.ts';
import { rateLimitHeaders } from './rate-limit/headers.ts';
import type { RateDecision, RateLimiter } from './rate-limit/limiter.ts';
import { type OwnLimit, ownLimits } from './rate-limit/own-limits.ts';

/** The limits of a guard: that of the credential, and that of the guard. */
export interface GuardLimits {
  /** Decides as `consume` would, without counting. */
  peek(principal: Principal): Promise<Limited>;
  /** Counts a request. A request that the limit of the credential refuses does not count against that of the guard. */
  consume(principal: Principal): Promise<Limited>;
}

/** The decision of all limits. */
interface Limited {
  /** The refusal. Undefined when the request is within the limits. */
  readonly error?: AuthError;
  /** The headers of the limit that decided. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes the limits of one guard. Guards of one authenticator count the limit of a credential together. */
export function guardLimits(
  authenticator: Authenticator,
  limiter: RateLimiter | undefined,
  quotas: QuotaCounter | undefined,
): GuardLimits {
  const known = OWN.get(authenticator);
  const ownOf = known ?? ownLimits();
  if (known === undefined) OWN.set(authenticator, ownOf);
  return { peek: (principal) => decide(principal, 'peek'), consume: (principal) => decide(principal, 'consume') };

  async function decide({ credentialId, rateLimit, quota }: Principal, step: 'peek' | 'consume'): Promise<Limited> {
    try {
      const own = rateLimit && (await ownOf(rateLimit)[step](credentialId));
      if (own?.allowed === false) return limited(own);
      const rate = await limiter?.[step](credentialId);
      if (rate?.allowed === false) return limited(rate);
      // Last: a request that another limit refuses does not use up the quota.
      const refused = quota === undefined || step === 'peek' ? undefined : await counted(quota, quotas);
      if (refused !== undefined) return refused;
      const shown = own ?? rate;
      return shown === undefined ? UNLIMITED : limited(shown);
    } catch (cause) {
      return {
        error: outage('The rate limit cannot be judged at the moment. Try again in a few seconds.', cause),
        headers: {},
      };
    }
  }
}

const OWN = /* @__PURE__ */ new WeakMap<Authenticator, (own: OwnLimit) => RateLimiter>();

const UNLIMITED: Limited = { headers: {} };

/** Counts a request. A quota that no part counts would be none. */
async function counted(quota: CredentialQuota, quotas: QuotaCounter | undefined): Promise<Limited | undefined> {
  if (quotas !== undefined) return quotas.consume(quota);
  const cause = new TypeError('guard: the credential has a quota. Pass quotas, e.g. of quotaLedger.');
  return { error: outage('The quota cannot be counted. Ask the operator of the host.', cause), headers: {} };
}

function limited(decision: RateDecision): Limited {
  const headers = rateLimitHeaders(decision);
  return decision.allowed ? { headers } : { error: decision.error, headers };
}
