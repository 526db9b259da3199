import type { Decision } from './authorize.ts';
import { clockOf } from './clock-of.ts';
import { AuthError } from './errors.ts';
import { type OptionNames, requireKnown } from './known-options.ts';
import type { Principal } from './principal.ts';

/** Options of `stepUp`. At least one of the three requirements is set. */
export interface StepUpOptions {
  /** Accepted authentication context class references (`acr`), the preferred one first. Default: any. */
  readonly acrValues?: readonly string[];
  /** Methods of authentication (`amr`) that are all needed. The challenge cannot name them. Default: none. */
  readonly methods?: readonly string[];
  /** The oldest sign-in (`auth_time`) that is accepted, in whole seconds. Default: any age. */
  readonly maxAgeSeconds?: number;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** A rule on the sign-in of a caller. Pass it to a guard as `stepUp`. */
export interface StepUp {
  /** Returns whether the sign-in of the caller suffices, or the 401 whose challenge tells a client how to sign in. */
  judge(principal: Pick<Principal, 'signIn' | 'binding'>): StepUpDecision;
}

/** The decision of a {@link StepUp}: allowed, or the error to answer with. */
export type StepUpDecision =
  | Extract<Decision, { readonly allowed: true }>
  | {
      /** False when the caller has to sign in again. */
      readonly allowed: false;
      /** The refusal, 401 with the error `insufficient_user_authentication`. */
      readonly error: AuthError<'unauthenticated'>;
    };

/**
 * Makes a rule on the sign-in behind a token, for operations that need a stronger or a recent one. A caller whose credential
 * tells of no sign-in, such as an API key, is refused.
 *
 * @throws {TypeError} when no requirement is set, or one is invalid
 * @example
 * const recent = stepUp({ acrValues: ['phr'], maxAgeSeconds: 300 });
 * const mayManageKeys = guard({ authenticator: auth, scope: 'keys:manage', stepUp: recent });
 * @see RFC 9470
 */
export function stepUp(options: StepUpOptions): StepUp {
  requireKnown('stepUp', options, OPTIONS);
  const { acrValues, methods = [], maxAgeSeconds } = options;
  const now = clockOf('stepUp', options.now);
  requireValid(options);
  const parameters = parametersOf(options);
  return {
    judge({ signIn = {}, binding }) {
      const { acr, amr = [], at } = signIn;
      const isStrong = acrValues === undefined || (acr !== undefined && acrValues.includes(acr));
      const hasMethods = methods.every((method) => amr.includes(method));
      if (isStrong && hasMethods && isRecent(at)) return ALLOWED;
      const scheme = binding === 'dpop' ? 'DPoP' : 'Bearer';
      return { allowed: false, error: insufficient({ scheme, parameters }) };
    },
  };

  function isRecent(at: number | undefined): boolean {
    if (maxAgeSeconds === undefined) return true;
    const age = at === undefined ? Number.NaN : now() - at;
    // A sign-in of the future is none; a difference of the clocks is not held against the caller.
    return age >= -SKEW_MS && age <= maxAgeSeconds * 1000;
  }
}

const OPTIONS: OptionNames<StepUpOptions> = { acrValues: true, methods: true, maxAgeSeconds: true, now: true };
const ALLOWED = { allowed: true } as const;
const SKEW_MS = 60_000;

function insufficient(challenge: NonNullable<AuthError['stepUp']>): AuthError<'unauthenticated'> {
  const message = 'This operation needs a stronger or a more recent sign-in. Sign in again as the challenge says.';
  return new AuthError('unauthenticated', message, undefined, { stepUp: challenge, reason: 'sign-in' });
}

/** `requireValid` has checked that the values fit into quoted strings. */
function parametersOf({ acrValues, maxAgeSeconds }: StepUpOptions): readonly string[] {
  return [
    'error="insufficient_user_authentication"',
    'error_description="Sign in again in the way that this operation needs."',
    ...(acrValues === undefined ? [] : [`acr_values="${acrValues.join(' ')}"`]),
    ...(maxAgeSeconds === undefined ? [] : [`max_age="${maxAgeSeconds}"`]),
  ];
}

function requireValid({ acrValues, methods, maxAgeSeconds }: StepUpOptions): void {
  if (acrValues === undefined && methods === undefined && maxAgeSeconds === undefined)
    throw new TypeError('stepUp: a requirement is missing. Set acrValues, methods or maxAgeSeconds.');
  for (const [name, values] of Object.entries({ acrValues, methods })) {
    // The values stand in a header, separated by spaces.
    if (values !== undefined && (values.length === 0 || !values.every((value) => VALUE.test(value))))
      throw new TypeError(`stepUp: ${name} must be a list of names without spaces, quotation marks and backslashes.`);
  }
  if (maxAgeSeconds !== undefined && !(Number.isSafeInteger(maxAgeSeconds) && maxAgeSeconds >= 0))
    throw new TypeError('stepUp: maxAgeSeconds must be a whole number, at least 0.');
}

const VALUE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
