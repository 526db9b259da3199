import { presentedCredential } from './credential.ts';
import { AuthError } from './errors.ts';
import type { AuthOutcome, Lane } from './lane.ts';
import type { RequestHead } from './request-head.ts';

export interface Authenticator {
  /** Never rejects: what cannot be judged is refused. */
  authenticate(request: RequestHead): Promise<AuthOutcome>;
}

/**
 * Asks the lanes in the order given; the first that knows the credential decides, and its refusal is final. A malformed
 * `Authorization` header is refused before any lane is asked.
 *
 * @throws {TypeError} without lanes, or with two of one name
 * @example
 * const auth = authenticator({ lanes: [apiKeyLane({ keys, now: Date.now })] });
 * const outcome = await auth.authenticate(request);
 * if (outcome.kind === 'refused') return respondWith(refusal(outcome.error));
 * @see Interface: Authentication
 */
export function authenticator(options: { readonly lanes: readonly Lane[] }): Authenticator {
  const lanes = [...options.lanes];
  if (lanes.length === 0) throw new TypeError('authenticator: give at least one lane; without one nobody can call.');
  if (new Set(lanes.map(({ name }) => name)).size < lanes.length) {
    throw new TypeError('authenticator: two lanes have the same name.');
  }
  return {
    async authenticate(request) {
      try {
        return await firstAnswer(lanes, request);
      } catch (error) {
        return { kind: 'refused', error: AuthError.is(error) ? error : unjudged(error) };
      }
    },
  };
}

async function firstAnswer(lanes: readonly Lane[], request: RequestHead): Promise<AuthOutcome> {
  const presented = presentedCredential(request);
  if (presented.kind === 'malformed') return { kind: 'refused', error: presented.error };
  const credential = presented.kind === 'one' ? presented.credential : undefined;
  for (const lane of lanes) {
    const answer = lane.authenticate(request, credential);
    const outcome = isPromiseLike(answer) ? await answer : answer;
    if (outcome !== undefined) return trusted(outcome, lane);
  }
  return { kind: 'refused', error: credential === undefined ? missing() : unknownScheme() };
}

/** A lane may be anyone's code: an answer of another shape must not be taken for a pass. */
function trusted(outcome: AuthOutcome, lane: Lane): AuthOutcome {
  if (outcome.kind === 'authenticated' && typeof outcome.principal === 'object' && outcome.principal !== null) {
    return outcome;
  }
  if (outcome.kind === 'refused' && AuthError.is(outcome.error)) return outcome;
  throw new TypeError(`The lane ${lane.name} answered neither a principal nor a refusal.`);
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

function missing(): AuthError {
  const message = 'This operation needs a credential. Send it as "Authorization: Bearer <credential>".';
  return new AuthError('unauthenticated', message, undefined, { rejected: false });
}

function unknownScheme(): AuthError {
  const message = 'This host does not take credentials of that scheme. Send "Authorization: Bearer <credential>".';
  return new AuthError('unauthenticated', message, undefined, { rejected: false });
}

/** The credential may well be good, so the challenge must not call it invalid and make the caller throw it away. */
function unjudged(cause: unknown): AuthError {
  const message = 'The credential could not be verified. Try again, and tell the operator of the host if it persists.';
  return new AuthError('unauthenticated', message, undefined, { rejected: false, cause });
}
