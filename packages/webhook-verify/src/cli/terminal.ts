import type { Readable, Writable } from 'node:stream';

/** Where a command reads and writes, and what it is told from outside. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly colours: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Ends what listens. */
  readonly interrupted: AbortSignal;
}

/** Wrong use of the command: the sentence goes to the person, and the exit code is 2. */
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

/** What came over the network must not steer the terminal: control and format characters are shown as escapes. */
export function printable(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
