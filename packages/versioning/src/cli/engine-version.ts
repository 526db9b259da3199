import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { readEngineVersion } from '../axes/index.ts';
import { type Terminal, UsageError } from './terminal.ts';

export const ENGINE_VERSION_HELP = `Usage: svc-versioning engine-version INPUT OUTPUT

Copies run documents to a new file with engineVersion as an integer. INPUT is JSON lines (one document per line), or one
JSON document or list of at most 64 MiB. INPUT is never changed. Only engineVersion is converted: at the top of a
document, in the events of its event log and in their payloads.

Options:
  --resume    continues an interrupted run after the last whole line of OUTPUT (JSON lines only)

A value that is neither an integer of at least 0, nor a string of one without leading zeros, ends the run with a message
that names its line.

Exit code: 0 written, 1 a value cannot be converted, 2 wrong usage.
`;

const PROGRESS_LINES = 100_000;
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/** Runs `svc-versioning engine-version` and returns the exit code. */
export async function engineVersionCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { resume: { type: 'boolean', default: false } },
  });
  const [input, output, ...others] = positionals;
  if (input === undefined || output === undefined || others.length > 0)
    throw new UsageError('INPUT, OUTPUT: must be given once each. Pass two file names.');
  const size = await stat(input).then(
    ({ size }) => size,
    () => undefined,
  );
  if (size === undefined) throw new UsageError(`INPUT: ${input} cannot be read. Check that the file exists.`);
  const done = values.resume ? await wholeLines(output) : 0;
  const file = await open(output, values.resume ? 'a' : 'wx').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST')
      throw new UsageError(
        `OUTPUT: ${output} exists already. Name a new file, or pass --resume to continue an interrupted run.`,
      );
    throw new UsageError(`OUTPUT: ${output} cannot be written (${error.code}). Check its directory and permissions.`);
  });
  try {
    if (await isJsonLines(input)) return await migrateLines(input, file, done, terminal);
    if (done > 0) throw new UsageError('--resume: works with JSON lines only. Start again with a new OUTPUT.');
    if (size > MAX_DOCUMENT_BYTES)
      throw new UsageError('INPUT: is a JSON document over 64 MiB. Convert it to JSON lines first.');
    return await migrateDocument(input, file, terminal);
  } finally {
    await file.close();
  }
}

async function migrateLines(
  input: string,
  file: FileHandle,
  done: number,
  { stdout, stderr }: Terminal,
): Promise<number> {
  const lines = createInterface({ input: createReadStream(input), crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  let changed = 0;
  let pending = '';
  for await (const line of lines) {
    number += 1;
    if (number <= done) continue;
    const migrated = line.trim() === '' ? line : migrate(line, `${input}:${number}`);
    if (typeof migrated !== 'string') {
      await file.write(pending);
      stderr.write(`${migrated.problem}\n`);
      return 1;
    }
    if (migrated !== line) changed += 1;
    pending += `${migrated}\n`;
    if (pending.length > 1 << 20) {
      await file.write(pending);
      pending = '';
    }
    if (number % PROGRESS_LINES === 0) stderr.write(`${number} lines\n`);
  }
  await file.write(pending);
  await file.sync();
  stdout.write(`${number - done} documents, ${changed} changed\n`);
  return 0;
}

async function migrateDocument(input: string, file: FileHandle, { stdout, stderr }: Terminal): Promise<number> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(input)) chunks.push(chunk);
  const migrated = migrate(Buffer.concat(chunks).toString('utf8'), input, 2);
  if (typeof migrated !== 'string') {
    stderr.write(`${migrated.problem}\n`);
    return 1;
  }
  await file.write(`${migrated}\n`);
  await file.sync();
  stdout.write(`${input} converted\n`);
  return 0;
}

/**
 * Returns the text of a document with every engineVersion as an integer. A document without a change keeps its text.
 */
function migrate(text: string, place: string, indent?: number): string | { readonly problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: `${place}: is not valid JSON. Repair it and run again.` };
  }
  const change = { isChanged: false, problem: undefined as string | undefined };
  const migrated = (Array.isArray(value) ? value : [value]).map((document) => withIntegers(document, change));
  if (change.problem !== undefined) return { problem: `${place}: ${change.problem}` };
  if (!change.isChanged) return text;
  return JSON.stringify(Array.isArray(value) ? migrated : migrated[0], undefined, indent);
}

interface Change {
  isChanged: boolean;
  problem: string | undefined;
}

/** Converts a run document, an event or a payload. Every other member belongs to the workflow and is not changed. */
function withIntegers(value: unknown, change: Change): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === 'engineVersion') copy[name] = integerOf(member, change);
    else if (name === 'events' && Array.isArray(member))
      copy[name] = member.map((event) => withIntegers(event, change));
    else if (name === 'payload' || name === 'event') copy[name] = withIntegers(member, change);
    else copy[name] = member;
  }
  return copy;
}

function integerOf(value: unknown, change: Change): unknown {
  const integer = readEngineVersion(value);
  if (integer === undefined) {
    const shown = JSON.stringify(value)?.slice(0, 80);
    change.problem ??= `engineVersion is ${shown}, not an integer of at least 0. Correct it and run again.`;
  } else if (integer !== value) change.isChanged = true;
  return integer ?? value;
}

/** Returns true when the first document of the file begins and ends on one line. */
async function isJsonLines(path: string): Promise<boolean> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    if (!line.trimStart().startsWith('{')) return false;
    try {
      JSON.parse(line);
      return true;
    } catch {
      return line.trimEnd().endsWith('}') && line.length > 2;
    }
  }
  return true;
}

/** Counts the whole lines that an interrupted run wrote, and truncates the file after the last of them. */
async function wholeLines(path: string): Promise<number> {
  const file = await open(path, 'r+').catch(() => {
    throw new UsageError(`OUTPUT: ${path} cannot be opened to resume. Run without --resume to start a new file.`);
  });
  try {
    let lines = 0;
    let end = 0;
    let position = 0;
    const buffer = Buffer.alloc(1 << 16);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) break;
      for (let index = 0; index < bytesRead; index += 1) {
        if (buffer[index] !== 0x0a) continue;
        lines += 1;
        end = position + index + 1;
      }
      position += bytesRead;
    }
    await file.truncate(end);
    return lines;
  } finally {
    await file.close();
  }
}
