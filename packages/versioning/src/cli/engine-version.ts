import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { byteLines } from './byte-lines.ts';
import { type Converted, withIntegerEngineVersions } from './engine-version-tokens.ts';
import { type Terminal, UsageError } from './terminal.ts';

export const ENGINE_VERSION_HELP = `Usage: svc-versioning engine-version INPUT OUTPUT
       svc-versioning engine-version --dry-run INPUT

Copies run documents to a new file with engineVersion as an integer. INPUT is JSON lines (one document per line), or one
JSON document or list. A line or a document has at most 64 MiB. INPUT is never changed. OUTPUT has the bytes of INPUT,
except the converted tokens.

These engineVersion are converted: that of a run, of an event (in "events", in "event", or the document itself), and of
the payload of a run.started. Every other one belongs to the workflow.

Options:
  --dry-run   writes no file, and lists every value that cannot be converted
  --resume    continues an interrupted run after the last whole line of OUTPUT (JSON lines only)

A value that is neither an integer of at least 0, nor a string of one without leading zeros, ends the run with a message
that names its line.

Exit code: 0 written, 1 a value cannot be converted, 2 wrong usage.
`;

const PROGRESS_LINES = 100_000;
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
const WRITE_BYTES = 1 << 20;
/** A dry run counts further problems, and does not list them. */
const MOST_LISTED = 20;

/** Runs `svc-versioning engine-version` and returns the exit code. */
export async function engineVersionCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { resume: { type: 'boolean', default: false }, 'dry-run': { type: 'boolean', default: false } },
  });
  const isDry = values['dry-run'];
  const [input, output, ...others] = positionals;
  if (isDry && values.resume) throw new UsageError('--dry-run, --resume: exclude each other. Pass one of them.');
  if (input === undefined || (output === undefined) !== isDry || others.length > 0)
    throw new UsageError(
      isDry
        ? 'INPUT: must be given once, and no OUTPUT. Pass one file name.'
        : 'INPUT, OUTPUT: must be given once each. Pass two file names.',
    );
  const size = await stat(input).then(
    ({ size }) => size,
    () => undefined,
  );
  if (size === undefined) throw new UsageError(`INPUT: ${input} cannot be read. Check that the file exists.`);
  const isLines = await isJsonLines(input);
  if (!isLines && values.resume)
    throw new UsageError('--resume: works with JSON lines only. Start again with a new OUTPUT.');
  if (!isLines && size > MAX_DOCUMENT_BYTES)
    throw new UsageError('INPUT: is a JSON document over 64 MiB. Convert it to JSON lines first.');
  const documents = isLines ? lineDocuments(input) : wholeDocument(input);
  if (output === undefined) return tryAll(documents, terminal);
  const done = values.resume ? await wholeLines(output) : NOTHING_DONE;
  const file = await openOutput(output, values.resume);
  try {
    return await convertAll(documents, file, done, terminal);
  } finally {
    await file.close();
  }
}

/** A line, or the whole of a document. */
interface Piece {
  /** The file, with the number of the line. */
  readonly place: string;
  readonly bytes: Buffer;
}

async function* lineDocuments(input: string): AsyncGenerator<Piece> {
  let number = 0;
  for await (const bytes of byteLines(input, MAX_DOCUMENT_BYTES)) yield { place: `${input}:${++number}`, bytes };
}

async function* wholeDocument(input: string): AsyncGenerator<Piece> {
  yield { place: input, bytes: await readFile(input) };
}

async function openOutput(output: string, isResumed: boolean): Promise<FileHandle> {
  return open(output, isResumed ? 'a' : 'wx').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST')
      throw new UsageError(
        `OUTPUT: ${output} exists already. Name a new file, or pass --resume to continue an interrupted run.`,
      );
    throw new UsageError(`OUTPUT: ${output} cannot be written (${error.code}). Check its directory and permissions.`);
  });
}

/** Writes the converted pieces, up to the first that cannot be converted. */
async function convertAll(
  documents: AsyncIterable<Piece>,
  file: FileHandle,
  done: WholeLines,
  { stdout, stderr }: Terminal,
): Promise<number> {
  let number = 0;
  let changed = 0;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  const flush = async () => {
    await file.writev(pending);
    pending = [];
    pendingBytes = 0;
  };
  for await (const { place, bytes } of documents) {
    number += 1;
    if (number < done.count) continue;
    const converted = convert(bytes);
    if (!converted.ok) {
      if (pendingBytes > 0) await flush();
      stderr.write(`${place}: ${converted.problem}\n`);
      return 1;
    }
    const written = converted.replaced === 0 ? bytes : Buffer.from(converted.text);
    if (number === done.count) {
      if (written.equals(done.last)) continue;
      throw new UsageError(
        `--resume: line ${number} of OUTPUT does not come from INPUT. Start again with a new OUTPUT.`,
      );
    }
    if (converted.replaced > 0) changed += 1;
    pending.push(written);
    pendingBytes += written.length;
    if (pendingBytes > WRITE_BYTES) await flush();
    if (number % PROGRESS_LINES === 0) stderr.write(`${number} lines\n`);
  }
  if (number < done.count)
    throw new UsageError('--resume: OUTPUT has more lines than INPUT. Start again with a new OUTPUT.');
  if (pendingBytes > 0) await flush();
  await file.sync();
  stdout.write(`${number - done.count} documents, ${changed} changed\n`);
  return 0;
}

/** Converts everything without writing, and lists the problems. */
async function tryAll(documents: AsyncIterable<Piece>, { stdout, stderr }: Terminal): Promise<number> {
  const counts = { documents: 0, changed: 0, replaced: 0, problems: 0 };
  for await (const { place, bytes } of documents) {
    counts.documents += 1;
    const converted = convert(bytes);
    if (converted.ok) {
      counts.replaced += converted.replaced;
      if (converted.replaced > 0) counts.changed += 1;
    } else {
      counts.problems += 1;
      if (counts.problems <= MOST_LISTED) stderr.write(`${place}: ${converted.problem}\n`);
    }
  }
  if (counts.problems > MOST_LISTED) stderr.write(`${counts.problems - MOST_LISTED} further problems\n`);
  const { replaced, problems } = counts;
  stdout.write(
    `${counts.documents} documents, ${counts.changed} would change (${replaced} values), ${problems} cannot be converted\n`,
  );
  return problems === 0 ? 0 : 1;
}

function convert(bytes: Buffer): Converted {
  if (bytes.length > MAX_DOCUMENT_BYTES)
    return { ok: false, problem: 'is longer than 64 MiB. Split it and run again.' };
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { ok: false, problem: 'is not UTF-8. Repair it and run again.' };
  }
  return text.trim() === '' ? { ok: true, text, replaced: 0 } : withIntegerEngineVersions(text);
}

/** Rejects other bytes instead of replacing them, and keeps a byte order mark. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns true when the first document of the file begins and ends on one line. */
async function isJsonLines(path: string): Promise<boolean> {
  for await (const bytes of byteLines(path, MAX_DOCUMENT_BYTES)) {
    const line = bytes.toString().trim();
    if (line === '') continue;
    if (!line.startsWith('{')) return false;
    try {
      JSON.parse(line);
      return true;
    } catch {
      return line.endsWith('}') && line.length > 2;
    }
  }
  return true;
}

/** The whole lines of an output that was interrupted. */
interface WholeLines {
  readonly count: number;
  /** The last of them, with its line feed. */
  readonly last: Buffer;
}

const NOTHING_DONE: WholeLines = { count: 0, last: Buffer.alloc(0) };

/** Counts the whole lines that an interrupted run wrote, and truncates the file after the last of them. */
async function wholeLines(path: string): Promise<WholeLines> {
  const file = await open(path, 'r+').catch(() => {
    throw new UsageError(`OUTPUT: ${path} cannot be opened to resume. Run without --resume to start a new file.`);
  });
  try {
    let whole = NOTHING_DONE;
    let end = 0;
    for await (const line of byteLines(path, MAX_DOCUMENT_BYTES)) {
      if (line.at(-1) !== 0x0a) break;
      whole = { count: whole.count + 1, last: line };
      end += line.length;
    }
    await file.truncate(end);
    return whole;
  } finally {
    await file.close();
  }
}
