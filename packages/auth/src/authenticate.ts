import { presentedCredential } from './credential.ts';
import { AuthError } from './errors.ts';
import { type OptionNames, requireKnown } from './known-options.ts';
import type { Admission, AuthOutcome, Lane } from './lane.ts';
import type { RateLimiter } from './rate-limit/limiter.ts';
import { headerValues, type RequestHead } from './request-head.ts';
import { DELEGATION_HEADER } from './workload/delegation-header.ts';

/** Authenticates requests. Made by `authenticator`. */
export interface Authenticator {
  /** Returns the principal of a request, or a refusal. It never rejects: an error while judging is a refusal. */
  authenticate(request: RequestHead): Promise<AuthOutcome>;
}

/** Options of `authenticator`. */
export interface AuthenticatorOptions {
  /** Lanes in the order in which they are asked. Their names are distinct. */
  readonly lanes: readonly Lane[];
  /** Limits the refused requests of each client address. Default: no limit. */
  readonly refusals?: RefusalLimit;
  /** URL of the RFC 9728 metadata, sent with every 401. For a host that accepts tokens. Default: not sent. */
  readonly resourceMetadata?: string;
}

const AUTHENTICATOR_OPTIONS: OptionNames<AuthenticatorOptions> = {
  lanes: true,
  refusals: true,
  resourceMetadata: true,
};

/** A limit on the refused requests of one client. */
export interface RefusalLimit {
  /** Counts the refusals of each client. */
  readonly limiter: RateLimiter;
  /** Returns the key by which a client is counted, as `clientAddress` does. Undefined: the client is not limited. */
  readonly clientOf: (request: RequestHead) => string | undefined;
}

const REFUSAL_LIMIT: OptionNames<RefusalLimit> = { limiter: true, clientOf: true };

/**
 * Makes an authenticator. It asks the lanes in order; the first lane that recognises the credential decides, and its
 * refusal is final. A malformed `Authorization` header is refused before any lane is asked.
 *
 * With `refusals`, each refused request counts against the address of its client. A client over the limit gets 429
 * instead of 401, and the host verifies no signature for it. An API key costs next to nothing to judge, so the limit
 * never refuses a valid key: other clients at the same address cannot lock it out.
 *
 * @throws {TypeError} when `lanes` is empty or has a name twice, or when `resourceMetadata` is not a URL
 * @example
 * const auth = authenticator({ lanes: [apiKeyLane({ keys, now: Date.now })] });
 * const outcome = await auth.authenticate(request);
 * if (outcome.kind === 'refused') return respondWith(refusal(outcome.error));
 * @see Interface: Authentication
 */
export function authenticator(options: AuthenticatorOptions): Authenticator {
  requireKnown('authenticator', options, AUTHENTICATOR_OPTIONS);
  const { refusals, resourceMetadata } = options;
  if (refusals !== undefined) requireKnown('authenticator: refusals', refusals, REFUSAL_LIMIT);
  const lanes = [...options.lanes];
  if (lanes.length === 0) throw new TypeError('authenticator: lanes must not be empty. Pass at least one lane.');
  if (new Set(lanes.map(({ name }) => name)).size < lanes.length) {
    throw new TypeError('authenticator: lanes must have distinct names. Pass each lane once.');
  }
  if (resourceMetadata !== undefined && !METADATA_URL.test(resourceMetadata)) {
    throw new TypeError('authenticator: resourceMetadata must be a URL. Pass protectedResourceUrl(resource).');
  }

  return {
    async authenticate(request) {
      let outcome: AuthOutcome;
      try {
        outcome = await firstAnswer(lanes, request, admissionOf(request));
      } catch (error) {
        outcome = { kind: 'refused', error: AuthError.is(error) ? error : unjudged(error) };
      }
      if (outcome.kind === 'authenticated') return outcome;
      const error = named(await counted(outcome.error, request));
      return error === outcome.error ? outcome : { kind: 'refused', error };
    },
  };

  function admissionOf(request: RequestHead): Admission {
    if (refusals === undefined) return FREE;
    return {
      require() {
        const client = refusals.clientOf(request);
        if (client === undefined) return undefined;
        const standing = refusals.limiter.peek(client);
        return isPromiseLike(standing) ? standing.then(requireAllowed) : requireAllowed(standing);
      },
    };
  }

  /** Counts a refusal. A limiter that fails leaves the refusal unchanged: the caller is refused either way. */
  async function counted(error: AuthError, request: RequestHead): Promise<AuthError> {
    if (refusals === undefined || error.status !== 401) return error;
    try {
      const client = refusals.clientOf(request);
      const decision = client === undefined ? undefined : await refusals.limiter.consume(client);
      return decision?.allowed === false ? decision.error : error;
    } catch {
      return error;
    }
  }

  function named(error: AuthError): AuthError {
    return resourceMetadata === undefined ? error : naming(resourceMetadata, error);
  }
}

/** Excludes the quotation mark and the backslash, which would end the quoted string of a challenge. */
const METADATA_URL = /^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]+$/;

const FREE: Admission = { require: () => undefined };

function requireAllowed(standing: Awaited<ReturnType<RateLimiter['peek']>>): void {
  if (!standing.allowed) throw standing.error;
}

async function firstAnswer(lanes: readonly Lane[], request: RequestHead, admission: Admission): Promise<AuthOutcome> {
  const presented = presentedCredential(request);
  if (presented.kind === 'malformed') return { kind: 'refused', error: presented.error };
  const credential = presented.kind === 'one' ? presented.credential : undefined;
  for (const lane of lanes) {
    const answer = lane.authenticate(request, credential, admission);
    const outcome = isPromiseLike(answer) ? await answer : answer;
    if (outcome !== undefined) return withoutAssertion(trusted(outcome, lane), request);
  }
  return { kind: 'refused', error: credential === undefined ? missing() : unknownCredential() };
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
  return new AuthError('unauthenticated', message, undefined, { rejected: false });
}

function unknownCredential(): AuthError {
  const message = 'This host does not accept this kind of credential. Send "Authorization: Bearer <credential>".';
  return new AuthError('unauthenticated', message, undefined, { rejected: false });
}

/** The credential may be valid, so `rejected` is false: the challenge must not make the caller discard it. */
function unjudged(cause: unknown): AuthError {
  const message = 'The credential could not be verified. Try again, and tell the operator of the host if it persists.';
  return new AuthError('unauthenticated', message, undefined, { rejected: false, cause });
}

function naming(resourceMetadata: string, error: AuthError): AuthError {
  if (error.status !== 401) return error;
  const { code, message, details, rejected, scopes, dpop, cause } = error;
  return new AuthError(code, message, details, {
    cause,
    rejected,
    scopes,
    ...(dpop !== undefined && { dpop }),
    resourceMetadata,
  });
}
