import { sha256 } from '#sha256';
import type { ClaimedCaller } from './claimed-caller.ts';
import { AuthError } from './errors.ts';
import type { OptionNames } from './known-options.ts';
import type { Admission } from './lane.ts';
import type { RateDecision, RateLimiter } from './rate-limit/limiter.ts';
import { memoryRateLimiter } from './rate-limit/memory.ts';
import { headerValues, type RequestHead } from './request-head.ts';

/** A limit on the refused requests of one client: for refused credentials, and once more for absent ones. */
export interface RefusalLimit {
  /** Counts the refusals of each client, under several keys. */
  readonly limiter: RateLimiter;
  /** Returns the key by which a client is counted, as `clientAddress` does. Undefined: the client is not limited. */
  readonly clientOf: (request: RequestHead) => string | undefined;
  /** Limits the verifications of new credentials while the refusals of a client are used up. Default: 250 in a second. */
  readonly verifications?: VerificationLimit;
}

/**
 * A limit on the verifications of new credentials from an address where a credential was accepted before. Known callers and
 * all others are counted apart. The cost is that of one process, so the counts are in its memory.
 */
export interface VerificationLimit {
  /**
   * Verifications in a second: a whole number, at least 1. One known caller has a tenth of those of known callers. Default
   * 250, about a twentieth of a processor with ES256.
   */
  readonly perSecond?: number;
  /** A monotonic clock in milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

/** The names of {@link VerificationLimit}. */
export const VERIFICATION_LIMIT: OptionNames<VerificationLimit> = { perSecond: true, now: true };

/** The names of {@link RefusalLimit}. */
export const REFUSAL_LIMIT: OptionNames<RefusalLimit> = { limiter: true, clientOf: true, verifications: true };

/** The budgets on which one request draws. */
export interface RequestBudgets extends Admission {
  /** Notes that the credential of the request is valid. */
  accepted(): void;
  /**
   * Counts a refusal. Returns the error to answer with: `rate_limited` when the budget is used up.
   *
   * @param isAbsent whether the request presented no credential
   */
  counted(error: AuthError, isAbsent: boolean): Promise<AuthError> | AuthError;
}

/**
 * Makes the budgets of the clients of a host. Each client has:
 *
 * - one for its refused credentials, which must not be used up when a costly verification begins;
 * - one for its requests without a credential, on which nothing else depends;
 * - one for each credential that was accepted from there, so that the refusals of others do not delay it.
 *
 * While the first is used up, and if any credential was accepted from there, credentials that may be valid draw on:
 *
 * - a tenth of `verifications` for each caller of which a credential was accepted from there, and one of `verifications` for
 *   all such callers;
 * - one of `verifications` for all others, and for a caller whose name is claimed too often.
 *
 * So a client causes at most the verifications of its first budget and two of `verifications`, besides those of accepted
 * credentials. A forged token with the names of a caller cannot be told from a new token of that caller: above the limit of
 * `verifications`, such tokens delay the new ones of this caller and of callers that are not known yet, and no others.
 *
 * A limiter that fails changes no outcome.
 */
export function refusalBudgets(options: RefusalLimit): (request: RequestHead) => RequestBudgets {
  const { limiter, clientOf, verifications } = options;
  const { perSecond = PER_SECOND, now } = verifications ?? {};
  const limitOf = (limit: number) => memoryRateLimiter({ limit, windowSeconds: 1, ...(now !== undefined && { now }) });
  const [ofAll, ofCaller] = [limitOf(perSecond), limitOf(Math.max(1, Math.floor(perSecond / 10)))];
  const clients = recentKeys(MAX_RECENT);
  const callers = recentKeys(MAX_RECENT);
  const credentials = recentKeys(MAX_RECENT);
  return (request) => {
    let admitted: string | undefined;
    let claimed: ClaimedCaller | undefined;
    let own: string | undefined;
    return {
      async require(claim) {
        const client = clientOf(request);
        if (client === undefined) return;
        admitted = client;
        claimed = claim;
        const standing = await decisionOf(() => limiter.peek(budgetOf(client)));
        if (standing?.allowed !== false) return;
        const spare = clients.has(client) ? await spareOf(client, standing) : standing;
        if (spare?.allowed === false) throw usedUp(spare.error);
      },
      accepted,
      counted(error, isAbsent) {
        if (error.status !== 401 || error.fault !== 'caller') return error;
        // The token is valid, and so is its proof except for the nonce. The caller must learn the nonce even when others use up
        // the budget.
        if (error.dpop?.error === 'use_dpop_nonce') accepted();
        return count(error, isAbsent);
      },
    };

    function accepted(): void {
      // A credential that is cheap to judge asks for no admission, and needs no budget.
      if (admitted === undefined) return;
      clients.add(admitted);
      if (!credentials.add(credentialKey(admitted))) return;
      const caller = callerKey(admitted);
      if (caller !== undefined) callers.add(caller);
    }

    async function count(error: AuthError, isAbsent: boolean): Promise<AuthError> {
      const decision = await decisionOf(() => {
        const client = clientOf(request);
        if (client === undefined) return undefined;
        return limiter.consume(isAbsent ? `absent ${client}` : budgetOf(client));
      });
      return decision?.allowed === false ? usedUp(decision.error) : error;
    }

    /** Decides on a credential that is not known, while the refusals of its client are used up. */
    async function spareOf(client: string, standing: RateDecision): Promise<RateDecision | undefined> {
      const caller = callerKey(client);
      if (claimed !== undefined && caller === undefined) return standing;
      if (caller !== undefined && callers.has(caller) && (await ofCaller.consume(caller)).allowed) {
        const known = await ofAll.consume(`known ${client}`);
        if (known.allowed) return known;
      }
      return await ofAll.consume(`new ${client}`);
    }

    function budgetOf(client: string): string {
      if (!clients.has(client)) return client;
      const key = credentialKey(client);
      return credentials.has(key) ? key : client;
    }

    /** Hashes the credential, which must not stay in memory. */
    function credentialKey(client: string): string {
      own ??= claimed?.credential?.() ?? headerValues(request, 'authorization')[0];
      return `${own === undefined ? 'connection' : sha256(own)} ${client}`;
    }

    function callerKey(client: string): string | undefined {
      const caller = claimed?.caller();
      return caller === undefined ? undefined : `${sha256(caller)} ${client}`;
    }
  };
}

/** The window is a second, so a caller that is refused can soon try again. */
const PER_SECOND = 250;

/** Tells the budget of refusals from the limit of a credential, in logs and metrics. */
function usedUp({ code, message, details }: AuthError): AuthError {
  return new AuthError(code, message, details, { reason: 'budget' });
}

/** Returns undefined when the limiter fails. */
async function decisionOf(
  decide: () => RateDecision | Promise<RateDecision> | undefined,
): Promise<RateDecision | undefined> {
  try {
    return await decide();
  } catch {
    return undefined;
  }
}

/**
 * The most addresses, callers and credentials each: about 20 MB of each when full. They are apart, so that a caller with many
 * tokens does not make the host forget other callers.
 */
const MAX_RECENT = 100_000;

interface RecentKeys {
  has(key: string): boolean;
  /** Returns false for a key that the young generation has. */
  add(key: string): boolean;
}

/** Remembers the latest keys, in two generations: when the young one is full, the old one is dropped. */
function recentKeys(max: number): RecentKeys {
  let young = new Set<string>();
  let old = new Set<string>();
  return {
    has: (key) => young.has(key) || old.has(key),
    add(key) {
      if (young.has(key)) return false;
      if (young.size >= max / 2) [old, young] = [young, new Set()];
      young.add(key);
      return true;
    },
  };
}
