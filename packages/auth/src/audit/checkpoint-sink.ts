import type { CheckpointRecord } from './checkpoint.ts';

/**
 * Stores copies of checkpoints where the holder of the store cannot change them: a file of another account, an object
 * store with a retention lock. From the last copy a host learns that its audit log was cut, emptied or restored to an
 * earlier state.
 *
 * A call that takes longer than five seconds counts as failed.
 */
export interface CheckpointSink {
  /**
   * Stores a copy. Resolves when it is durable. The host calls it before it stores the checkpoint itself, and again
   * after a failure, so a sink may hold a copy whose checkpoint was never stored, or two copies of the same entry.
   *
   * @throws when the copy cannot be stored, or is behind the last one. The host retries with a newer checkpoint.
   */
  append(record: CheckpointRecord): Promise<void>;
  /** Returns the copy with the highest `atSequence`; undefined for an empty sink. */
  last(): Promise<CheckpointRecord | undefined>;
  /**
   * Returns the copy with the highest `atSequence` that is not above the given one; undefined when there is none. The
   * host asks before it removes old entries of the log, and removes none without it. Default: no entry can be removed.
   */
  lastUpTo?(atSequence: number): Promise<CheckpointRecord | undefined>;
}

/** An object store, as far as copies of checkpoints need it. Objects are never replaced or removed. */
export interface CheckpointObjects {
  /**
   * Stores an object unless its key exists: `If-None-Match: *` of S3, GCS and Azure. Resolves when it is durable.
   *
   * @returns false when the key exists
   */
  putIfAbsent(key: string, text: string): Promise<boolean>;
  /** Returns the object whose key sorts first (by bytes) among those with the prefix; undefined when there is none. */
  first(prefix: string): Promise<{ readonly key: string; readonly text: string } | undefined>;
}

/**
 * Makes a sink that stores each checkpoint as an object. Its keys descend, so that the newest checkpoint is the first of a
 * listing: `<prefix><9007199254740991 - atSequence>.json`, padded to 16 digits. Give the host no right to replace or to
 * remove objects.
 *
 * @param prefix begins every key, e.g. `audit/`. One prefix holds the checkpoints of one log
 * @example
 * const audit = { signer, checkpointSink: checkpointObjectSink(bucket, 'audit/') };
 */
export function checkpointObjectSink(objects: CheckpointObjects, prefix: string): CheckpointSink {
  const last = async () => {
    const found = await objects.first(prefix);
    return found && recordIn(found.text, found.key);
  };
  return {
    async append(record) {
      const newest = await last();
      const isSame = newest?.atSequence === record.atSequence && newest.hash === record.hash;
      if (isSame) return;
      if (newest !== undefined && newest.atSequence >= record.atSequence) throw new Error(BEHIND);
      const key = `${prefix}${String(Number.MAX_SAFE_INTEGER - record.atSequence).padStart(16, '0')}.json`;
      // Another host may have stored the same entry since the look.
      if (!(await objects.putIfAbsent(key, JSON.stringify(record))) && (await last())?.hash !== record.hash)
        throw new Error(BEHIND);
    },
    last,
  };
}

/** The host verifies the signature of the record. */
function recordIn(text: string, key: string): CheckpointRecord {
  const value: unknown = parsed(text);
  if (!isRecord(value))
    throw new Error(`checkpointObjectSink: the object ${key} is no checkpoint. Use a prefix of its own for each log.`);
  const { checkpoint, atSequence, merkleRoot, signature, hash, note } = value;
  return { checkpoint, atSequence, merkleRoot, signature, hash, ...(note !== undefined && { note }) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is CheckpointRecord {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const isText = (name: string) => typeof fields[name] === 'string' && fields[name].length <= 16_384;
  return (
    ['checkpoint', 'merkleRoot', 'signature', 'hash'].every(isText) &&
    (fields.note === undefined || isText('note')) &&
    Number.isSafeInteger(fields.atSequence)
  );
}

const BEHIND =
  'checkpointObjectSink: the checkpoint is behind the last one of the prefix. Use one prefix for one audit log.';
