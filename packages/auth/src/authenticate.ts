import { presentedCredential } from './credential.ts';
import { type DenyList, requireStanding } from './deny-list.ts';
import { AuthError } from './errors.ts';
import { type OptionNames, requireKnown } from './known-options.ts';
import type { Admission, AuthOutcome, Lane } from './lane.ts';
import { outage } from './outage.ts';
import { clientIn, type Decided, type OnOutcome, report } from './outcome-report.ts';
import { requireLimiter } from './rate-limit/require-limiter.ts';
import {
  REFUSAL_LIMIT,
  type RefusalLimit,
  type RequestBudgets,
  refusalBudgets,
  VERIFICATION_LIMIT,
} from './refusal-budgets.ts';
import { headerValues, type RequestHead } from './request-head.ts';
import { DELEGATION_HEADER } from './workload/delegation-header.ts';

/** Authenticates requests. Made by `authenticator`. */
export interface Authenticator {
  /**
   * Returns the principal of a request, or a refusal. It never rejects: an error while judging is a refusal.
   *
   * @param beforeUse called before a DPoP proof is used up, e.g. with the rate limit of the caller. The request is refused
   *   with the `AuthError` that it throws, and its proof stays unused. Default: not called.
   */
  authenticate(request: RequestHead, beforeUse?: Admission['beforeUse']): Promise<AuthOutcome>;
  /**
   * Returns an authenticator that asks some of the lanes, in the same order, for a route that takes these credentials
   * alone. Refusals are counted together with those of the whole.
   *
   * @param names the names of the lanes, e.g. `['api-key']`
   * @throws {TypeError} when the list is empty, or has a name that is not one of a lane
   */
  only(names: readonly string[]): Authenticator;
}

/** Options of `authenticator`. */
export interface AuthenticatorOptions {
  /** Lanes in the order in which they are asked. Their names are distinct. */
  readonly lanes: readonly Lane[];
  /** Limits the refused requests of each client address. Default: no limit. */
  readonly refusals?: RefusalLimit;
  /**
   * Knows credentials that were withdrawn before their end. It is asked about each caller that a lane accepts. Default:
   * none is withdrawn.
   */
  readonly denyList?: DenyList;
  /** URL of the RFC 9728 metadata, sent with every 401. For a host that accepts tokens. Default: not sent. */
  readonly resourceMetadata?: string;
  /**
   * Called once for each decision, after it is made, with facts of closed sets: never with a part of a credential. Its
   * errors are ignored. Default: not called.
   */
  readonly onOutcome?: OnOutcome;
}

const AUTHENTICATOR_OPTIONS: OptionNames<AuthenticatorOptions> = {
  lanes: true,
  refusals: true,
  denyList: true,
  resourceMetadata: true,
  onOutcome: true,
};

/**
 * Makes an authenticator. It asks the lanes in order; the first lane that recognises the credential decides, and its
 * refusal is final. A malformed `Authorization` header is refused before any lane is asked.
 *
 * With `refusals`, each refused credential counts against the address of its client. A client over the limit gets 429
 * instead of 401, and the host verifies no signature for it. Other callers at the same address are protected:
 *
 * - A request without a credential draws on a second budget of the same size, which delays no presented credential.
 * - A credential that was accepted from the address before has its own budget. Once any was accepted from there, a new
 *   one has a further budget: that of its caller, if the address is known to have this caller, or that of all others.
 * - An API key costs next to nothing to judge, so the limit never refuses a valid key.
 *
 * A caller of `denyList` is refused with `key_revoked`, also when a lane accepts it.
 *
 * When a lane or the deny list fails, e.g. because its store is down, the refusal is `service_unavailable` and is not counted.
 *
 * @throws {TypeError} when `lanes` is no list of lanes, is empty or has a name twice, or when `resourceMetadata` is not a URL
 * @example
 * const auth = authenticator({ lanes: [apiKeyLane({ keys })] });
 * const outcome = await auth.authenticate(request);
 * if (outcome.kind === 'refused') return respondWith(refusal(outcome.error));
 * @see Interface: Authentication
 */
export function authenticator(options: AuthenticatorOptions): Authenticator {
  requireKnown('authenticator', options, AUTHENTICATOR_OPTIONS);
  const { refusals, denyList, resourceMetadata, onOutcome } = options;
  if (refusals !== undefined) {
    requireKnown('authenticator: refusals', refusals, REFUSAL_LIMIT);
    requireLimiter('authenticator: refusals.limiter', refusals.limiter);
    if (typeof refusals.clientOf !== 'function')
      throw new TypeError('authenticator: refusals.clientOf must be a function. Pass one such as clientAddress().');
  }
  const perSecond = refusals?.verifications?.perSecond ?? 1;
  if (refusals?.verifications !== undefined)
    requireKnown('authenticator: refusals.verifications', refusals.verifications, VERIFICATION_LIMIT);
  if (!(Number.isSafeInteger(perSecond) && perSecond >= 1)) {
    throw new TypeError('authenticator: refusals.verifications.perSecond must be a whole number, at least 1.');
  }
  if (onOutcome !== undefined && typeof onOutcome !== 'function')
    throw new TypeError('authenticator: onOutcome must be a function. Omit it, or pass one that takes a report.');
  if (denyList !== undefined && typeof denyList?.isDenied !== 'function')
    throw new TypeError('authenticator: denyList must be a DenyList. Omit it, or pass one with isDenied.');
  if (!Array.isArray(options.lanes) || !options.lanes.every(isLane)) {
    throw new TypeError('authenticator: lanes must be a list of lanes. Pass one such as [apiKeyLane({ keys })].');
  }
  const lanes = [...options.lanes];
  if (lanes.length === 0) throw new TypeError('authenticator: lanes must not be empty. Pass at least one lane.');
  if (new Set(lanes.map(({ name }) => name)).size < lanes.length) {
    throw new TypeError('authenticator: lanes must have distinct names. Pass each lane once.');
  }
  if (resourceMetadata !== undefined && !METADATA_URL.test(resourceMetadata)) {
    throw new TypeError('authenticator: resourceMetadata must be a URL. Pass protectedResourceUrl(resource).');
  }
  const budgetsOf = refusals === undefined ? () => UNLIMITED : refusalBudgets(refusals);

  return asking(lanes);

  function asking(asked: readonly Lane[]): Authenticator {
    return {
      authenticate: (request, beforeUse) => authenticate(asked, request, beforeUse),
      only: (names) => asking(selected(asked, names)),
    };
  }

  async function authenticate(
    asked: readonly Lane[],
    request: RequestHead,
    beforeUse: Admission['beforeUse'],
  ): Promise<AuthOutcome> {
    const budgets = budgetsOf(request);
    const admission = beforeUse === undefined ? budgets : { require: budgets.require, beforeUse };
    const deciding: Deciding = onOutcome === undefined ? NOT_REPORTED : { lane: undefined };
    let answer: AuthOutcome | undefined;
    try {
      answer = await firstAnswer(asked, request, admission, deciding);
      if (denyList !== undefined && answer?.kind === 'authenticated') {
        const judged = requireStanding(denyList, answer.principal);
        if (judged !== undefined) await judged;
      }
    } catch (error) {
      answer = { kind: 'refused', error: AuthError.is(error) ? error : outage(UNJUDGED, error) };
    }
    if (answer?.kind === 'authenticated') {
      budgets.accepted();
      tell(request, deciding, answer);
      return answer;
    }
    const error = named(await budgets.counted(answer?.error ?? missing(), answer === undefined));
    const refused = answer?.error === error ? answer : ({ kind: 'refused', error } as const);
    tell(request, deciding, refused);
    return refused;
  }

  function tell(request: RequestHead, { lane }: Deciding, outcome: Decided['outcome']): void {
    if (onOutcome === undefined) return;
    report(onOutcome, { lane, client: clientIn(request, refusals?.clientOf), outcome });
  }

  function named(error: AuthError): AuthError {
    return resourceMetadata === undefined ? error : naming(resourceMetadata, error);
  }
}

function isLane(value: unknown): value is Lane {
  if (typeof value !== 'object' || value === null) return false;
  return 'name' in value && 'authenticate' in value && typeof value.authenticate === 'function';
}

/** Excludes the quotation mark and the backslash, which would end the quoted string of a challenge. */
const METADATA_URL = /^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]+$/;

function selected(lanes: readonly Lane[], names: readonly string[]): readonly Lane[] {
  if (!Array.isArray(names) || names.length === 0)
    throw new TypeError('authenticator: only must name at least one lane. Pass a list such as ["api-key"].');
  const unknown = names.find((name) => !lanes.some((lane) => lane.name === name));
  if (unknown === undefined) return lanes.filter(({ name }) => names.includes(name));
  const known = lanes.map(({ name }) => name).join(', ');
  throw new TypeError(`authenticator: only names ${unknown}, which is no lane of it. Its lanes are ${known}.`);
}

const UNLIMITED: RequestBudgets = { require: () => undefined, accepted: () => undefined, counted: (error) => error };

const UNJUDGED =
  'The credential could not be verified. Try again in a few seconds, and tell the operator if it persists.';

/** The name of the lane that decides on a request; undefined while none does. */
interface Deciding {
  lane: string | undefined;
}

/** Written and never read where no decision is reported, so that a request costs no object. */
const NOT_REPORTED: Deciding = { lane: undefined };

/** Returns undefined for a request without a credential. */
async function firstAnswer(
  lanes: readonly Lane[],
  request: RequestHead,
  admission: Admission,
  deciding: Deciding,
): Promise<AuthOutcome | undefined> {
  const presented = presentedCredential(request);
  if (presented.kind === 'malformed') return { kind: 'refused', error: presented.error };
  const credential = presented.kind === 'one' ? presented.credential : undefined;
  for (const lane of lanes) {
    deciding.lane = lane.name;
    const answer = lane.authenticate(request, credential, admission);
    const outcome = isPromiseLike(answer) ? await answer : answer;
    if (outcome !== undefined) return withoutAssertion(trusted(outcome, lane), request);
  }
  deciding.lane = undefined;
  return credential === undefined ? undefined : { kind: 'refused', error: unknownCredential() };
}

/**
 * Checks the outcome of a lane. A lane may be foreign code: an outcome of another shape must not authenticate anyone.
 */
function trusted(outcome: AuthOutcome, lane: Lane): AuthOutcome {
  if (outcome.kind === 'authenticated' && typeof outcome.principal === 'object' && outcome.principal !== null) {
    return outcome;
  }
  if (outcome.kind === 'refused' && AuthError.is(outcome.error)) return outcome;
  throw new TypeError(`lane ${lane.name}: authenticate must return an authenticated or refused outcome.`);
}

/** Refuses a delegation header that the lane did not verify. A request alone must not say for whom it acts. */
function withoutAssertion(outcome: AuthOutcome, request: RequestHead): AuthOutcome {
  if (outcome.kind === 'refused' || outcome.principal.workload?.onBehalfOf !== undefined) return outcome;
  if (headerValues(request, DELEGATION_HEADER).length === 0) return outcome;
  const message =
    'This host accepts SVC-Delegation with a workload identity only. Send such an identity or omit the header.';
  return { kind: 'refused', error: new AuthError('identity_unverified', message, undefined) };
}

function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

function missing(): AuthError {
  const message = 'This operation needs a credential. Send it as "Authorization: Bearer <credential>".';
  return new AuthError('unauthenticated', message, undefined, { rejected: false, reason: 'absent' });
}

function unknownCredential(): AuthError {
  const message = 'This host does not accept this kind of credential. Send "Authorization: Bearer <credential>".';
  return new AuthError('unauthenticated', message, undefined, { rejected: false });
}

function naming(resourceMetadata: string, error: AuthError): AuthError {
  if (error.status !== 401) return error;
  const { code, message, details, rejected, scopes, dpop, stepUp, cause, fault, reason } = error;
  return new AuthError(code, message, details, {
    cause,
    rejected,
    scopes,
    fault,
    reason,
    ...(dpop !== undefined && { dpop }),
    stepUp,
    resourceMetadata,
  });
}
