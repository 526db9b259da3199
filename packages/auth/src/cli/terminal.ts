import type { Writable } from 'node:stream';

/** The streams that the command writes to. */
export interface Terminal {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** Wrong usage of the command: the message is printed, and the exit code is 2. */
export class UsageError extends Error {}
