import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CheckpointRecord } from '@svc/auth/audit';
import { z } from 'zod';
import type { CheckpointSink } from '../ports/checkpoint-sink.ts';

/**
 * Makes a sink that appends checkpoints to a file, one JSON object a line, and synchronises every line to the disk. The
 * file is created with mode 0600; nothing in it is ever changed. Put it on another volume than the database, under a
 * backup of its own: a restore of both would restore both to the same earlier state.
 *
 * @param path relative to the working directory
 * @example
 * const audit = { signer, checkpointSink: checkpointFile('/var/lib/svc-witness/checkpoints.jsonl') };
 */
export function checkpointFile(path: string): CheckpointSink {
  /** The last append. Appends of one process run one after another. */
  let previous: Promise<void> = Promise.resolve();
  return {
    append(record) {
      const appended = previous.then(() => append(path, record));
      previous = appended.catch(() => {});
      return appended;
    },
    last: () => whileOpen(path, async (file) => (await endOf(file)).last),
    lastUpTo: (atSequence) =>
      whileOpen(path, async (file) => {
        let found: CheckpointRecord | undefined;
        for await (const line of file.readLines({ autoClose: false })) {
          const record = recordOf(line);
          if (record !== undefined && record.atSequence > atSequence) break;
          found = record ?? found;
        }
        return found;
      }),
  };
}

/** Calls `read` with the open file. Returns undefined when there is no file yet. */
async function whileOpen<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

async function append(path: string, record: CheckpointRecord): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
  try {
    const { last, isTorn, isEmpty } = await endOf(file);
    if (last !== undefined && isBehind(record, last)) throw new Error(BEHIND);
    const { checkpoint, atSequence, merkleRoot, signature, hash, note } = record;
    const line = JSON.stringify({ checkpoint, atSequence, merkleRoot, signature, hash, note });
    // One write: a crash tears a line, and the next append begins a new one.
    await file.appendFile(`${isTorn ? '\n' : ''}${line}\n`);
    await file.sync();
    if (isEmpty) await syncFolder(dirname(path));
  } finally {
    await file.close();
  }
}

/** Two hosts of one database may seal the same entries, and write both checkpoints into one file. */
function isBehind(record: CheckpointRecord, last: CheckpointRecord): boolean {
  const isSame = record.atSequence === last.atSequence && record.hash === last.hash;
  return record.atSequence <= last.atSequence && !isSame;
}

/** A new file is durable when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

interface FileEnd {
  /** The last complete record; undefined when there is none. */
  readonly last: CheckpointRecord | undefined;
  /** The last line has no end: its writer crashed. */
  readonly isTorn: boolean;
  readonly isEmpty: boolean;
}

/** Reads the end of the file alone, so that its length does not matter. */
async function endOf(file: FileHandle): Promise<FileEnd> {
  const { size } = await file.stat();
  const start = Math.max(0, size - END_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
  const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
  const torn = lines.pop() ?? '';
  if (start > 0) lines.shift();
  const last = lines.map(recordOf).findLast((record) => record !== undefined);
  if (last === undefined && lines.some(isForeign)) throw new Error(FOREIGN);
  return { last, isTorn: torn !== '', isEmpty: size === 0 };
}

function recordOf(line: string): CheckpointRecord | undefined {
  try {
    return RECORD.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/** A line that a crash has torn begins as a record does, and the append after it may have been torn, too. */
function isForeign(line: string): boolean {
  return !RECORD_START.startsWith(line.slice(0, RECORD_START.length));
}

const RECORD_START = '{"checkpoint":"';

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const RECORD = z.object({
  checkpoint: z.string().min(1).max(256),
  atSequence: z.int().min(1),
  merkleRoot: digest,
  signature: z.string().max(256),
  hash: digest,
  note: z.string().max(2048).optional(),
});

/** More than 20 records of the longest kind. */
const END_BYTES = 65_536;

const BEHIND =
  'checkpointFile: the checkpoint is behind the last one in the file. Use one file for one audit log, and one log for one file.';
const FOREIGN = 'checkpointFile: the file holds no checkpoint. Name a new file, or the file of this audit log.';
