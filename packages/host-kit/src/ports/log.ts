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
 * Describes an unexpected error for the operator's log: message and stack of an `Error`, and those of its causes. Of any
 * other value only its type is named, because the value might be a secret.
 */
export function describeError(error: unknown): { readonly error: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { error: `thrown: a value of type ${typeof error}, which is no Error.` };
  if (error.stack === undefined) return { error: error.message };
  return { error: error.message, stack: `${error.stack}${causesOf(error)}` };
}

/** The stacks of the causes of an error, the nearest first. */
function causesOf({ cause }: Error, depth = 1): string {
  if (!(cause instanceof Error) || depth > MOST_CAUSES) return '';
  return `\nCaused by: ${cause.stack ?? cause.message}${causesOf(cause, depth + 1)}`;
}

const MOST_CAUSES = 5;
