import { type CheckpointRecord, checkpointVerifier, entryHash } from '@svc/auth/audit';
import type { AuditStore } from '../ports/audit.ts';
import type { CheckpointSink } from '../ports/checkpoint-sink.ts';
import { type Clock, within } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/**
 * The audit log of a store lacks entries that its checkpoint sink has recorded: the log was cut, emptied or restored to
 * an earlier state. The message names the entries. `start()` of a host rejects with it.
 *
 * @example
 * await host.start().catch((error: unknown) => {
 *   if (error instanceof AuditLogError) process.exitCode = 2;
 *   throw error;
 * });
 */
export class AuditLogError extends Error {
  override readonly name = 'AuditLogError';
}

/** Options of `compareWithSink`. */
export interface AnchorOptions {
  /** The audit log. */
  readonly audit: Pick<AuditStore, 'head' | 'entries'>;
  /** The sink that its host copies checkpoints to. */
  readonly sink: CheckpointSink;
  /** Public keys of the signer and of its predecessors. */
  readonly publicKeys: readonly string[];
  /** Bounds the wait for the sink. */
  readonly clock: Clock;
  /** Is told when the sink is empty and the log is not. */
  readonly log: Log;
}

/**
 * Compares the log with the last checkpoint of its sink. Returns the sequence of the last entry that the sink has
 * recorded; 0 when the sink is empty.
 *
 * @throws {AuditLogError} when the log does not contain the last entry that the sink has recorded
 * @throws {Error} when the sink fails, or does not answer within five seconds
 * @example
 * await compareWithSink({ audit: store.audit, sink: checkpointFile(path), publicKeys, clock: systemClock, log: () => {} });
 */
export async function compareWithSink({ audit, sink, publicKeys, clock, log }: AnchorOptions): Promise<number> {
  const last = await inTime(clock, sink.last());
  const end = (await audit.head())?.atSequence ?? 0;
  if (last === undefined) {
    if (end > 0) log({ level: 'warn', event: 'audit.sink-empty', entries: end, message: EMPTY });
    return 0;
  }
  const { atSequence } = last;
  if (!(await checkpointVerifier(publicKeys)(last)))
    throw new AuditLogError(
      `audit.checkpointSink: no key of this host has signed its last checkpoint, at entry ${atSequence}. Use the sink of this log, or add the former public key to formerPublicKeys.`,
    );
  if (end < atSequence)
    throw new AuditLogError(
      `The audit log ${end === 0 ? 'is empty' : `ends at entry ${end}`}, and its checkpoint sink has recorded entry ${atSequence}: ${named(end + 1, atSequence)} missing. ${REMEDY}`,
    );
  if (!(await contains(audit, last)))
    throw new AuditLogError(
      `Entry ${atSequence} of the audit log is missing, or is not the entry that its checkpoint sink has recorded. ${REMEDY}`,
    );
  return atSequence;
}

/**
 * Stores a copy of a checkpoint in a sink.
 *
 * @throws {Error} when the sink fails, or does not answer within five seconds
 */
export function copyTo(sink: CheckpointSink, clock: Clock, record: CheckpointRecord): Promise<void> {
  return inTime(clock, sink.append(record));
}

async function contains(audit: AnchorOptions['audit'], { atSequence, hash }: CheckpointRecord): Promise<boolean> {
  for await (const entry of audit.entries(atSequence, atSequence)) return entryHash(entry) === hash;
  return false;
}

async function inTime<T>(clock: Clock, work: Promise<T>): Promise<T> {
  if (!(await within(clock, DEADLINE_MS, work)))
    throw new Error('audit.checkpointSink: the sink did not answer within 5 s. Check that it can be reached.');
  return work;
}

function named(first: number, last: number): string {
  return first === last ? `entry ${last} is` : `entries ${first} to ${last} are`;
}

const DEADLINE_MS = 5000;

const REMEDY = 'Restore a database that contains it, or begin a new sink and keep the old one as evidence.';
const EMPTY =
  'The checkpoint sink is empty, and the audit log is not. This is expected once, when the sink is new. Otherwise find the former sink.';
