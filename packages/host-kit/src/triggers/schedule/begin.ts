import { invalid } from '../../errors.ts';
import type { ScheduleSource, TriggerRules } from '../../ports/triggers.ts';
import { type Calendar, type CalendarOf, isTimeZone, loadCalendar } from './calendar.ts';
import { nextOccurrence } from './occurrences.ts';

/**
 * Returns the rules with which a trigger begins, or goes on after a pause: those of a schedule with its first occurrence after now.
 * Throws a `HostError` `validation_error` when a schedule is not valid or has no occurrence.
 */
export type Begin = (triggerId: string, rules: TriggerRules) => TriggerRules;

/**
 * Prepares the beginning of a trigger. It loads the parser of schedules, and only for a schedule: the returned function does not
 * wait, and can be called in a transaction.
 *
 * @param read returns the time of the store, in ms since the epoch. It is called for a schedule alone
 */
export async function prepareBegin(source: TriggerRules['source'], read: () => Promise<number>): Promise<Begin> {
  if (source !== 'schedule') return (_triggerId, rules) => rules;
  const [make, now] = [await loadCalendar(), await read()];
  return (triggerId, rules) => {
    if (rules.source !== 'schedule') return rules;
    const { schedule } = rules;
    const next = nextOccurrence({ triggerId, schedule }, calendarOf(schedule, make), now);
    if (next === undefined) throw invalid({ field: 'schedule.cron', problem: 'has no occurrence, such as 0 0 30 2 *' });
    return { source: 'schedule', schedule, next };
  };
}

/** The message of the parser is not shown: it repeats the expression. */
function calendarOf(schedule: ScheduleSource, make: CalendarOf): Calendar {
  if (!isTimeZone(schedule.timeZone))
    throw invalid({ field: 'schedule.timeZone', problem: 'must be an IANA time zone, such as Europe/Berlin' });
  try {
    return make(schedule);
  } catch {
    throw invalid({
      field: 'schedule.cron',
      problem: 'must be a cron expression of five fields in their ranges, such as 0 9 * * MON-FRI',
    });
  }
}
