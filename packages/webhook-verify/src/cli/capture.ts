import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { UsageError } from './terminal.ts';

/** A captured delivery. */
export interface Capture {
  /** The headers in their order, with repeats. */
  readonly headers: readonly (readonly [string, string])[];
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
}

/**
 * Reads a request as it was on the wire: an optional request line, header lines, an empty line, the body to the end.
 *
 * @throws {UsageError} when there are no header lines
 */
export function parseRequest(bytes: Uint8Array): Capture {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [end, width] = headEnd(text);
  return { headers: parseHeaderLines(text.subarray(0, end).toString('latin1')), body: text.subarray(end + width) };
}

/**
 * Reads headers from lines of `Name: value`, or from a JSON object or list of pairs.
 *
 * @throws {UsageError} for anything else
 */
export function parseHeaders(text: string): Capture['headers'] {
  if (!/^\s*[[{]/.test(text)) return parseHeaderLines(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError(
      '--headers: begins like JSON, but does not parse. Pass lines of "Name: value", or valid JSON.',
    );
  }
  const pairs = Array.isArray(value) ? value : Object.entries(Object(value));
  return pairs.flatMap(([name, values]): [string, string][] =>
    [values].flat().map((one): [string, string] => [String(name), String(one)]),
  );
}

/** Reads a file, or standard input for `-`. @throws {UsageError} when the file cannot be read */
export async function readInput(path: string, stdin: Readable): Promise<Uint8Array> {
  if (path !== '-') {
    return readFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`${path}: cannot be read (${error.code}). Pass the path of a readable file.`);
    });
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Finds the end of the head, and the width in bytes of the empty line behind it. Each line may end with LF or CRLF:
 * editors change the lines of a head, and leave or add a carriage return in the empty one.
 */
function headEnd(text: Buffer): readonly [end: number, width: number] {
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    const rest = text.toString('latin1', at + 1, at + 3);
    const end = text[at - 1] === CARRIAGE_RETURN ? at - 1 : at;
    if (rest.startsWith('\n')) return [end, at + 2 - end];
    if (rest === '\r\n') return [end, at + 3 - end];
  }
  return [text.length, 0];
}

const CARRIAGE_RETURN = 0x0d;

function parseHeaderLines(text: string): [string, string][] {
  const headers = text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  if (headers.length === 0) {
    throw new UsageError('headers: there is no line of the form "SVC-Timestamp: 1700000000". Pass the whole request.');
  }
  return headers;
}
