import type { Authenticator } from './authenticate.ts';
import { authorize, type ScopeRules } from './authorize.ts';
import type { AuthError } from './errors.ts';
import { failureLog } from './failure-log.ts';
import { guardLimits } from './guard-limits.ts';
import { type OptionNames, requireKnown } from './known-options.ts';
import { clientIn, type OnOutcome, report } from './outcome-report.ts';
import type { Principal } from './principal.ts';
import type { QuotaCounter } from './quota-counter.ts';
import type { RateLimiter } from './rate-limit/limiter.ts';
import { requireLimiter } from './rate-limit/require-limiter.ts';
import { type Refusal, refusal } from './refusal.ts';
import { headerValues, type RequestHead } from './request-head.ts';
import type { StepUp } from './step-up.ts';
import { DELEGATION_HEADER } from './workload/delegation-header.ts';

/** Options of `guard` and of every adapter. */
export interface GuardOptions extends ScopeRules {
  /** Authenticates the caller. */
  readonly authenticator: Authenticator;
  /**
   * The names of the lanes that are asked on this route, e.g. `['api-key']`. A credential of another lane is refused as
   * unknown. Default: every lane of the authenticator.
   */
  readonly lanes?: readonly string[];
  /**
   * Counts requests by credential. The limit of a credential itself (`principal.rateLimit`) is always counted, in the
   * memory of the process, for all guards of one authenticator together. Default: no further limit.
   */
  readonly limiter?: RateLimiter;
  /**
   * Counts the quotas of credentials (`principal.quota`), over all hosts. Pass a `quotaLedger` of `@svc/auth/api-key`.
   * Default: a credential with a quota is refused with `service_unavailable`.
   */
  readonly quotas?: QuotaCounter;
  /**
   * The scope that the operation needs, or several that are all needed. Default: every authenticated caller is
   * admitted.
   */
  readonly scope?: string | readonly string[];
  /** A rule on the sign-in of the caller, as `stepUp` makes it. Judged after the scope. Default: none. */
  readonly stepUp?: StepUp;
  /** `true` admits a request without a credential, see {@link OptionalGuardOptions}. Default `false`. */
  readonly optional?: false | undefined;
  /** Writes a refusal in the host's own envelope. Default `refusal`. */
  readonly refuse?: (error: AuthError) => Refusal;
  /**
   * Called with each refusal before it is answered, and awaited. `error.cause` is for the log. An error that it throws
   * goes to the error handler of the framework instead of the answer: `onError: (error) => { throw error; }` gives every
   * refusal to that handler. Default: a failure of the host, such as a store of keys that throws, is written to standard
   * error as a line of JSON, the same one at most once in 10 s; `() => {}` writes nothing.
   */
  readonly onError?: (error: AuthError, request: RequestHead) => void | Promise<void>;
  /**
   * Called with each authenticated caller that the guard refuses: over the limit, or without the scope. Pass the function
   * that `authenticator` has, which reports all other decisions. Its errors are ignored. Default: not called.
   */
  readonly onOutcome?: OnOutcome;
}

/**
 * Options of a guard that also admits requests without a credential: their caller is `undefined`, and no scope is asked
 * of them. A credential that is sent is judged as ever, and an invalid one is refused.
 *
 * With `refusals` of the authenticator, such requests draw on the budget of their client for requests without a
 * credential, and are refused above it.
 */
export interface OptionalGuardOptions extends Omit<GuardOptions, 'optional'> {
  /** Admits a request without a credential. */
  readonly optional: true;
}

/** The names of {@link GuardOptions}. */
export const GUARD_OPTIONS: OptionNames<GuardOptions> = {
  authenticator: true,
  lanes: true,
  limiter: true,
  quotas: true,
  scope: true,
  stepUp: true,
  optional: true,
  refuse: true,
  implied: true,
  onError: true,
  onOutcome: true,
};

/** The verdict of a guard on one request. With `optional`, the caller may be undefined. */
export type Admittance<Caller = Principal> =
  | {
      /** True when the caller is admitted. */
      readonly admitted: true;
      /** The caller. */
      readonly principal: Caller;
      /** To be set on the response. */
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      /** False when the caller is refused. */
      readonly admitted: false;
      /** The response to send. */
      readonly refusal: Refusal;
      /** The reason of the refusal. */
      readonly error: AuthError;
    };

/** Judges the requests of a route. */
export type Guard<Caller = Principal> = (request: RequestHead) => Promise<Admittance<Caller>>;

/**
 * Makes a guard. It authenticates a request, counts it, and checks the scope and the sign-in, in that order. The handler still has to
 * look up the resource within `principal.tenancy`.
 *
 * @throws {TypeError} when an option is unknown, `authenticator` is missing, or `lanes` names none of it; on a request, when `scope` is
 * an empty list
 * @example
 * const admitted = guard({ authenticator: auth, limiter, scope: 'runs:read' });
 * const verdict = await admitted(request);
 * @see Interface: Authorization rules, item 6
 */
export function guard(options: GuardOptions): Guard<Principal>;
export function guard(options: OptionalGuardOptions): Guard<Principal | undefined>;
export function guard(options: GuardOptions | OptionalGuardOptions): Guard<Principal | undefined> {
  requireGuardOptions('guard', options, GUARD_OPTIONS);
  return admittance(options);
}

/**
 * Rejects options of a guard that have an unknown name or lack an authenticator. Otherwise a guard without one would fail
 * at its first request.
 *
 * @param owner the function that takes the options
 * @throws {TypeError} when the options are not an object, have an unknown name, or have no authenticator
 */
export function requireGuardOptions(
  owner: string,
  options: Partial<Pick<GuardOptions, 'authenticator'>>,
  names: Readonly<Record<string, true>>,
): void {
  requireKnown(owner, options, names);
  const { authenticator } = options;
  if (typeof authenticator?.authenticate === 'function' && typeof authenticator.only === 'function') return;
  const fault = authenticator === undefined ? 'is required' : 'must be an Authenticator';
  throw new TypeError(`${owner}: authenticator ${fault}. Pass the result of authenticator({ lanes }).`);
}

/** Makes a guard whose options are checked already, as an adapter may have more options than this. */
export function admittance(options: GuardOptions): Guard<Principal>;
export function admittance(options: OptionalGuardOptions): Guard<Principal | undefined>;
export function admittance(options: GuardOptions | OptionalGuardOptions): Guard<Principal | undefined>;
export function admittance(options: GuardOptions | OptionalGuardOptions): Guard<Principal | undefined> {
  const { lanes, scope, stepUp, optional, refuse = refusal, onError = logFailure, onOutcome } = options;
  if (optional !== undefined && typeof optional !== 'boolean')
    throw new TypeError('guard: optional must be true or false. Omit it to require a credential.');
  if (options.limiter !== undefined) requireLimiter('guard: limiter', options.limiter);
  const authenticator = lanes === undefined ? options.authenticator : options.authenticator.only(lanes);
  const limits = guardLimits(options.authenticator, options.limiter, options.quotas);
  return async (request) => {
    let known: Readonly<Record<string, string>> | undefined;
    // A caller above its limit must not use up its proofs: they fill the replay store.
    const outcome = await authenticator.authenticate(request, async ({ principal, headers }) => {
      const { error, headers: limited } = await limits.peek(principal);
      if (error === undefined) return;
      known = { ...headers, ...limited };
      throw error;
    });
    if (outcome.kind === 'refused') {
      if (optional === true && outcome.error.reason === 'absent' && claimsNothing(request)) return WITHOUT_CALLER;
      return refusedWith(request, outcome.error, known);
    }
    const { principal } = outcome;
    const rate = await limits.consume(principal);
    const headers = { ...outcome.headers, ...rate.headers };
    if (rate.error !== undefined) return denied(request, principal, rate.error, headers);
    const decision = scope === undefined ? ANYONE : authorize(principal, scope, options);
    if (!decision.allowed) return denied(request, principal, decision.error, headers);
    const signIn = stepUp === undefined ? ANYONE : stepUp.judge(principal);
    if (!signIn.allowed) return denied(request, principal, signIn.error, headers);
    return { admitted: true, principal, headers };
  };

  function denied(
    request: RequestHead,
    { lane }: Principal,
    error: AuthError,
    headers: Readonly<Record<string, string>>,
  ): Promise<Admittance<Principal>> {
    if (onOutcome !== undefined) report(onOutcome, { lane, client: clientIn(request, undefined), outcome: { error } });
    return refusedWith(request, error, headers);
  }

  /** Sends the headers of the error and of the outcome even when the host writes the refusal in its own envelope. */
  async function refusedWith(
    request: RequestHead,
    error: AuthError,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Admittance<Principal>> {
    await onError(error, request);
    const written = refuse(error);
    const own = Object.entries(written.headers).map(([name, value]) => [name.toLowerCase(), value]);
    return {
      admitted: false,
      error,
      refusal: { ...written, headers: { ...error.headers, ...Object.fromEntries(own), ...headers } },
    };
  }
}

/** The log of all guards of the process, so that many routes tell of one failure once. */
let log: ((error: AuthError) => void) | undefined;

function logFailure(error: AuthError): void {
  log ??= failureLog();
  log(error);
}

const ANYONE = { allowed: true } as const;

/** The verdict on a request without a credential, where a credential is optional. */
const WITHOUT_CALLER: Admittance<undefined> = { admitted: true, principal: undefined, headers: {} };

/** A proof without its credential is an incomplete credential: its sender must not be taken for an anonymous one. */
function claimsNothing(request: RequestHead): boolean {
  return ['dpop', DELEGATION_HEADER].every((name) => headerValues(request, name).length === 0);
}
