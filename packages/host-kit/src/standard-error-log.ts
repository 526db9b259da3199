import type { Writable } from 'node:stream';
import { type FloodGuard, floodGuard } from './flood-guard.ts';
import { type JsonLines, jsonLines } from './json-lines.ts';
import type { Clock } from './ports/clock.ts';
import type { LogRecord } from './ports/log.ts';

/**
 * Makes the log of a host without `ports.log`: records of the levels `warn` and `error` become lines of JSON on standard error,
 * of a bounded length, one a second for one cause. A stream that fails ends nothing.
 *
 * @param stream default: standard error, shared by the hosts of a process
 */
export function standardErrorLog(clock: Clock, stream?: Writable): FloodGuard {
  let lines: JsonLines | undefined;
  return floodGuard(
    (record) => {
      if (record.level === 'info') return;
      lines ??= stream === undefined ? ofProcess() : jsonLines(stream);
      lines.log(bounded(record));
    },
    clock,
    ['warn', 'error'],
  );
}

/** One for all hosts: each adds a listener to the stream. Made at the first line, so that a silent host adds none. */
function ofProcess(): JsonLines {
  shared ??= jsonLines(process.stderr);
  return shared;
}

let shared: JsonLines | undefined;

/** Cuts long texts, and leaves out other fields when the rest is still too long. */
function bounded(record: LogRecord): LogRecord {
  const short = shortened(record);
  if (lengthOf(short) <= MOST_OF_LINE) return short;
  const told = Object.entries(short).filter(([, value]) => typeof value === 'string' || typeof value === 'number');
  const { level, event } = record;
  return { ...Object.fromEntries(told.slice(0, MOST_FIELDS)), level, event, isCut: true };
}

function shortened(record: LogRecord): LogRecord {
  const { level, event } = record;
  const fields = Object.entries(record).map(([name, value]) => [name, cut(name, value)] as const);
  return { ...Object.fromEntries(fields), level, event };
}

function cut(name: string, value: LogRecord[string]): LogRecord[string] {
  const most = name === 'stack' ? MOST_OF_STACK : MOST_OF_TEXT;
  return typeof value === 'string' && value.length > most ? `${value.slice(0, most)}…` : value;
}

/** A value that JSON does not have makes no line too long: the log leaves the fields out. */
function lengthOf(record: LogRecord): number {
  try {
    return JSON.stringify(record).length;
  } catch {
    return 0;
  }
}

const MOST_OF_LINE = 16_000;
const MOST_OF_STACK = 4000;
const MOST_OF_TEXT = 1000;
const MOST_FIELDS = 10;
