/**
 * The test files that only CI runs: they kill, restart, upgrade or overload hosts for minutes, or judge a host once for each
 * planted fault. `npm test` leaves them out, so that it ends within eight minutes on two cores.
 * `npm test -- --project ci-only` runs them, and so does `npm test -- FILE`.
 */
export const CI_ONLY_TESTS: readonly string[] = [
  'examples/reference-host/test/backup-postgres.test.ts',
  'examples/reference-host/test/backup.test.ts',
  'examples/reference-host/test/access-on-hosts.test.ts',
  'examples/reference-host/test/conformance/conformance-on-postgres.test.ts',
  'examples/reference-host/test/back-to-back.test.ts',
  'examples/reference-host/test/conformance/faults.test.ts',
  'examples/reference-host/test/key-rollover.test.ts',
  'examples/reference-host/test/keys-on-hosts.test.ts',
  'examples/reference-host/test/older-records.test.ts',
  'examples/reference-host/test/postgres.test.ts',
  'examples/reference-host/test/retire-major-1.test.ts',
  'examples/reference-host/test/rolling-restart.test.ts',
  'examples/reference-host/test/surroundings.test.ts',
  'packages/host-kit/test/engine/broken-engines.test.ts',
  'packages/host-kit/test/host/steady-use.test.ts',
  'packages/host-kit/test/host/two-hosts.test.ts',
  'packages/host-kit/test/stores/write-ahead-log.test.ts',
  'packages/host-kit/test/triggers/change-two-hosts.test.ts',
  'packages/host-kit/test/triggers/schedule-kill.test.ts',
  'packages/host-kit/test/triggers/schedule-two-hosts.test.ts',
  'packages/host-kit/test/triggers/stream-kill.test.ts',
  'packages/host-kit/test/triggers/two-hosts.test.ts',
  'soak/soak.test.ts',
  'tools/postgres.test.ts',
  'tools/start-pages.test.ts',
];
