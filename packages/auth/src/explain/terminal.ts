import type { Readable, Writable } from 'node:stream';

/** The surroundings of a command: its streams and its clock. */
export interface ExplainTerminal {
  /** Read when no file is given. */
  readonly stdin: Readable;
  /** Gets the report. */
  readonly stdout: Writable;
  /** Gets errors of usage. */
  readonly stderr: Writable;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * Wrong use of the command. Its message is printed, and the exit code is 2.
 *
 * @example
 * throw new ExplainUsageError('--config: cannot be read. Check the path and its permissions.');
 */
export class ExplainUsageError extends Error {}
