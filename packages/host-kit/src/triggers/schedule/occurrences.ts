import { createHash } from 'node:crypto';
import type { Occurrence, ScheduleSource } from '../../ports/triggers.ts';
import type { Calendar } from './calendar.ts';

/** A schedule with its trigger, whose id determines the jitter. */
export interface Scheduled {
  readonly triggerId: string;
  readonly schedule: ScheduleSource;
}

/** The occurrences that fire now, by their scheduled times, and the next one. */
export interface Plan {
  readonly fire: readonly number[];
  /** Undefined: the schedule has ended. */
  readonly next: Occurrence | undefined;
  /** True: occurrences were missed, and not all of them fire. */
  readonly skips: boolean;
}

/**
 * Decides which occurrences fire when one is due. A pure function. An occurrence that is late by a minute or less, beyond its
 * jitter, fires as if it were in time. Older ones are treated as `schedule.missed` says.
 *
 * @param due the occurrence that is due
 * @param now the time of the store, in ms since the epoch
 */
export function planned(scheduled: Scheduled, calendar: Calendar, due: Occurrence, now: number): Plan {
  const { missed, jitterSeconds } = scheduled.schedule;
  const horizon = now - IN_TIME_MS - jitterSeconds * 1000;
  if (due.scheduledAt > horizon) {
    return { fire: [due.scheduledAt], next: nextOccurrence(scheduled, calendar, due.scheduledAt), skips: false };
  }
  const next = nextOccurrence(scheduled, calendar, horizon);
  if (missed === 'skip') return { fire: [], next, skips: true };
  const most = missed === 'once' ? 1 : MOST_MISSED;
  // One more, which tells whether there are others.
  const latest = latestUpTo(calendar, due.scheduledAt, horizon, most + 1);
  return { fire: latest.slice(-most), next, skips: latest.length > most };
}

/** Returns the first occurrence after a time, with its jitter; undefined when there is none. */
export function nextOccurrence(
  { triggerId, schedule }: Scheduled,
  calendar: Calendar,
  after: number,
): Occurrence | undefined {
  const scheduledAt = calendar.after(after);
  if (scheduledAt === undefined) return undefined;
  return { scheduledAt, fireAt: scheduledAt + jitterOf(triggerId, scheduledAt, schedule.jitterSeconds) };
}

/** The same on every host and after a restart, and spread evenly over triggers. In ms. */
function jitterOf(triggerId: string, scheduledAt: number, jitterSeconds: number): number {
  if (jitterSeconds === 0) return 0;
  const digest = createHash('sha256')
    .update(JSON.stringify(['svc:jitter', triggerId, scheduledAt]))
    .digest();
  return digest.readUInt32BE(0) % (jitterSeconds * 1000 + 1);
}

/**
 * Returns the latest occurrences from the time of one up to another time, at most `most`, in their order. It looks at a growing
 * stretch before the end, and then for the part of it that has enough: a year, or a month, of minutes would block the host.
 */
function latestUpTo(calendar: Calendar, from: number, upTo: number, most: number): readonly number[] {
  const isEnough = (begin: number) => upToMany(calendar, begin, upTo, most).length === most;
  let [begin, tooLate] = [Math.max(from, upTo - HOUR_MS), upTo];
  for (let stretch = 4 * HOUR_MS; begin > from && !isEnough(begin); stretch *= 4) {
    tooLate = begin;
    begin = Math.max(from, upTo - stretch);
  }
  while (tooLate - begin > HOUR_MS) {
    const middle = begin + Math.floor((tooLate - begin) / 2);
    if (isEnough(middle)) begin = middle;
    else tooLate = middle;
  }
  return upToMany(calendar, begin, upTo, Number.POSITIVE_INFINITY).slice(-most);
}

/** Returns the first occurrences between two times, at most `most`. */
function upToMany({ after }: Calendar, begin: number, upTo: number, most: number): readonly number[] {
  const found: number[] = [];
  for (let at = after(begin - 1); at !== undefined && at <= upTo && found.length < most; at = after(at)) found.push(at);
  return found;
}

const IN_TIME_MS = 60_000;
const MOST_MISSED = 100;
const HOUR_MS = 3_600_000;
