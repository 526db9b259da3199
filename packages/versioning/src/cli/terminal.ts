import type { Writable } from 'node:stream';

/** Where the command writes, and what it is told from outside. */
export interface Terminal {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Wrong use of the command: the sentence goes to the person, and the exit code is 2. */
export class UsageError extends Error {}
