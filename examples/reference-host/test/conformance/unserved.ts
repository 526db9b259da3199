/** Of what the reference host does not serve: nothing. */
const CHECKS: readonly string[] = [];

/** Whether a check may be skipped because what it is about is not served. */
export function isOfUnserved(id: string): boolean {
  return CHECKS.includes(id);
}

/** Checks that go through every operation, and may fail for one that is not served. */
export const GO_THROUGH_ALL: readonly string[] = [];
