import type { Writable } from 'node:stream';

/** Where the command writes, and what it is told from outside. */
export interface Terminal {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly colours: boolean;
  /** Ends the run: what was made is cleaned up first. */
  readonly interrupted: AbortSignal;
}
