import type { Report } from '../report/report.ts';
import type { Result } from '../report/result.ts';

/** The options that decide about the exit code. */
export interface VerdictRules {
  /** Whether a skipped check is a failure, unless it is expected or for hosts of another kind. */
  readonly failOnSkipped: boolean;
  /** Checks that may be skipped: `<id>`, or `<id>@<major>`. */
  readonly expectedSkips: readonly string[];
  /** Failures of an earlier report, as `<id>@<major>`. They do not count. */
  readonly knownFailures: ReadonlySet<string>;
}

/** The judgement of a report. */
export interface Verdict {
  /** 0: no check failed; 1: a check failed; 3: the run looked at less than it was required to. */
  readonly exitCode: 0 | 1 | 3;
  /** Failures that count. */
  readonly failures: readonly Result[];
  /** Skips that count as failures. */
  readonly skips: readonly Result[];
  /** Names of expected skips and of known failures that are neither any more. */
  readonly outdated: readonly string[];
}

/** Judges a report. A failure comes before a requirement that was not met. */
export function verdictOf({ results, missing }: Report, rules: VerdictRules): Verdict {
  const { failOnSkipped, expectedSkips, knownFailures } = rules;
  const failures = results.filter((result) => result.outcome === 'failed' && !knownFailures.has(nameOf(result)));
  const skipped = results.filter(({ outcome }) => outcome === 'skipped');
  const isExpected = (result: Result) => expectedSkips.some((name) => name === result.id || name === nameOf(result));
  const skips = failOnSkipped ? skipped.filter((result) => result.cause !== 'mode' && !isExpected(result)) : [];
  const found = new Set(skipped.flatMap((result) => [result.id, nameOf(result)]));
  const failed = new Set(results.filter(({ outcome }) => outcome === 'failed').map(nameOf));
  const outdated = [
    ...expectedSkips.filter((name) => !found.has(name)),
    ...[...knownFailures].filter((name) => !failed.has(name)),
  ];
  const isFailed = failures.length > 0 || skips.length > 0;
  return { exitCode: isFailed ? 1 : missing.length > 0 ? 3 : 0, failures, skips, outdated };
}

/** Returns the stable name of a result, `<id>@<major>`. */
export function nameOf({ id, major }: Pick<Result, 'id' | 'major'>): string {
  return `${id}@${major}`;
}
