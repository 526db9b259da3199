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

/** Whether to colour the output: `FORCE_COLOR` decides, else `NO_COLOR`, else whether it goes to a terminal. */
export function wantsColours(
  { FORCE_COLOR, NO_COLOR }: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  if (FORCE_COLOR !== undefined) return !['0', 'false'].includes(FORCE_COLOR);
  return isTerminal && !NO_COLOR;
}
