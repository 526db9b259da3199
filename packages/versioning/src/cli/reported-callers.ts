import type { HostReader, Members } from './host-reader.ts';
import { UsageError } from './terminal.ts';

/** The days that a running host has counted. */
export interface ReportedDays {
  readonly days: readonly Members[];
  readonly isComplete: boolean;
}

/** Reads the days of a running host. @throws {UsageError} for an answer of another form */
export async function reportedDays(read: HostReader, query: Readonly<Record<string, string>>): Promise<ReportedDays> {
  const document = await read('days', query);
  return { days: listOf(document, 'days'), isComplete: document.isComplete === true };
}

/** The credentials that a running host has counted under major 1. */
export interface ReportedCallers {
  readonly callers: readonly Members[];
  readonly isComplete: boolean;
}

/**
 * Reads every page of the callers of major 1.
 *
 * @throws {UsageError} for an answer of another form, and for pages that do not end
 */
export async function reportedCallers(
  read: HostReader,
  query: Readonly<Record<string, string>>,
): Promise<ReportedCallers> {
  const callers: Members[] = [];
  let isComplete = true;
  for (let after = ''; ; ) {
    const page = await read('callers', { ...query, major: '1', limit: '200', ...(after !== '' && { after }) });
    callers.push(...listOf(page, 'callers'));
    isComplete &&= page.isComplete === true;
    if (page.nextAfter === undefined) return { callers, isComplete };
    if (typeof page.nextAfter !== 'string' || callers.length > MOST_CALLERS)
      throw new UsageError('--url: the host answered with pages that do not end. Check the URL.');
    after = page.nextAfter;
  }
}

/** A host tells fewer credentials apart. */
const MOST_CALLERS = 1_000_000;

/** @throws {UsageError} for an answer of another form: an empty list would tell that no caller is left */
function listOf(document: Members, name: string): readonly Members[] {
  const list = document[name];
  const isList = Array.isArray(list) && list.every((each) => typeof each === 'object' && each !== null);
  if (!isList) throw new UsageError(`--url: the host answered without ${name}. Check that it counts callers.`);
  return list;
}

/** The use of major 1, by both reports. */
export interface ReportedUses {
  readonly before: DayUses;
  /** The requests of all callers. */
  readonly requests: number;
  /** The time of the last request of a caller in milliseconds since the epoch. 0: there is none. */
  readonly lastAt: number;
  readonly after: DayUses;
}

/** The use of major 1 in the days that are kept. */
export interface DayUses {
  readonly requests: number;
  /** The begin of the last day with a request in milliseconds since the epoch. 0: there is none. */
  readonly lastDayAt: number;
}

/** Reads the days, then the callers, then the days again. */
export async function reportedUses(read: HostReader): Promise<ReportedUses> {
  const before = dayUses(await reportedDays(read, {}));
  const { callers } = await reportedCallers(read, {});
  const after = dayUses(await reportedDays(read, {}));
  const uses = callers.flatMap(({ majors }) => usesOf1(majors));
  return {
    ...{ before, after },
    requests: sum(uses),
    lastAt: latest(uses.map(({ lastAt }) => lastAt)),
  };
}

function dayUses({ days }: ReportedDays): DayUses {
  const uses = usesOf1(days).filter(({ requests }) => Number(requests) > 0);
  return { requests: sum(uses), lastDayAt: latest(uses.map(({ day }) => day)) };
}

function usesOf1(list: unknown): readonly Members[] {
  const uses: readonly Members[] = Array.isArray(list) ? list.map((each) => Object(each)) : [];
  return uses.filter(({ major }) => major === 1);
}

function sum(uses: readonly Members[]): number {
  return uses.reduce((total, { requests }) => total + (Number(requests) || 0), 0);
}

function latest(texts: readonly unknown[]): number {
  return texts.reduce<number>((last, text) => Math.max(last, timeOf(text)), 0);
}

function timeOf(text: unknown): number {
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
}
