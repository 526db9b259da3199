/** One of the things that have a version, and what a version of it looks like. */
export interface Axis {
  /** As the interface's table counts them. */
  readonly number: number;
  readonly name: string;
  /** The form in words or as a pattern, for the documentation. */
  readonly form: string;
  /** The rule of major 2. */
  readonly rule: string;
  /** Whether major 2 still has it. */
  readonly retired: boolean;
  /** Whether a value, as JSON carries it, is a version on this axis. */
  accepts(value: unknown): boolean;
  /** Negative when `a` is the older of two accepted values; absent on an axis without an order. */
  compare?(a: unknown, b: unknown): number;
}
