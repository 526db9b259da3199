/** Of what the reference host does not serve, or does not say that it serves: interrupts, artifacts, forks, files, encodings. */
const AREAS = /^(?:interrupts|artifacts|workspace-files)\./;
const CHECKS = [
  'runs.approval-waits',
  'runs.forked-replay',
  'runs.fork-keeps-owner',
  'runs.forked-branch',
  'runs.fork-refused',
  'deliveries.replayed-history-not-delivered',
  'deliveries.branch-delivered',
  'discovery.encodings-served',
];

/** Whether a check may be skipped because what it is about is not served. */
export function isOfUnserved(id: string): boolean {
  return AREAS.test(id) || CHECKS.includes(id);
}

/** Checks that go through every operation, and may fail for one that is not served. */
export const GO_THROUGH_ALL: readonly string[] = [
  'authentication.key-accepted',
  'authorization.missing-scope-403',
  'authorization.tenant-apart',
  'runs.workflow-read',
  'artifacts.unknown-404',
];
