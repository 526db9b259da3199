import type { Writable } from 'node:stream';
import type { Log } from './ports/log.ts';

/** A log on a stream, with the number of the records that it lost. */
export interface JsonLines {
  readonly log: Log;
  /** The number of records that could not be written and of which the log does not tell yet. */
  dropped(): number;
}

/**
 * Writes log records as lines of JSON, each with its `time`. A stream that fails does not end the process: records are
 * dropped while its reader is gone (`EPIPE`), its disk is full (`ENOSPC`) or 4 MiB wait for its reader. As soon as it
 * takes records again, one of the event `log.records-dropped` tells their number.
 *
 * @example
 * const { log } = jsonLines(process.stderr);
 * const host = createHost({ ...options, log });
 */
export function jsonLines(stream: Writable): JsonLines {
  let dropped = 0;
  let isTelling = false;
  // Without a listener the first failed write would end the process. Each is counted where it was made.
  stream.on('error', () => {});

  return {
    log(record) {
      if (dropped > 0 && !isTelling) tellDropped();
      write(record, 1);
    },
    dropped: () => dropped,
  };

  function tellDropped(): void {
    const told = dropped;
    isTelling = true;
    const record = { level: 'warn', event: 'log.records-dropped', dropped: told } as const;
    write(record, 0, (isWritten) => {
      isTelling = false;
      if (isWritten) dropped -= told;
    });
  }

  function write(record: Parameters<Log>[0], lost: number, done?: (isWritten: boolean) => void): void {
    const settle = (isWritten: boolean) => {
      if (!isWritten) dropped += lost;
      done?.(isWritten);
    };
    if (stream.writableLength > MOST_WAITING_BYTES) settle(false);
    else stream.write(lineOf(record), (error) => settle(error == null));
  }
}

/** A record whose value JSON does not have is a fault of its writer, which must not end a request. */
function lineOf(record: Parameters<Log>[0]): string {
  const time = new Date().toISOString();
  try {
    return `${JSON.stringify({ time, ...record })}\n`;
  } catch {
    return `${JSON.stringify({ time, level: record.level, event: record.event })}\n`;
  }
}

const MOST_WAITING_BYTES = 4_194_304;
