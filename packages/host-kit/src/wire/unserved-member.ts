import type { Major } from '@svc/versioning';
import { HostError } from '../errors.ts';

/**
 * Returns the refusal of a creation with a member of the protocol that the kit does not serve, or undefined. A client
 * that sends `callbackUrl` would wait for a callback that never comes.
 */
export function unservedMember(body: unknown, major: Major): HostError | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  if ('callbackUrl' in body) {
    return refused('callbackUrl', 'is not supported. Register a webhook for interrupt.requested instead');
  }
  return 'mode' in body && body.mode === 'eval' ? EVALUATION[major]() : undefined;
}

const EVALUATION: Readonly<Record<Major, () => HostError>> = {
  1: () =>
    new HostError('capability_not_provided', 'mode: this host makes no evaluations. Leave mode out.', {
      details: { operation: 'createRun' },
    }),
  2: () => refused('mode', 'must be left out: this host makes no evaluations'),
};

function refused(field: string, problem: string): HostError<'validation_error'> {
  return new HostError('validation_error', `${field}: ${problem}`, {
    details: { field, fields: [{ field, problem }] },
  });
}
