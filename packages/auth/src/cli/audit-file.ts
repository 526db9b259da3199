import { createReadStream } from 'node:fs';
import { z } from 'zod';
import type { StoredEntry } from '../audit/chain.ts';
import type { Checkpoint, CheckpointRecord } from '../audit/checkpoint.ts';
import { coveringCheckpoints } from '../audit/memory.ts';
import type { AuditReader } from '../audit/verify.ts';
import { UsageError } from './terminal.ts';

/**
 * Makes a reader of a log in JSON Lines, as `auditLines` writes it. It reads the file once for its checkpoints and its
 * head, and once for each range of entries, so the length of the file does not matter.
 *
 * @throws {UsageError} when the file cannot be read, or a line is neither an entry nor a checkpoint
 */
export async function auditFile(path: string): Promise<AuditReader> {
  const checkpoints: Checkpoint[] = [];
  let head: StoredEntry | undefined;
  let start: Checkpoint | undefined;
  for await (const line of parsedLines('FILE', path, LINE, 'an entry or a checkpoint')) {
    if ('start' in line) start = line.start;
    else if ('merkleRoot' in line) checkpoints.push(line);
    else if (line.atSequence > (head?.atSequence ?? 0)) head = line;
  }
  if (start !== undefined) checkpoints.push(start);
  checkpoints.sort((left, right) => left.atSequence - right.atSequence);
  return {
    head: async () => head,
    async *entries(fromSeq, toSeq) {
      for await (const line of parsedLines('FILE', path, LINE, 'an entry or a checkpoint'))
        if ('hash' in line && line.atSequence >= fromSeq && line.atSequence <= toSeq) yield line;
    },
    checkpoints: async (fromSeq, toSeq) => coveringCheckpoints(checkpoints, fromSeq, toSeq),
    start: async () => start,
  };
}

/**
 * Returns the last checkpoint of a file that a sink has appended to.
 *
 * @throws {UsageError} when the file cannot be read, or holds no checkpoint
 */
export async function lastCheckpoint(path: string): Promise<CheckpointRecord> {
  let last: CheckpointRecord | undefined;
  for await (const record of recordsOf(path)) last = record;
  if (last === undefined)
    throw new UsageError('--checkpoints: the file holds no checkpoint. Pass the file of the checkpoint sink.');
  return last;
}

/**
 * Returns whether a sink has recorded a checkpoint together with the hash of its entry.
 *
 * @throws {UsageError} when the file cannot be read
 */
export async function isRecorded(path: string, { atSequence, merkleRoot }: Checkpoint, hash: string): Promise<boolean> {
  for await (const record of recordsOf(path))
    if (record.atSequence === atSequence && record.merkleRoot === merkleRoot && record.hash === hash) return true;
  return false;
}

/** Reads the records of a sink. A crash tears a line, and the sink goes on in the next one. */
async function* recordsOf(path: string): AsyncGenerator<CheckpointRecord, void, void> {
  for await (const [, text] of linesOf('--checkpoints', path)) {
    const record = RECORD.safeParse(jsonOf(text)).data;
    if (record !== undefined) yield record;
  }
}

async function* parsedLines<T>(option: string, path: string, schema: z.ZodType<T>, kind: string) {
  for await (const [number, text] of linesOf(option, path)) {
    const parsed = schema.safeParse(jsonOf(text));
    if (!parsed.success)
      throw new UsageError(`${option}: line ${number} is not ${kind}. Pass a file as auditLines writes it.`);
    yield parsed.data;
  }
}

/** Returns undefined for a text that is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the lines of a file that are not empty, with their numbers. The last one needs no line break. */
export async function* linesOf(option: string, path: string): AsyncGenerator<readonly [number, string], void, void> {
  let rest = Buffer.alloc(0);
  let number = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      rest = Buffer.concat([rest, chunk]);
      let start = 0;
      for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED, start)) {
        number += 1;
        if (end > start) yield [number, rest.toString('utf8', start, end)];
        start = end + 1;
      }
      rest = rest.subarray(start);
      if (rest.length > MAX_LINE_BYTES)
        throw new UsageError(`${option}: line ${number + 1} is longer than 1 MiB. Pass a file of JSON Lines.`);
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string')
      throw new UsageError(`${option}: cannot be read (${error.code}). Check the path and its permissions.`);
    throw error;
  }
  if (rest.length > 0) yield [number + 1, rest.toString('utf8')];
}

const LINE_FEED = 0x0a;
const MAX_LINE_BYTES = 1_048_576;

const sequence = z.int().min(1);
const digest = z.string().regex(/^[0-9a-f]{64}$/);

const CHECKPOINT = z.strictObject({
  checkpoint: z.string(),
  atSequence: sequence,
  merkleRoot: z.string(),
  signature: z.string(),
});

const ENTRY = z.strictObject({
  atSequence: sequence,
  action: z.string(),
  actor: z.string().nullable(),
  target: z.string().nullable(),
  occurredAt: z.string(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  prevHash: z.string().nullable(),
  hash: z.string(),
});

const LINE = z.union([ENTRY, CHECKPOINT, z.strictObject({ start: CHECKPOINT })]);

const RECORD = z.object({ ...CHECKPOINT.shape, merkleRoot: digest, hash: digest });

/** An entry with its inclusion proof. */
export type ProvenEntry = StoredEntry & { readonly proof: readonly string[] };

export const PROVEN_ENTRY: z.ZodType<ProvenEntry> = z.strictObject({ ...ENTRY.shape, proof: z.array(digest).max(64) });
