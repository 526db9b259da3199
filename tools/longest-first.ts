import { createHash } from 'node:crypto';
import { env } from 'node:process';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Starts the files that take longest first, and the others in vitest's own order, which is that of their size. A long file
 * that starts last keeps one core busy while the others rest. `SVC_TEST_ORDER=random` shuffles all files by `SVC_PROPERTY_SEED`: a
 * test that passes in one order alone is wrong.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    if (env.SVC_TEST_ORDER === 'random') return inRandomOrder(files, env.SVC_PROPERTY_SEED ?? '1');
    const others = await super.sort(files);
    const long = LONGEST.flatMap((path) => others.filter(({ moduleId }) => moduleId.endsWith(`/${path}`)));
    return [...long, ...others.filter((file) => !long.includes(file))];
  }
}

function inRandomOrder(files: readonly TestSpecification[], seed: string): TestSpecification[] {
  const rank = ({ moduleId }: TestSpecification) => createHash('sha256').update(`${seed} ${moduleId}`).digest('hex');
  return files
    .map((file) => ({ file, at: rank(file) }))
    .sort((one, other) => (one.at < other.at ? -1 : 1))
    .map(({ file }) => file);
}

/** Files that take longer than others, the longest first: those of `npm test`, and those that only CI runs. */
export const LONGEST = [
  'packages/host-kit/test/host/run-reach.test.ts',
  'packages/host-kit/test/stores/write-journal.test.ts',
  'examples/reference-host/test/approvals.test.ts',
  'examples/reference-host/test/questions.test.ts',
  'examples/reference-host/test/delivery-rules.test.ts',
  'examples/reference-host/test/interrupts.test.ts',
  'packages/host-kit/test/execution/effects.test.ts',
  'examples/reference-host/test/run-operations.test.ts',
  'examples/reference-host/test/event-streams.test.ts',
  'packages/host-kit/test/streams/poll.test.ts',
  'examples/reference-host/test/standard-webhooks.test.ts',
  'packages/host-kit/test/engine/contract.test.ts',
  'examples/reference-host/test/authentication.test.ts',
  'examples/reference-host/test/audit-log.test.ts',
  'packages/host-kit/test/streams/faults.test.ts',
  'packages/host-kit/test/host/require-keys.test.ts',
  'packages/host-kit/test/simulation/simulation.test.ts',
  'packages/host-kit/test/stores/contract-on-postgres.test.ts',
  'soak/soak.test.ts',
  'examples/reference-host/test/backup.test.ts',
  'examples/reference-host/test/postgres.test.ts',
  'examples/reference-host/test/conformance/conformance-on-postgres.test.ts',
  'packages/host-kit/test/host/two-hosts.test.ts',
  'examples/reference-host/test/rolling-restart.test.ts',
  'examples/reference-host/test/backup-postgres.test.ts',
  // Apart from each other, because both have deadlines.
  'examples/reference-host/test/conformance/conformance.test.ts',
  'examples/reference-host/test/conformance/faults.test.ts',
];
