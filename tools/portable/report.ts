/** What a suite found; it is the default export of a module, a function without arguments. */
export interface SuiteReport {
  readonly total: number;
  /** One sentence for each case that failed. */
  readonly failures: readonly string[];
}
