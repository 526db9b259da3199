/** The outcome of a step of `.ci/run`, which the step writes as JSON into the file that `SVC_OUTCOME` names. */
export interface Outcome {
  /** The number of tests, or checks, that passed. */
  readonly passed: number;
  readonly failures: readonly Failure[];
}

/** A test that failed, a file that could not be loaded, an error that no test handled, or a check with a finding. */
export interface Failure {
  /** The path of the test file; empty when it is not known. */
  readonly file: string;
  /** The test's full name; absent when the file could not be loaded. */
  readonly test?: string;
  /** The first line of the error, and the difference of the values that it compared. */
  readonly message: string;
  /** The command that mends it, when only a generated file is out of date. */
  readonly mend?: string;
  /** The path of a file with the logs of the hosts that the test file started. */
  readonly log?: string;
}
