import { AuthError, challenge } from '@svc/auth';
import { VersioningError } from '@svc/versioning';
import { HostError } from '../errors.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError } from '../ports/log.ts';

export interface FailureOptions extends Pick<HostPorts, 'random' | 'log'> {}

/** The part of an error that is sent to the caller. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** The refusal of an error of any kind. An unexpected error is logged, and its caller gets a correlation id alone. */
export function refusalOf(error: unknown, { log, random }: FailureOptions): Refusal {
  if (AuthError.is(error)) return { ...fieldsOf(error), headers: challenge(error) };
  if (VersioningError.is(error)) return { ...fieldsOf(error), headers: {} };
  if (HostError.is(error)) return { ...fieldsOf(error), headers: error.headers };
  const correlationId = Buffer.from(random(12)).toString('hex');
  log({ level: 'error', event: 'request.failed', correlationId, ...describeError(error) });
  const message = 'The host failed to answer. Report the correlation id to its operator.';
  return refusalOf(new HostError('internal_error', message, { details: { correlationId } }), { log, random });
}

function fieldsOf(error: AuthError | VersioningError | HostError): Omit<Refusal, 'headers'> {
  const { code, message, status, details } = error;
  return { code, message, status, details: details === undefined ? undefined : { ...details } };
}
