// Where the code reads the time of the day or sets a bare timer, as data for `check-clocks.mjs`. Every other file takes a
// clock from its caller. A folder ends with a slash.

/** Files that read the time of the day themselves, each with its reason. */
export const TIME_OF_DAY = {
  'packages/host-kit/src/ports/clock.ts': 'the clock of the machine',
  'packages/host-kit/src/json-lines.ts': 'lines of a log show the time of the day',
  'packages/webhook-verify/src/webhook.ts': 'signatures carry the time of the day; the default of an option',
  'packages/webhook-verify/src/standard-webhooks/verify.ts':
    'signatures carry the time of the day; the default of an option',
  'packages/webhook-verify/src/dedup/sqlite.ts': 'handled deliveries are stored for days; the default of an option',
  'packages/webhook-verify/src/testing/': 'test deliveries are signed; the default of an option',
  'packages/webhook-verify/src/cli/start.ts': 'the command line signs and verifies now',
  'packages/auth/src/clock-of.ts': 'tokens and keys end at a time of the day; the default of an option',
  'packages/auth/src/cli/svc-auth-start.ts': 'the command line judges now',
  'packages/conformance/src/checks/interrupts.ts': 'an answer carries the time of its decision',
  'packages/conformance/src/steps/fixture-logs.ts': 'an answer carries the time of its decision',
  'packages/conformance/src/receiver/receiver.ts': 'signatures carry the time of the day',
  'packages/conformance/src/suite.ts': 'a report shows when it began',
};

/** Files that set timers themselves, each with its reason. Node's timers are monotonic. */
export const BARE_TIMERS = {
  'packages/host-kit/src/ports/clock.ts': 'the clock of the machine',
  'packages/host-kit/src/http/body.ts': 'a deadline of a socket',
  'packages/host-kit/src/adapters/': 'deadlines of sockets and of their server',
  'packages/host-kit/src/stores/sqlite/': 'looks after the files of a database on this machine',
  'packages/host-kit/src/stores/postgres/copy.ts': 'a deadline of a socket',
  'packages/host-kit/src/testing/engine/world.ts': 'waits for an engine under test, which may be another process',
  'packages/host-kit/src/stores/postgres/open-store.ts': 'renews a lease that the database times',
  'packages/auth/src/deadline.ts': 'the deadline of a request',
  'packages/auth/src/api-key/last-used.ts': 'gathers writes',
  'packages/auth/src/api-key/quota-ledger.ts': 'gathers writes',
  'packages/auth/src/dpop/sqlite.ts': 'waits for the lock of another process',
  'packages/egress-guard/src/node/': 'deadlines of sockets',
  'packages/webhook-verify/src/adapters/': 'deadlines of bodies',
  'packages/webhook-verify/src/after-timeout.ts': 'prolongs claims; the default of an option',
  'packages/conformance/src/sleep.ts': 'the one wait of the suite',
};
