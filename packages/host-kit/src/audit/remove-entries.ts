import { type CheckpointRecord, checkpointVerifier, entryHash, type StoredEntry } from '@svc/auth/audit';
import { inSteps } from '../in-steps.ts';
import type { CheckpointSink } from '../ports/checkpoint-sink.ts';
import { within } from '../ports/clock.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { RecordAudit } from './fact.ts';

export interface RemoveEntriesOptions extends Pick<HostPorts, 'store' | 'clock'> {
  /** Entries are removed up to a checkpoint that it holds. */
  readonly sink: CheckpointSink;
  /** Public keys of the signer and of its predecessors. */
  readonly publicKeys: readonly string[];
  /** Entries that are older are removed, in ms since the epoch. */
  readonly before: number;
  readonly recordAudit: RecordAudit;
}

/**
 * Removes the entries of the audit log that are older than `before`, up to a checkpoint that the sink holds. The log
 * then starts with this checkpoint, and a fact says so. Returns the number of deleted records: entries, checkpoints, and
 * the hashes, notes and postings that only they need.
 *
 * @throws {Error} when the sink fails, or its checkpoint is not that of the log: nothing is removed then
 */
export async function removeOldEntries(options: RemoveEntriesOptions, signal: AbortSignal): Promise<number> {
  const { store, clock, before, recordAudit } = options;
  const start = (await store.audit.start())?.atSequence ?? 0;
  const old = await newestBefore(options, start, new Date(before).toISOString());
  // The tree cannot be built without its entries, so those that are older than the tree wait for its growth.
  const newest = Math.min(old, await store.audit.treeSize());
  const record = newest > start ? await heldUpTo(options, newest) : undefined;
  if (record !== undefined && record.atSequence > start) {
    await requireOfLog(options, record);
    const { checkpoint, atSequence } = record;
    const fact = {
      action: 'audit.remove',
      actor: null,
      target: null,
      occurredAt: new Date(clock.now()).toISOString(),
      details: { startsWith: checkpoint, atSequence },
    };
    await store.transaction(async (transaction) => {
      // Another host may have done the same meanwhile.
      if (await store.audit.startAt(record, transaction)) await recordAudit(fact, transaction);
    });
  }
  return await inSteps(clock, signal, () => store.audit.sweep(STEP));
}

const STEP = 200;
const DEADLINE_MS = 60_000;

/**
 * Returns the sequence of the newest entry that is older than a time, `start` when there is none. The times of a log
 * rise with its sequence, but for clocks that were set or differ, so a binary search finds it within their difference.
 */
async function newestBefore(
  { store }: Pick<RemoveEntriesOptions, 'store'>,
  start: number,
  time: string,
): Promise<number> {
  let low = start;
  let high = (await store.audit.head())?.atSequence ?? 0;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const entry = await entryAt(store.audit, middle);
    if (entry !== undefined && entry.occurredAt < time) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function heldUpTo(
  { sink, clock }: RemoveEntriesOptions,
  atSequence: number,
): Promise<CheckpointRecord | undefined> {
  const asked = sink.lastUpTo?.(atSequence);
  if (asked === undefined) return undefined;
  if (!(await within(clock, DEADLINE_MS, asked)))
    throw new Error('audit.checkpointSink: the sink did not answer within 60 s. Check that it can be reached.');
  const record = await asked;
  return record !== undefined && record.atSequence <= atSequence ? record : undefined;
}

/** A checkpoint that is not that of the log would vouch for nothing after the removal. */
async function requireOfLog(
  { store, publicKeys }: RemoveEntriesOptions,
  { checkpoint, atSequence, merkleRoot, signature, hash }: CheckpointRecord,
): Promise<void> {
  const stored = (await store.audit.checkpoints(atSequence, atSequence)).find((one) => one.atSequence === atSequence);
  const entry = await entryAt(store.audit, atSequence);
  const isOfLog =
    stored?.checkpoint === checkpoint &&
    stored.merkleRoot === merkleRoot &&
    entry !== undefined &&
    entryHash(entry) === hash &&
    (await checkpointVerifier(publicKeys)({ checkpoint, atSequence, merkleRoot, signature }));
  if (isOfLog) return;
  throw new Error(
    `audit.checkpointSink: its checkpoint at entry ${atSequence} is not that of the audit log, so no entry is removed. Verify the log with svc-audit.`,
  );
}

async function entryAt(
  audit: RemoveEntriesOptions['store']['audit'],
  atSequence: number,
): Promise<StoredEntry | undefined> {
  for await (const entry of audit.entries(atSequence, atSequence)) return entry;
  return undefined;
}
