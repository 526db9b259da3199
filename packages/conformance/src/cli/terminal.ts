import type { Writable } from 'node:stream';

/** Streams, environment and signals of the command. */
export interface Terminal {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly colours: boolean;
  /** Aborted by a signal of the operating system. The run cleans up, then ends. */
  readonly interrupted: AbortSignal;
}
