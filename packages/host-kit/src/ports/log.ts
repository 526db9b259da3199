import type { Json } from '../json.ts';

/** One log entry for the operator. It contains no credential, secret, body or header. */
export interface LogRecord {
  readonly level: 'info' | 'warn' | 'error';
  /** A dotted name such as `request` or `delivery.attempted`. */
  readonly event: string;
  /** Further fields. They depend on `event`. */
  readonly [field: string]: Json | undefined;
}

/**
 * Writes a log entry. The host calls it synchronously, often within a request, so it must neither block nor throw.
 *
 * @example
 * const log: Log = (record) => console.log(JSON.stringify(record));
 */
export type Log = (record: LogRecord) => void;

/**
 * Describes an unexpected error for the operator's log: message and stack of an `Error`. Of any other value only its
 * type is named, because the value might be a secret.
 */
export function describeError(error: unknown): { readonly error: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  return error.stack === undefined ? { error: error.message } : { error: error.message, stack: error.stack };
}
