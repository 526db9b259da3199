import type { Report } from '../report/report.ts';

/** Tells whether a report shows that its host conforms: no check failed, and the run looked at all that its profiles require. */
export function isConforming({ profiles, missing, summary, results }: Judged): boolean {
  const failed = results.filter(({ outcome }) => outcome === 'failed').length;
  return profiles.length > 0 && missing.length === 0 && summary.failed === 0 && failed === 0 && summary.passed > 0;
}

/** The members of a report that decide. */
export interface Judged extends Pick<Report, 'profiles' | 'missing'> {
  readonly summary: Pick<Report['summary'], 'passed' | 'failed'>;
  readonly results: readonly { readonly outcome: string }[];
}
