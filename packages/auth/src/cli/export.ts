import { type FileHandle, open } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { originOf } from '../audit-tree/note.ts';
import { jsonOf, linesOf, PROVEN_ENTRY } from './audit-file.ts';
import { type ExportQuery, type ExportSource, hostSource } from './export-source.ts';
import { hostApi } from './host-api.ts';
import { storeFile } from './store-file.ts';
import { type Terminal, UsageError } from './terminal.ts';

export const EXPORT_HELP = `Usage: svc-audit export FILE --url URL [--key-file FILE]
       svc-audit export FILE --store FILE [--tenant ID]

Writes the audit entries that a key may list from a running host, as JSON Lines: the signed head of the log, the entries
with their proofs, newest first, and a last line when the export is complete. An export that was interrupted continues
when the command is repeated. Entries after the last checkpoint have no proof yet, and are left out.

Options:
  --url URL        the host and its organisation, e.g. https://svc.example.com/host/example
  --store FILE     the SQLite database of a host, in place of --url, e.g. when the host is down. It is only read. All entries
                   of the log are exported
  --tenant ID      with --store: entries of this tenant alone
  --key-file FILE  file with an API key that has the scope audit:read. Default: the variable SVC_AUDIT_KEY
  --action NAME    entries with this action alone
  --principal ID   entries of this principal alone

A file is continued with the filters of its first run. svc-audit verify verifies the file with the public key alone.

Exit code: 0 the export is complete, 1 it was interrupted, 2 wrong usage.
`;

/** Runs `svc-audit export` and returns the exit code. */
export async function exportCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      store: { type: 'string' },
      tenant: { type: 'string' },
      'key-file': { type: 'string' },
      action: { type: 'string' },
      principal: { type: 'string' },
    },
  });
  const [path, ...others] = positionals;
  if (path === undefined || others.length > 0) throw new UsageError('FILE: must be given once. Name a new file.');
  const { store, url, action, principal, tenant } = values;
  const source = store === undefined ? await overHttp(values) : await inFile(store, values);
  try {
    const file = await open(path, 'a+', 0o600).catch((cause: unknown) => {
      throw new UsageError('FILE: cannot be written. Check the path and its permissions.', { cause });
    });
    try {
      return await continued(file, await progressIn(path, file), {
        source,
        filters: { action, principal, tenant },
        terminal,
      });
    } catch (error) {
      if (error instanceof UsageError) throw error;
      const reason = error instanceof Error ? error.message : 'unknown';
      const when = store === undefined ? `once ${url} can be reached` : 'once the cause is gone';
      terminal.stderr.write(`svc-audit export: ${reason}\nRepeat the command to continue, ${when}.\n`);
      return 1;
    } finally {
      await file.close();
    }
  } finally {
    source.close();
  }
}

type Source = ExportSource & { close(): void };

interface Given {
  readonly url?: string | undefined;
  readonly 'key-file'?: string | undefined;
  readonly tenant?: string | undefined;
}

async function overHttp({ url, 'key-file': keyFile, tenant }: Given): Promise<Source> {
  if (tenant !== undefined)
    throw new UsageError('--tenant: belongs to --store. A host lists the entries of the tenant of the key.');
  return { ...hostSource(await hostApi(url, keyFile)), close: () => undefined };
}

async function inFile(store: string, { url, 'key-file': keyFile }: Given): Promise<Source> {
  if (url !== undefined || keyFile !== undefined)
    throw new UsageError('--store: needs neither --url nor --key-file. Leave them out.');
  return await storeFile(store);
}

interface Exporting {
  readonly source: ExportSource;
  readonly filters: Pick<ExportQuery, 'action' | 'principal' | 'tenant'>;
  readonly terminal: Terminal;
}

interface Progress {
  readonly note: string | undefined;
  /** The lowest sequence in the file. */
  readonly before: number | undefined;
  readonly entries: number;
  readonly isComplete: boolean;
}

/** Each page is on the disk before the next one is requested, so memory is one page. */
async function continued(file: FileHandle, progress: Progress, { source, filters, terminal }: Exporting) {
  let { note, before, entries } = progress;
  if (!progress.isComplete) {
    if (note === undefined) {
      note = await source.note();
      if (originOf(note) === undefined) throw new Error('there is no signed head.');
      await appended(file, [{ note }]);
    }
    const treeSize = Number(note.split('\n')[1]);
    for (let isLast = false; !isLast; ) {
      const page = await source.page({ ...filters, treeSize, before });
      const next = page.nextBefore;
      if (next !== undefined && next >= (before ?? Number.POSITIVE_INFINITY))
        throw new Error('the same page came again.');
      isLast = next === undefined;
      entries += page.entries.length;
      await appended(file, isLast ? [...page.entries, { complete: true }] : page.entries);
      before = next;
    }
  }
  terminal.stdout.write(`The export is complete. It has ${entries} entries.\n`);
  return 0;
}

async function appended(file: FileHandle, lines: readonly object[]): Promise<void> {
  await file.appendFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await file.sync();
}

/** Finds out how far an earlier run came. A torn last line is cut off. */
async function progressIn(path: string, file: FileHandle): Promise<Progress> {
  let [note, before, entries, isComplete, bytes]: [string | undefined, number | undefined, number, boolean, number] = [
    undefined,
    undefined,
    0,
    false,
    0,
  ];
  const { size } = await file.stat();
  let lines = 0;
  for await (const [number, text] of linesOf('FILE', path)) {
    const end = bytes + Buffer.byteLength(text) + 1;
    const line = end > size ? undefined : LINE.safeParse(jsonOf(text)).data;
    const isNext = number === ++lines;
    if (line === undefined || !isNext || (number === 1) !== 'note' in line) {
      if (number > 1 && isNext && end >= size) break;
      throw new UsageError(
        `FILE: line ${number} is not a line of an export. Name a new file, or the one of an export.`,
      );
    }
    if ('note' in line) note = line.note;
    else if ('complete' in line) isComplete = true;
    else {
      before = line.atSequence;
      entries++;
    }
    bytes = end;
  }
  if (bytes < size) await file.truncate(bytes);
  return { note, before, entries, isComplete };
}

const LINE = z.union([
  PROVEN_ENTRY,
  z.strictObject({ note: z.string() }),
  z.strictObject({ complete: z.literal(true) }),
]);
