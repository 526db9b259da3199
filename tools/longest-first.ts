import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Starts the files that take longest first, and the others in vitest's own order, which is that of their size. A long file
 * that starts last keeps one core busy while the others rest.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    const long = LONGEST.flatMap((path) => others.filter(({ moduleId }) => moduleId.endsWith(`/${path}`)));
    return [...long, ...others.filter((file) => !long.includes(file))];
  }
}

/** Files that take longer than twenty seconds, the longest first. */
export const LONGEST = [
  'packages/host-kit/test/simulation/simulation.test.ts',
  'examples/reference-host/test/conformance/conformance.test.ts',
  'examples/reference-host/test/backup.test.ts',
  'examples/reference-host/test/postgres.test.ts',
  'soak/soak.test.ts',
  'packages/host-kit/test/stores/contract.test.ts',
  // Apart from the conformance suite, because both have deadlines.
  'examples/reference-host/test/conformance/faults.test.ts',
  'examples/reference-host/test/approvals.test.ts',
  'examples/reference-host/test/authentication.test.ts',
  'examples/reference-host/test/backup-postgres.test.ts',
  'packages/host-kit/test/host/two-hosts.test.ts',
  'examples/reference-host/test/rolling-restart.test.ts',
];
