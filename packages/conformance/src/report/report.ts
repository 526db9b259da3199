import type { Major, Rule } from '../rule.ts';

/** How one check went under one major. */
export interface Result {
  /** Of the check. */
  readonly id: string;
  readonly area: string;
  readonly name: string;
  readonly level: 'MUST' | 'SHOULD';
  readonly rule: Rule;
  readonly major: Major;
  /** A `SHOULD` that is not kept is `warned`. */
  readonly outcome: 'passed' | 'failed' | 'warned' | 'skipped';
  /** Why it was skipped. */
  readonly reason?: string;
  /** What was not as it should be. */
  readonly failure?: Failure;
  readonly durationMs: number;
}

export interface Failure {
  readonly expected: string;
  readonly seen: string;
  /** A command that repeats the request, where one request shows it. Credentials are variables of the environment. */
  readonly curl?: string;
}

/** How a run of the suite went. */
export interface Report {
  readonly url: string;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly host: {
    readonly name: string | undefined;
    readonly version: string | undefined;
    readonly protocolVersions: readonly string[];
  };
  readonly summary: Readonly<Record<Result['outcome'], number>>;
  /** In the order of the checks. */
  readonly results: readonly Result[];
}
