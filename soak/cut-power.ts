import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { Chance } from '@svc/tools/chance';

/** The writes that no flush protected at a power cut. */
export interface LostWrites {
  readonly unflushed: number;
  readonly dropped: number;
  readonly torn: number;
}

/**
 * Rebuilds a SQLite database as a power cut may leave it: of the writes since the last flush of each file, all are
 * lost, or some of them in any order, or some are torn between two sectors of 512 bytes, or all but the first. Its
 * process must have ended.
 *
 * @param database the path of the database; its log is beside it
 * @param journal the beginning of the names of the journals of `FaultyDisk`
 */
export function cutPower(database: string, journal: string, chance: Chance): LostWrites {
  const lost = ['', '-wal'].map((suffix) => lose(database + suffix, journal + suffix, chance));
  // The shared memory of the log was memory.
  rmSync(`${database}-shm`, { force: true });
  const sum = (of: keyof LostWrites) => lost.reduce((total, each) => total + each[of], 0);
  return { unflushed: sum('unflushed'), dropped: sum('dropped'), torn: sum('torn') };
}

const NOTHING: LostWrites = { unflushed: 0, dropped: 0, torn: 0 };

function lose(file: string, journal: string, chance: Chance): LostWrites {
  if (!existsSync(file) || !existsSync(journal)) return NOTHING;
  const writes = entriesOf(readFileSync(journal));
  if (writes.length === 0) return NOTHING;
  const kept = survivors(writes, chance);
  const descriptor = openSync(file, 'r+');
  try {
    for (const write of writes.toReversed()) undo(descriptor, write);
    for (const write of kept) redo(descriptor, write);
  } finally {
    closeSync(descriptor);
  }
  rmSync(journal);
  return {
    unflushed: writes.length,
    dropped: writes.filter((write) => !kept.some(({ index }) => index === write.index)).length,
    torn: kept.filter(({ bytes, index }) => bytes.length < (writes[index]?.bytes.length ?? 0)).length,
  };
}

/** A write, or a cut, that no flush followed. */
interface Write {
  readonly index: number;
  readonly offset: number;
  readonly bytes: Buffer;
  /** The bytes that it replaced or cut off. */
  readonly old: Buffer;
  readonly oldSize: number;
  /** The new size of the file, when it was cut. */
  readonly cutTo: number | undefined;
}

const HEAD = 40;

/** Parses a journal. Half an entry at its end belongs to a write that never happened. */
function entriesOf(journal: Buffer): readonly Write[] {
  const writes: Write[] = [];
  for (let at = 0; at + HEAD <= journal.length; ) {
    const number = (field: number) => Number(journal.readBigInt64LE(at + field * 8));
    const [offset, length, oldLength, oldSize, cutTo] = [number(0), number(1), number(2), number(3), number(4)];
    const end = at + HEAD + length + oldLength;
    if (end > journal.length) break;
    const bytes = journal.subarray(at + HEAD, at + HEAD + length);
    const old = journal.subarray(at + HEAD + length, end);
    writes.push({ index: writes.length, offset, bytes, old, oldSize, cutTo: cutTo === -1 ? undefined : cutTo });
    at = end;
  }
  return writes;
}

/** Chooses the writes that reach the disk. */
function survivors(writes: readonly Write[], chance: Chance): readonly Write[] {
  const any = () => writes.filter(() => chance.happens(0.5));
  switch (chance.below(4)) {
    case 0:
      return [];
    case 1:
      return any();
    case 2:
      return withTorn(writes, chance);
    default:
      return writes.slice(1);
  }
}

/** Keeps some of the writes, and tears one that has more than one sector, if there is any. */
function withTorn(writes: readonly Write[], chance: Chance): readonly Write[] {
  const long = writes.filter(({ offset, bytes }) => (offset % SECTOR_BYTES) + bytes.length > SECTOR_BYTES);
  const chosen = long[chance.below(long.length)];
  return writes.flatMap((write) => {
    if (write === chosen) return [torn(write, chance)];
    return chance.happens(0.5) ? [write] : [];
  });
}

/** Returns the first sectors of a write, and not all of them. */
function torn(write: Write, chance: Chance): Write {
  const { offset, bytes } = write;
  const first = SECTOR_BYTES - (offset % SECTOR_BYTES);
  const boundaries = Math.ceil((bytes.length - first) / SECTOR_BYTES);
  return { ...write, bytes: bytes.subarray(0, first + chance.below(boundaries) * SECTOR_BYTES) };
}

const SECTOR_BYTES = 512;

function undo(descriptor: number, { offset, old, oldSize }: Write): void {
  writeAll(descriptor, old, offset);
  ftruncateSync(descriptor, oldSize);
}

function redo(descriptor: number, { offset, bytes, cutTo }: Write): void {
  if (cutTo === undefined) writeAll(descriptor, bytes, offset);
  else ftruncateSync(descriptor, cutTo);
}

function writeAll(descriptor: number, bytes: Buffer, offset: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, offset + written);
  }
}
