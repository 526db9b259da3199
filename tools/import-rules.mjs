// Who may import whom, as data for `check-imports.mjs`.

const LEAVES = ['@svc/webhook-verify', '@svc/egress-guard', '@svc/versioning', '@svc/auth'];

/** The project's own packages that each workspace may import. The four leaves import none of each other. */
export const WORKSPACES = {
  'packages/webhook-verify': [],
  'packages/egress-guard': [],
  'packages/versioning': [],
  'packages/auth': [],
  'packages/host-kit': LEAVES,
  'examples/reference-host': ['@svc/host-kit', ...LEAVES],
  'examples/subscriber': ['@svc/webhook-verify'],
  tools: [],
};

/** What only the tests of every workspace may import besides. */
export const FOR_TESTS = ['@svc/tools'];

/** Files of the root that a workspace's configuration may import. */
export const CONFIGURATION = ['tsup.base.ts'];

/** What every room of the kit stands on: it stands on nothing but itself. */
const GROUND = [
  'clock.ts',
  'errors.ts',
  'group-commit.ts',
  'json.ts',
  'log.ts',
  'lookup.ts',
  'random.ts',
  'transaction.ts',
  'upkeep.ts',
];

/** What the host is about. It reaches a store through the ports that `stores/store.ts` bundles. */
const DOMAIN = [
  'audit',
  'health',
  'runs',
  'interrupts',
  'streams',
  'webhooks',
  'discovery',
  'idempotency',
  'workspace',
  'sealing',
  'byok',
];
const PORTS = 'stores/store.ts';

/**
 * Inside host-kit: host → routes → domain → ports ← stores. Each room, a folder or a file of `src`, with the rooms that it may
 * import; its own files and the ground go without saying. The longest name that fits is a file's room.
 */
export const ROOMS = {
  folder: 'packages/host-kit/src',
  ground: GROUND,
  mayImport: {
    ...Object.fromEntries(GROUND.map((file) => [file, []])),
    ...Object.fromEntries(DOMAIN.map((room) => [room, [...DOMAIN, PORTS]])),
    [PORTS]: DOMAIN,
    'stores/memory': [...DOMAIN, PORTS],
    'stores/sql': DOMAIN,
    'stores/sqlite': [...DOMAIN, PORTS, 'stores/sql'],
    'stores/postgres': [...DOMAIN, PORTS, 'stores/sql'],
    http: ['idempotency'],
    wire: DOMAIN,
    openapi: ['http', 'discovery', 'streams'],
    telemetry: ['http', ...DOMAIN, PORTS],
    mounts: ['http', 'wire', ...DOMAIN, PORTS],
    routes: ['http', 'wire', 'openapi', ...DOMAIN],
    'options.ts': ['http', 'mounts', ...DOMAIN, PORTS, 'telemetry'],
    host: ['version.ts', 'options.ts', 'telemetry', 'routes', 'mounts', 'http', 'wire', ...DOMAIN, PORTS],
    'host.ts': ['host', 'options.ts', 'http', ...DOMAIN],
    'version.ts': [],
    'index.ts': ['version.ts', 'wire', 'host.ts', 'options.ts', 'mounts', 'telemetry', ...DOMAIN, PORTS],
    adapters: ['host.ts'],
    testing: [...DOMAIN, PORTS],
    // It looks at hosts from outside, so it knows nothing of this one.
    conformance: [],
  },
};

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
