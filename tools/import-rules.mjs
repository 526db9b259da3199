// Who may import whom, as data for `check-imports.mjs`.

const LEAVES = ['@svc/webhook-verify', '@svc/egress-guard', '@svc/versioning', '@svc/auth'];

/** The project's own packages that each workspace may import. The four leaves import none of each other. */
export const WORKSPACES = {
  'packages/webhook-verify': [],
  'packages/egress-guard': [],
  'packages/versioning': [],
  'packages/auth': [],
  'packages/host-kit': LEAVES,
  // It tests hosts from outside, so it knows nothing of ours.
  'packages/conformance': [],
  'packages/create-host': [],
  // Both create projects in the same way, from templates of their own.
  'packages/create-receiver': ['@svc/create-host'],
  'examples/reference-host': ['@svc/host-kit', '@svc/conformance', ...LEAVES],
  'examples/subscriber': ['@svc/webhook-verify'],
  tools: [],
};

/** Packages that the tests of every workspace may import. */
export const FOR_TESTS = ['@svc/tools'];

/** Files of the root that a workspace's configuration may import. */
export const CONFIGURATION = ['tsup.base.ts'];

/** The rooms below all others, in their order: each imports only rooms before it. */
const GROUND = [
  ...['json.ts', 'json-schema.ts', 'errors.ts', 'lookup.ts', 'known-options.ts'],
  ...['events', 'ports', 'group-commit.ts', 'periodic-task.ts'],
];

/** The domain, in its order: each room imports only the ground and rooms before it. It reaches a store through `ports` alone. */
const DOMAIN = [
  'audit',
  'sealing',
  'idempotency',
  'workspace',
  'runs',
  'interrupts',
  'webhooks',
  'streams',
  'execution',
  'health',
  'discovery',
];

/**
 * Inside host-kit: host → routes, mounts → domain → ports ← stores. Each room is a folder or a file of `src`, with the rooms that
 * it may import. A file belongs to the room with the longest name that fits. Rooms form no cycle: `check-imports.mjs` verifies it.
 */
export const ROOMS = {
  folder: 'packages/host-kit/src',
  mayImport: {
    ...inOrder([...GROUND, ...DOMAIN]),
    'stores/stored-run.ts': GROUND,
    'stores/memory': [...GROUND, 'stores/stored-run.ts'],
    'stores/sql': [...GROUND, 'stores/stored-run.ts'],
    'stores/sqlite': [...GROUND, 'stores/sql'],
    'stores/postgres': [...GROUND, 'stores/sql'],
    http: [...GROUND, 'idempotency'],
    wire: [...GROUND, ...DOMAIN],
    openapi: [...GROUND, 'http', 'discovery', 'streams'],
    telemetry: [...GROUND, 'http', ...DOMAIN],
    mounts: [...GROUND, 'http', 'wire', ...DOMAIN],
    routes: [...GROUND, 'http', 'wire', 'openapi', ...DOMAIN],
    'options.ts': [...GROUND, 'http', 'mounts', ...DOMAIN, 'telemetry'],
    host: [...GROUND, 'version.ts', 'options.ts', 'telemetry', 'routes', 'mounts', 'http', 'wire', ...DOMAIN],
    'host.ts': [...GROUND, 'host', 'options.ts', 'http', ...DOMAIN],
    'version.ts': [],
    'index.ts': [...GROUND, 'version.ts', 'http', 'wire', 'host.ts', 'options.ts', 'mounts', 'telemetry', ...DOMAIN],
    adapters: [...GROUND, 'host.ts'],
    testing: [...GROUND, ...DOMAIN],
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
  'node:sqlite': ['packages/host-kit/src/stores/sqlite', 'packages/webhook-verify/src/dedup'],
  pg: ['packages/host-kit/src/stores/postgres'],
  '@hono/node-server': ['packages/host-kit/src/adapters'],
  '@opentelemetry/api': ['packages/host-kit/src/telemetry'],
};

/** Rooms without input and output: no module of Node's. */
export const WITHOUT_IO = ['packages/host-kit/src/wire'];

/** Names that say nothing, for a file or a folder. */
export const DRAWERS = ['utils', 'util', 'helpers', 'helper', 'common', 'shared', 'misc', 'types', 'constants'];
