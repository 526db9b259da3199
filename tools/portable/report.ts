/** The result of a suite. A suite is the default export of a module: a function without arguments. */
export interface SuiteReport {
  /** The number of cases. */
  readonly total: number;
  /** One sentence for each case that failed. */
  readonly failures: readonly string[];
}
