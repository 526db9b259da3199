/** Of what the reference host does not serve: forks. */
const CHECKS = [
  'runs.forked-replay',
  'runs.fork-keeps-owner',
  'runs.forked-branch',
  'runs.fork-refused',
  'deliveries.replayed-history-not-delivered',
  'deliveries.branch-delivered',
];

/** Whether a check may be skipped because what it is about is not served. */
export function isOfUnserved(id: string): boolean {
  return CHECKS.includes(id);
}

/** Checks that go through every operation, and may fail for one that is not served. */
export const GO_THROUGH_ALL: readonly string[] = [];
