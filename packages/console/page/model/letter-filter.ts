/** The selection of dead letters, as a redrive takes it. */
export interface LetterFilter {
  readonly types?: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly statuses?: readonly number[];
}

/** A filter of an address that cannot be read, as a sentence for the user. */
export interface FilterProblem {
  readonly problem: string;
}

/**
 * Reads a selection from the filters of an address. The status `0` means that there was no answer. A time is one of the
 * browser's clock, without a zone, as a field for times gives it. A part that cannot be read is a problem: left out, it would
 * select every dead letter, and a redrive would send them all.
 */
export function letterFilter(filters: Readonly<Record<string, string>>): LetterFilter | FilterProblem {
  const { type = '', status = '', since = '', until = '' } = filters;
  const [types, statuses] = [entriesOf(type), entriesOf(status)];
  if (statuses.some((text) => !/^\d{1,3}$/.test(text))) {
    return { problem: 'Last statuses: an entry is no status. Write numbers such as 500, and 0 for no answer.' };
  }
  if ([since, until].some((text) => text !== '' && Number.isNaN(Date.parse(text)))) {
    return { problem: 'Events since, events until: one is no time. Choose a time, or none.' };
  }
  return {
    ...(types.length > 0 && { types }),
    ...(statuses.length > 0 && { statuses: statuses.map(Number) }),
    ...(since !== '' && { since: instant(since) }),
    ...(until !== '' && { until: instant(until) }),
  };
}

/** Returns whether a delivery has one of the statuses of a selection. */
export function hasStatus({ statuses }: LetterFilter, lastStatus: number | undefined): boolean {
  return statuses === undefined || statuses.includes(lastStatus ?? 0);
}

function entriesOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((entry) => entry !== '');
}

function instant(text: string): string {
  return new Date(text).toISOString();
}
