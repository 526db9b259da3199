import type { Major, Rule } from '../rule.ts';
import type { SkipCause } from '../skip-cause.ts';

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
  /**
   * `failed` is the outcome of a `MUST` that the host does not follow. A `SHOULD`, and a rule whose source is `own`, has the
   * outcome `warned` instead.
   */
  readonly outcome: 'passed' | 'failed' | 'warned' | 'skipped';
  /** Reason of a skip. Present exactly when `outcome` is `skipped`. */
  readonly reason?: string;
  /** Cause of a skip. Present exactly when `outcome` is `skipped`. */
  readonly cause?: SkipCause;
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
