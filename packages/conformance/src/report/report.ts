import type { Major, Rule } from '../rule.ts';

/** Result of one check under one major. */
export interface Result {
  /** Id of the check, `<area>.<rule>`. */
  readonly id: string;
  /** Area of the check: the part of the id before the dot. */
  readonly area: string;
  /** One sentence that says what a conforming host does. */
  readonly name: string;
  /** Level of the rule, as in RFC 2119. */
  readonly level: 'MUST' | 'SHOULD';
  /** The place where the rule is written. */
  readonly rule: Rule;
  /** Major under which the check ran. */
  readonly major: Major;
  /** `warned` is the outcome of a `SHOULD` that the host does not follow; for a `MUST` it is `failed`. */
  readonly outcome: 'passed' | 'failed' | 'warned' | 'skipped';
  /** Reason of a skip. Present exactly when `outcome` is `skipped`. */
  readonly reason?: string;
  /** Present exactly when `outcome` is `failed` or `warned`. */
  readonly failure?: Failure;
  /** Time that the check took, in ms. */
  readonly durationMs: number;
}

/** Difference between the rule and the behaviour of the host. Keys and secrets are replaced by `[redacted]`. */
export interface Failure {
  /** Behaviour that the rule requires, as the end of a sentence that begins with "expected". */
  readonly expected: string;
  /** Behaviour of the host, as the end of a sentence that begins with "seen". */
  readonly seen: string;
  /**
   * Shell command that repeats the request. It reads keys from the environment variables of the suite. Absent when no
   * single request shows the failure.
   */
  readonly curl?: string;
}

/** Results of one run of the suite. It contains no key and no secret of a subscription. */
export interface Report {
  /** Origin of the host. */
  readonly url: string;
  /** Start of the run, as an RFC 3339 timestamp in UTC. */
  readonly startedAt: string;
  /** Duration of the run, in ms. */
  readonly durationMs: number;
  /** The host, as its discovery document describes it. */
  readonly host: {
    /** `implementation.name`. */
    readonly name: string | undefined;
    /** `implementation.version`. */
    readonly version: string | undefined;
    /** `protocolVersions`; empty when the document has none. */
    readonly protocolVersions: readonly string[];
  };
  /** Number of results by outcome. */
  readonly summary: Readonly<Record<Result['outcome'], number>>;
  /** Results in the order of `CHECKS`; a check that ran under both majors has two. */
  readonly results: readonly Result[];
}
