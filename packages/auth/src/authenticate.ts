import { AuthError } from './errors.ts';
import type { AuthOutcome, Lane } from './lane.ts';
import type { RequestHead } from './request-head.ts';

export interface Authenticator {
  authenticate(request: RequestHead): Promise<AuthOutcome>;
}

/**
 * Asks the lanes in their order; the first that takes the credential decides. A lane that throws refuses.
 *
 * @throws {TypeError} without a lane
 * @see Interface: Authentication
 */
export function authenticator({ lanes }: { readonly lanes: readonly Lane[] }): Authenticator {
  if (lanes.length === 0) throw new TypeError('authenticator needs at least one lane.');
  return {
    async authenticate(request) {
      try {
        for (const lane of lanes) {
          const outcome = await lane.authenticate(request);
          if (outcome !== undefined) return outcome;
        }
      } catch (error) {
        return { kind: 'refused', error: AuthError.is(error) ? error : unjudged(error) };
      }
      const message = 'This operation needs a credential. Send it as "Authorization: Bearer <credential>".';
      return { kind: 'refused', error: new AuthError('unauthenticated', message, undefined, { presented: false }) };
    },
  };
}

function unjudged(cause: unknown): AuthError {
  return new AuthError('unauthenticated', 'The credential could not be verified.', undefined, { cause });
}
