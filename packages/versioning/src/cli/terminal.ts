import type { Writable } from 'node:stream';

/** The streams that the command writes to, and its network access. */
export interface Terminal {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly fetch: (request: Request) => Promise<Response>;
  /** The environment variables. Default: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Wrong usage of the command: the message is printed, and the exit code is 2. */
export class UsageError extends Error {}
