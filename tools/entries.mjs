/**
 * Every entry of every package, with its runtime. `entry-sizes.json` has its size.
 *
 * - `runtime`: `neutral` runs everywhere and imports no module of Node's; `node` needs Node.
 * - `promised`: the most thousand bytes, minified and gzipped, that users are told.
 * - `without`: modules that a dependency loads when its user has installed them and has switched on what they are for.
 */
export const ENTRIES = [
  { name: '@svc/webhook-verify', runtime: 'neutral', promised: 6.5 },
  { name: '@svc/webhook-verify/receive', runtime: 'neutral' },
  { name: '@svc/webhook-verify/events', runtime: 'neutral' },
  { name: '@svc/webhook-verify/standard-webhooks', runtime: 'neutral' },
  { name: '@svc/webhook-verify/dedup/memory', runtime: 'neutral' },
  { name: '@svc/webhook-verify/dedup/sqlite', runtime: 'node' },
  { name: '@svc/webhook-verify/dedup/postgres', runtime: 'neutral' },
  { name: '@svc/webhook-verify/fetch', runtime: 'neutral' },
  { name: '@svc/webhook-verify/node', runtime: 'node' },
  { name: '@svc/webhook-verify/express', runtime: 'node' },
  { name: '@svc/webhook-verify/fastify', runtime: 'node' },
  { name: '@svc/webhook-verify/hono', runtime: 'neutral' },
  { name: '@svc/webhook-verify/lambda', runtime: 'neutral' },
  { name: '@svc/webhook-verify/testing', runtime: 'neutral' },

  // 4 kB of this is ipaddr.js, the second reader of the operator's blocks (`parseCidr`); our own part keeps to 5 kB.
  { name: '@svc/egress-guard', runtime: 'neutral', promised: 9 },
  { name: '@svc/egress-guard/post', runtime: 'node' },
  { name: '@svc/egress-guard/fetch', runtime: 'node' },
  { name: '@svc/egress-guard/stream', runtime: 'node' },
  { name: '@svc/egress-guard/dispatcher', runtime: 'node' },
  { name: '@svc/egress-guard/agents', runtime: 'node' },

  { name: '@svc/versioning', runtime: 'neutral', promised: 6 },
  { name: '@svc/versioning/client', runtime: 'neutral' },
  { name: '@svc/versioning/axes', runtime: 'neutral' },
  { name: '@svc/versioning/fetch', runtime: 'neutral' },
  { name: '@svc/versioning/hono', runtime: 'neutral' },
  { name: '@svc/versioning/node', runtime: 'node' },
  { name: '@svc/versioning/express', runtime: 'node' },
  { name: '@svc/versioning/fastify', runtime: 'node' },
  { name: '@svc/versioning/ids', runtime: 'neutral' },
  { name: '@svc/versioning/events', runtime: 'neutral' },
  { name: '@svc/versioning/projection', runtime: 'neutral' },

  { name: '@svc/auth', runtime: 'neutral' },
  { name: '@svc/auth/api-key', runtime: 'neutral' },
  { name: '@svc/auth/bearer', runtime: 'neutral' },
  { name: '@svc/auth/introspection', runtime: 'neutral' },
  { name: '@svc/auth/status-list', runtime: 'neutral' },
  { name: '@svc/auth/logout', runtime: 'neutral' },
  { name: '@svc/auth/dpop', runtime: 'neutral' },
  { name: '@svc/auth/dpop/sqlite', runtime: 'node' },
  { name: '@svc/auth/dpop/postgres', runtime: 'neutral' },
  { name: '@svc/auth/mtls', runtime: 'neutral' },
  { name: '@svc/auth/workload', runtime: 'neutral' },
  { name: '@svc/auth/workload/x509', runtime: 'node' },
  { name: '@svc/auth/rate-limit', runtime: 'neutral' },
  { name: '@svc/auth/rate-limit/postgres', runtime: 'neutral' },
  { name: '@svc/auth/audit', runtime: 'neutral' },
  { name: '@svc/auth/explain', runtime: 'node' },
  { name: '@svc/auth/audit-tree', runtime: 'neutral' },
  { name: '@svc/auth/fetch', runtime: 'neutral' },
  { name: '@svc/auth/hono', runtime: 'neutral' },
  { name: '@svc/auth/node', runtime: 'node' },
  { name: '@svc/auth/express', runtime: 'node' },
  { name: '@svc/auth/fastify', runtime: 'node' },
  { name: '@svc/auth/policy', runtime: 'neutral' },
  { name: '@svc/auth/nestjs', runtime: 'node' },
  { name: '@svc/auth/next', runtime: 'neutral' },
  { name: '@svc/auth/h3', runtime: 'node' },
  { name: '@svc/auth/trpc', runtime: 'node' },

  // Nearly all of it is DBOS, and the parts of the kit that stay after tree shaking.
  {
    ...{ name: '@svc/engine-dbos', runtime: 'node' },
    without: [
      ...['@dbos-inc/dbos-enterprise', 'pg-native', 'winston', 'winston-transport'],
      ...['@opentelemetry/exporter-trace-otlp-proto', '@opentelemetry/exporter-logs-otlp-proto'],
      ...['@opentelemetry/sdk-logs', '@opentelemetry/sdk-trace-base', '@opentelemetry/context-async-hooks'],
    ],
  },
  // Nearly all of it is the SDK of Restate, which holds a module of WebAssembly.
  { name: '@svc/engine-restate', runtime: 'node' },

  { name: '@svc/host-kit', runtime: 'node' },
  { name: '@svc/host-kit/debug-bundle', runtime: 'neutral' },
  // mailauth and postal-mime are optional peers, and are measured with it.
  { name: '@svc/host-kit/email', runtime: 'node' },
  { name: '@svc/host-kit/engine/steps', runtime: 'node' },
  { name: '@svc/host-kit/mounts/a2a', runtime: 'node' },
  { name: '@svc/host-kit/mounts/chat', runtime: 'neutral' },
  { name: '@svc/host-kit/mounts/mcp', runtime: 'node' },
  { name: '@svc/host-kit/node', runtime: 'node' },
  { name: '@svc/host-kit/ports', runtime: 'neutral' },
  { name: '@svc/host-kit/changes/postgres', runtime: 'node' },
  { name: '@svc/host-kit/changes/sqlite', runtime: 'node' },
  // The client of the broker is an optional peer, and is measured with it.
  { name: '@svc/host-kit/queues/amqp', runtime: 'node' },
  { name: '@svc/host-kit/queues/nats', runtime: 'node' },
  { name: '@svc/host-kit/queues/pg-boss', runtime: 'node' },
  { name: '@svc/host-kit/queues/postgres', runtime: 'node' },
  { name: '@svc/host-kit/stores/memory', runtime: 'neutral' },
  // 0.4 kB of it keep its functions short; only servers load it.
  { name: '@svc/host-kit/stores/sqlite', runtime: 'node' },
  { name: '@svc/host-kit/stores/postgres', runtime: 'node' },
  { name: '@svc/host-kit/testing', runtime: 'node' },
  { name: '@svc/host-kit/testing/conformance', runtime: 'node' },
  // A whole host with its SQLite store, for tests alone.
  { name: '@svc/host-kit/testing/engine', runtime: 'node' },

  { name: '@svc/conformance', runtime: 'node' },

  // Nearly all of it are the compressed files of the page, each in Brotli and gzip.
  { name: '@svc/console', runtime: 'neutral' },
  { name: '@svc/console/portal', runtime: 'neutral' },
  { name: '@svc/console/portal-element', runtime: 'neutral' },
  { name: '@svc/console/portal-react', runtime: 'neutral' },

  { name: '@svc/create-host', runtime: 'node' },
];
