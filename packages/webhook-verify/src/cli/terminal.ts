import type { Readable, Writable } from 'node:stream';

/** The surroundings of a command: its streams, environment, clock and interruption. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the output is coloured. */
  readonly colours: boolean;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Stops a command that listens. */
  readonly interrupted: AbortSignal;
}

/** Wrong use of the command. Its message is printed, and the exit code is 2. */
export class UsageError extends Error {}

export type Colour = 'green' | 'red' | 'yellow' | 'dim' | 'bold';

const CODES: Readonly<Record<Colour, readonly [on: number, off: number]>> = {
  green: [32, 39],
  red: [31, 39],
  yellow: [33, 39],
  dim: [2, 22],
  bold: [1, 22],
};

export function paint({ colours }: Pick<Terminal, 'colours'>, colour: Colour, text: string): string {
  const [on, off] = CODES[colour];
  return colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
}

/** Escapes control and format characters, so that text from the network cannot steer the terminal. */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Whether to colour the output: `FORCE_COLOR` decides, else `NO_COLOR`, else whether it goes to a terminal. */
export function wantsColours(
  { FORCE_COLOR, NO_COLOR }: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  if (FORCE_COLOR !== undefined) return !['0', 'false'].includes(FORCE_COLOR);
  return isTerminal && !NO_COLOR;
}
