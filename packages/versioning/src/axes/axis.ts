/** One version axis: a thing that has a version of its own, and the grammar of that version. */
export interface Axis {
  /** The number in the interface's table, 1 to 18. */
  readonly number: number;
  /** The name of the field or fields that carry the version. */
  readonly name: string;
  /** The grammar in words or as a pattern, for documentation. */
  readonly form: string;
  /** The rule of major 2, in words. */
  readonly rule: string;
  /** True when major 2 no longer has the axis; it then accepts no value. */
  readonly retired: boolean;
  /** Returns true when a JSON value is a version on this axis. */
  accepts(value: unknown): boolean;
  /**
   * Returns a negative number when `a` is older than `b`, 0 when they are equal. Absent on an axis without an order.
   *
   * @throws {TypeError} when the axis does not accept one of them and cannot read it
   */
  compare?(a: unknown, b: unknown): number;
}
