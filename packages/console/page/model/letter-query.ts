import type { LetterFilter } from './letter-filter.ts';

/** Writes a selection of dead letters as the query of their counts. */
export function letterQuery({ types, statuses, since, until }: LetterFilter): string {
  const given = Object.entries({
    types: types?.join(',') ?? '',
    statuses: statuses?.join(',') ?? '',
    since: since ?? '',
    until: until ?? '',
  });
  return new URLSearchParams(given.filter(([, value]) => value !== '')).toString();
}
