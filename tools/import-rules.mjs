// Who may import whom, as data for `check-imports.mjs`.

const LEAVES = ['@svc/webhook-verify', '@svc/egress-guard', '@svc/versioning', '@svc/auth'];

/** The project's own packages that each workspace may import. The four leaves import none of each other. */
export const WORKSPACES = {
  'packages/webhook-verify': [],
  'packages/egress-guard': [],
  'packages/versioning': [],
  'packages/auth': [],
  'packages/host-kit': LEAVES,
  // An engine knows the port and the values of the kit.
  'packages/engine-dbos': ['@svc/host-kit'],
  'packages/engine-restate': ['@svc/host-kit'],
  // It tests hosts from outside, so it knows nothing of ours.
  'packages/conformance': [],
  // Its page knows a host by the API alone.
  'packages/console': [],
  'packages/create-host': [],
  // Both create projects in the same way, from templates of their own.
  'packages/create-receiver': ['@svc/create-host'],
  // `npm start` brings the database of an engine.
  'examples/reference-host': [
    '@svc/host-kit',
    '@svc/engine-dbos',
    '@svc/engine-restate',
    '@svc/console',
    '@svc/conformance',
    '@svc/tools',
    ...LEAVES,
  ],
  'examples/subscriber': ['@svc/webhook-verify'],
  tools: [],
};

/** Packages that the tests of every workspace may import. */
export const FOR_TESTS = ['@svc/tools'];

/** Files of the root that a workspace's configuration may import. */
export const CONFIGURATION = ['tsup.base.ts'];

/** The rooms below all others, in their order: each imports only rooms before it. */
const GROUND = [
  ...[
    'json.ts',
    'json-schema.ts',
    'errors.ts',
    'lookup.ts',
    'known-options.ts',
    'field-problems.ts',
    'nearest.ts',
    'host-scopes.ts',
    'scope-fault.ts',
    'unhandled-rejections.ts',
    'as-json.ts',
  ],
  ...['events', 'ports', 'json-lines.ts', 'flood-guard.ts', 'standard-error-log.ts'],
  ...[
    'group-commit.ts',
    'periodic-task.ts',
    'in-steps.ts',
    'postgres-driver.ts',
    'without-place.ts',
    'ids-in-order.ts',
  ],
];

/** The domain, in its order: each room imports only the ground and rooms before it. It reaches a store through `ports` alone. */
const DOMAIN = [
  'audit',
  'sealing',
  'idempotency',
  'keys',
  'access',
  'workspace',
  'runs',
  'interrupts',
  'webhooks',
  'portal',
  'streams',
  'execution',
  'triggers',
  'debug-bundle',
  'health',
  'versions',
  'discovery',
];

/** The options of a host, and the type of each of their sections with its defaults. */
const OPTIONS = ['options.ts', 'options'];

/**
 * Inside host-kit: host → routes, mounts → domain → ports ← stores. Each room is a folder or a file of `src`, with the rooms that
 * it may import. A file belongs to the room with the longest name that fits. Rooms form no cycle: `check-imports.mjs` verifies it.
 */
export const ROOMS = {
  folder: 'packages/host-kit/src',
  mayImport: {
    ...inOrder([...GROUND, ...DOMAIN]),
    'stores/passed-over.ts': GROUND,
    'stores/stored-run.ts': GROUND,
    'stores/in-turns.ts': GROUND,
    'stores/audit-list.ts': GROUND,
    'stores/memory': [
      ...GROUND,
      'stores/passed-over.ts',
      'stores/stored-run.ts',
      'stores/in-turns.ts',
      'stores/audit-list.ts',
    ],
    'stores/migration.ts': GROUND,
    'stores/sql': [...GROUND, 'stores/passed-over.ts', 'stores/stored-run.ts'],
    'stores/sqlite': [
      ...GROUND,
      'stores/migration.ts',
      'stores/passed-over.ts',
      'stores/stored-run.ts',
      'stores/sql',
      'stores/in-turns.ts',
      'stores/audit-list.ts',
    ],
    'stores/postgres': [
      ...GROUND,
      'stores/migration.ts',
      'stores/passed-over.ts',
      'stores/stored-run.ts',
      'stores/sql',
      'stores/in-turns.ts',
      'stores/audit-list.ts',
    ],
    // A broker knows the port alone.
    queues: GROUND,
    // A reader of messages, too.
    email: GROUND,
    // A source of changes knows the port alone.
    changes: GROUND,
    http: [...GROUND, 'idempotency'],
    wire: [...GROUND, ...DOMAIN],
    openapi: [...GROUND, 'http', 'discovery', 'streams'],
    telemetry: [...GROUND, 'http', ...DOMAIN],
    mounts: [...GROUND, 'http', 'wire', ...DOMAIN],
    routes: [...GROUND, 'http', 'wire', 'openapi', ...DOMAIN],
    options: [...GROUND, 'http', 'mounts', ...DOMAIN, 'telemetry'],
    'options.ts': [...GROUND, 'http', 'options', 'mounts', ...DOMAIN, 'telemetry'],
    host: [...GROUND, 'version.ts', ...OPTIONS, 'telemetry', 'routes', 'mounts', 'http', 'wire', ...DOMAIN],
    'host.ts': [...GROUND, 'host', 'options.ts', 'http', ...DOMAIN],
    'version.ts': [],
    'index.ts': [...GROUND, 'version.ts', 'http', 'wire', 'host.ts', ...OPTIONS, 'mounts', 'telemetry', ...DOMAIN],
    adapters: [...GROUND, 'host.ts', 'http'],
    cli: ['debug-bundle', 'version.ts'],
    'keys-cli': [...GROUND, 'audit', 'keys', 'wire', 'stores/sqlite', 'stores/postgres', 'version.ts'],
    // An engine knows the port alone.
    engine: GROUND,
    testing: [...GROUND, ...DOMAIN],
    // Its workflows are of the engine of steps.
    'testing/conformance': [...GROUND, 'engine'],
    // It tests an engine in a whole host.
    'testing/engine': [...GROUND, ...DOMAIN, 'host.ts', 'stores/sqlite'],
  },
};

/** Each room with the rooms before it. */
function inOrder(rooms) {
  return Object.fromEntries(rooms.map((room, index) => [room, rooms.slice(0, index)]));
}

/** Modules that have a home; everyone else asks there. */
export const HOMES = {
  undici: ['packages/egress-guard/src/node'],
  // It reads the operator's blocks, and no address that is judged.
  'ipaddr.js': ['packages/egress-guard/src/cidr.ts'],
  'node:sqlite': [
    'packages/host-kit/src/stores/sqlite',
    'packages/host-kit/src/changes/sqlite',
    'packages/webhook-verify/src/dedup',
    'packages/auth/src/dpop',
    'packages/auth/src/cli/store-file.ts',
  ],
  pg: [
    'packages/host-kit/src/postgres-driver.ts',
    'packages/host-kit/src/stores/postgres',
    'packages/host-kit/src/queues/postgres',
    'packages/host-kit/src/changes/postgres',
    'examples/reference-host/src/caller-records.ts',
  ],
  '@nats-io/jetstream': ['packages/host-kit/src/queues/nats'],
  '@nats-io/transport-node': ['packages/host-kit/src/queues/nats'],
  amqplib: ['packages/host-kit/src/queues/amqp'],
  'pg-boss': ['packages/host-kit/src/queues/pg-boss'],
  mailauth: ['packages/host-kit/src/email'],
  'postal-mime': ['packages/host-kit/src/email'],
  '@dbos-inc/dbos-sdk': ['packages/engine-dbos/src'],
  '@restatedev/restate-sdk': ['packages/engine-restate/src'],
  '@hono/node-server': ['packages/host-kit/src/adapters'],
  '@opentelemetry/api': ['packages/host-kit/src/telemetry'],
};

/** Rooms without input and output: no module of Node's. */
export const WITHOUT_IO = ['packages/host-kit/src/wire'];

/** Names that say nothing, for a file or a folder. */
export const DRAWERS = ['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'misc', 'types', 'constants'];
