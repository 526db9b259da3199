import { AuthError, challenge } from '@svc/auth';
import { type Major, VersioningError } from '@svc/versioning';
import { errorEnvelope } from '@svc/versioning/projection';
import { HostError } from '../errors.ts';
import { describeError, type Log } from '../log.ts';
import type { Random } from '../random.ts';
import type { Answer } from './answer.ts';

export interface FailureOptions {
  readonly log: Log;
  readonly random: Random;
}

/** Any error as an answer in the envelope of a major; one that no one foresaw is logged, and told by a correlation id alone. */
export function failureAnswer(error: unknown, major: Major, options: FailureOptions): Answer {
  const { code, message, status, details, headers } = describe(error, options);
  const body = JSON.stringify(errorEnvelope[major]({ code, message, details }));
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

interface Described {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

function describe(error: unknown, { log, random }: FailureOptions): Described {
  if (AuthError.is(error)) return { ...fieldsOf(error), headers: challenge(error) };
  if (VersioningError.is(error)) return { ...fieldsOf(error), headers: {} };
  if (HostError.is(error)) return { ...fieldsOf(error), headers: error.headers };
  const correlationId = Buffer.from(random(12)).toString('hex');
  log({ level: 'error', event: 'request.failed', correlationId, ...describeError(error) });
  const message = 'The host failed to answer. Quote the correlation id when you report it.';
  return describe(new HostError('internal_error', message, { details: { correlationId } }), { log, random });
}

function fieldsOf(error: AuthError | VersioningError | HostError): Omit<Described, 'headers'> {
  const { code, message, status, details } = error;
  return { code, message, status, details: details === undefined ? undefined : { ...details } };
}
