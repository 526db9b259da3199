import { HostError } from '../errors.ts';

/** A fault of the framing of a request, found by the adapter that received it. */
export interface RequestFault {
  readonly status: 400 | 408 | 413 | 417 | 431 | 501;
  /** For the caller. */
  readonly message: string;
}

/** The refusal of a request with a fault of its framing. Its connection is closed. */
export function faultError({ status, message }: RequestFault): HostError<'validation_error'> {
  const details = { fields: [{ field: 'request', problem: message }] };
  return new HostError('validation_error', message, { status, details, headers: { connection: 'close' } });
}
