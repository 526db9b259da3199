import { AuthError, challenge } from '@svc/auth';
import { VersioningError } from '@svc/versioning';
import { HostError, storeUnavailable } from '../errors.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import { describeError, type LogRecord } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';

export interface FailureOptions extends Pick<HostPorts, 'random' | 'log'> {
  /** See `Store`. */
  readonly isUnavailable?: Store['isUnavailable'];
}

/** The part of an error that is sent to the caller. */
export interface RefusedRequest {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The refusal of an error of any kind. An unexpected error is logged, and its caller gets a correlation id alone. An error
 * of a storage that fails is logged, too, and its caller is asked to try again. A credential that the host could not judge
 * is logged with its cause, and so is a refusal that has one.
 */
export function refusalOf(error: unknown, { log, random, isUnavailable }: FailureOptions): RefusedRequest {
  if (AuthError.is(error)) {
    // The caller did nothing wrong, and only the operator can help.
    if (error.fault === 'host') log(unjudged(error));
    return { ...fieldsOf(error), headers: challenge(error) };
  }
  if (VersioningError.is(error)) return { ...fieldsOf(error), headers: {} };
  if (HostError.is(error)) {
    if (error.cause instanceof Error) log(mendable(error.code, error.cause));
    return { ...fieldsOf(error), headers: error.headers };
  }
  if (isUnavailable?.(error)) {
    log({ level: 'error', event: 'store.unavailable', ...describeError(error) });
    return refusalOf(storeUnavailable(), { log, random });
  }
  const correlationId = Buffer.from(random(12)).toString('hex');
  log({ level: 'error', event: 'request.failed', correlationId, ...describeError(error) });
  const message = 'The host failed to answer. Report the correlation id to its operator.';
  return refusalOf(new HostError('internal_error', message, { details: { correlationId } }), { log, random });
}

function unjudged({ code, cause }: AuthError): LogRecord {
  return { level: 'error', event: 'authentication.failed', code, ...describeError(cause) };
}

/** A refusal that only the operator can mend. Its place in the program says nothing more. */
function mendable(code: string, { message }: Error): LogRecord {
  return { level: 'warn', event: 'request.refused', code, message };
}

function fieldsOf(error: AuthError | VersioningError | HostError): Omit<RefusedRequest, 'headers'> {
  const { code, message, status, details } = error;
  return { code, message, status, details: details === undefined ? undefined : { ...details } };
}
