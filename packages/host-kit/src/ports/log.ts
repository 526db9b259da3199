import type { Json } from '../json.ts';

/**
 * One thing that happened, for the operator: content-free, without credentials, secrets, bodies or headers. `event` is a
 * dotted name such as `request` or `delivery.attempted`.
 */
export interface LogRecord {
  readonly level: 'info' | 'warn' | 'error';
  readonly event: string;
  readonly [field: string]: Json | undefined;
}

export type Log = (record: LogRecord) => void;

/** What an operator may read of an unexpected error: its name and message, and the stack that leads to it. */
export function describeError(error: unknown): { readonly error: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { error: typeof error };
  return error.stack === undefined ? { error: error.message } : { error: error.message, stack: error.stack };
}
