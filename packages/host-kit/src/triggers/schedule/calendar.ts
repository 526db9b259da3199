import type { ScheduleSource } from '../../ports/triggers.ts';

/** The times of a schedule. A pure function of its expression, its time zone and the time zone database of the runtime. */
export interface Calendar {
  /** Returns the first time of the schedule after a time; undefined when there is none. Both are in ms since the epoch. */
  readonly after: (time: number) => number | undefined;
}

/** Makes the calendar of a schedule. Throws an `Error` when its expression or its time zone is not valid. */
export type CalendarOf = (schedule: Pick<ScheduleSource, 'cron' | 'timeZone'>) => Calendar;

/**
 * Loads the parser of cron expressions. A host without schedules does not load it.
 *
 * Where clocks are put forward, a fixed time in the gap takes place at the end of the gap, and repeated times in the gap do not take
 * place. Where they are put back, a fixed time takes place once, at its first pass, and an expression for every hour at both passes.
 */
export async function loadCalendar(): Promise<CalendarOf> {
  const { Cron } = await import('croner');
  return ({ cron, timeZone }) => {
    if (!isTimeZone(timeZone)) throw new Error('The time zone is unknown to this runtime.');
    const job = new Cron(cron, { timezone: timeZone, paused: true, mode: '5-part' });
    return { after: (time) => job.nextRun(new Date(time))?.getTime() };
  };
}

/** Returns whether a text has the form of a cron expression. `CalendarOf` also judges the ranges of its fields. */
export function isCronForm(text: string): boolean {
  return text.length <= 128 && FIELDS.test(text);
}

// Without `?` and `+`, whose meaning differs between implementations, and without nicknames.
const FIELDS = /^[0-9A-Za-z*,/#-]+(?: [0-9A-Za-z*,/#-]+){4}$/;

/** Returns whether a name is that of a zone of the IANA database. Offsets are none: they know no daylight saving. */
export function isTimeZone(name: string): boolean {
  if (name.length > 64 || !/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
