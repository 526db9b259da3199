/** The outcome of a run of tests, as the reporter beside this file writes it. */
export interface Outcome {
  /** The number of tests that passed. */
  readonly passed: number;
  readonly failures: readonly Failure[];
}

/** A test that failed, a file that could not be loaded, or an error that no test handled. */
export interface Failure {
  /** The path of the test file; empty when it is not known. */
  readonly file: string;
  /** The test's full name; absent when the file could not be loaded. */
  readonly test?: string;
  /** The first line of the error, and the difference of the values that it compared. */
  readonly message: string;
}
