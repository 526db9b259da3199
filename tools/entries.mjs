/**
 * Every entry of every package, with its runtime and its budget.
 *
 * - `runtime`: `neutral` runs everywhere and imports no module of Node's; `node` needs Node.
 * - `kB`: the most thousand bytes, minified and gzipped, with everything that it imports except Node's own modules. A neutral entry is
 *   measured as a browser gets it.
 * - `without`: modules that a dependency loads when its user has installed them and has switched on what they are for.
 */
export const ENTRIES = [
  { name: '@svc/webhook-verify', runtime: 'neutral', kB: 7 },
  { name: '@svc/webhook-verify/receive', runtime: 'neutral', kB: 7 },
  { name: '@svc/webhook-verify/events', runtime: 'neutral', kB: 2 },
  { name: '@svc/webhook-verify/standard-webhooks', runtime: 'neutral', kB: 7 },
  { name: '@svc/webhook-verify/dedup/memory', runtime: 'neutral', kB: 1 },
  { name: '@svc/webhook-verify/dedup/sqlite', runtime: 'node', kB: 2 },
  { name: '@svc/webhook-verify/dedup/postgres', runtime: 'neutral', kB: 2 },
  { name: '@svc/webhook-verify/fetch', runtime: 'neutral', kB: 8 },
  { name: '@svc/webhook-verify/node', runtime: 'node', kB: 5 },
  { name: '@svc/webhook-verify/express', runtime: 'node', kB: 5 },
  { name: '@svc/webhook-verify/fastify', runtime: 'node', kB: 5 },
  { name: '@svc/webhook-verify/hono', runtime: 'neutral', kB: 8 },
  { name: '@svc/webhook-verify/lambda', runtime: 'neutral', kB: 8 },
  { name: '@svc/webhook-verify/testing', runtime: 'neutral', kB: 6 },

  // 4 kB of this is ipaddr.js, the second reader of the operator's blocks (`parseCidr`); our own part keeps to 5 kB.
  { name: '@svc/egress-guard', runtime: 'neutral', kB: 9 },
  { name: '@svc/egress-guard/post', runtime: 'node', kB: 18 },
  { name: '@svc/egress-guard/fetch', runtime: 'node', kB: 18 },
  { name: '@svc/egress-guard/stream', runtime: 'node', kB: 18 },
  { name: '@svc/egress-guard/dispatcher', runtime: 'node', kB: 280 },
  { name: '@svc/egress-guard/agents', runtime: 'node', kB: 18 },

  { name: '@svc/versioning', runtime: 'neutral', kB: 6 },
  { name: '@svc/versioning/client', runtime: 'neutral', kB: 2 },
  { name: '@svc/versioning/axes', runtime: 'neutral', kB: 4 },
  { name: '@svc/versioning/axes/run-documents', runtime: 'neutral', kB: 1 },
  { name: '@svc/versioning/fetch', runtime: 'neutral', kB: 6 },
  { name: '@svc/versioning/hono', runtime: 'neutral', kB: 6 },
  { name: '@svc/versioning/node', runtime: 'node', kB: 6 },
  { name: '@svc/versioning/express', runtime: 'node', kB: 6 },
  { name: '@svc/versioning/fastify', runtime: 'node', kB: 6 },
  { name: '@svc/versioning/ids', runtime: 'neutral', kB: 2 },
  { name: '@svc/versioning/events', runtime: 'neutral', kB: 2 },
  { name: '@svc/versioning/projection', runtime: 'neutral', kB: 1 },

  { name: '@svc/auth', runtime: 'neutral', kB: 13.8 },
  { name: '@svc/auth/api-key', runtime: 'neutral', kB: 11 },
  { name: '@svc/auth/bearer', runtime: 'neutral', kB: 24 },
  { name: '@svc/auth/introspection', runtime: 'neutral', kB: 24 },
  { name: '@svc/auth/status-list', runtime: 'neutral', kB: 20 },
  { name: '@svc/auth/logout', runtime: 'neutral', kB: 20 },
  { name: '@svc/auth/dpop', runtime: 'neutral', kB: 20 },
  { name: '@svc/auth/dpop/sqlite', runtime: 'node', kB: 2.5 },
  { name: '@svc/auth/dpop/postgres', runtime: 'neutral', kB: 2.5 },
  { name: '@svc/auth/mtls', runtime: 'neutral', kB: 20 },
  { name: '@svc/auth/workload', runtime: 'neutral', kB: 40 },
  { name: '@svc/auth/workload/x509', runtime: 'node', kB: 20 },
  { name: '@svc/auth/rate-limit', runtime: 'neutral', kB: 4.2 },
  { name: '@svc/auth/rate-limit/postgres', runtime: 'neutral', kB: 7.1 },
  { name: '@svc/auth/audit', runtime: 'neutral', kB: 10 },
  { name: '@svc/auth/explain', runtime: 'node', kB: 20 },
  { name: '@svc/auth/audit-tree', runtime: 'neutral', kB: 8 },
  { name: '@svc/auth/fetch', runtime: 'neutral', kB: 6 },
  { name: '@svc/auth/hono', runtime: 'neutral', kB: 6 },
  { name: '@svc/auth/node', runtime: 'node', kB: 6 },
  { name: '@svc/auth/express', runtime: 'node', kB: 6 },
  { name: '@svc/auth/fastify', runtime: 'node', kB: 6 },
  { name: '@svc/auth/policy', runtime: 'neutral', kB: 4 },
  { name: '@svc/auth/nestjs', runtime: 'node', kB: 6 },
  { name: '@svc/auth/next', runtime: 'neutral', kB: 6 },
  { name: '@svc/auth/h3', runtime: 'node', kB: 6 },
  { name: '@svc/auth/trpc', runtime: 'node', kB: 6 },

  // Nearly all of it is DBOS, and the parts of the kit that stay after tree shaking.
  {
    ...{ name: '@svc/engine-dbos', runtime: 'node', kB: 340 },
    without: [
      ...['@dbos-inc/dbos-enterprise', 'pg-native', 'winston', 'winston-transport'],
      ...['@opentelemetry/exporter-trace-otlp-proto', '@opentelemetry/exporter-logs-otlp-proto'],
      ...['@opentelemetry/sdk-logs', '@opentelemetry/sdk-trace-base', '@opentelemetry/context-async-hooks'],
    ],
  },
  // Nearly all of it is the SDK of Restate, which holds a module of WebAssembly.
  { name: '@svc/engine-restate', runtime: 'node', kB: 1000 },

  { name: '@svc/host-kit', runtime: 'node', kB: 530 },
  { name: '@svc/host-kit/debug-bundle', runtime: 'neutral', kB: 8 },
  { name: '@svc/host-kit/discovery', runtime: 'neutral', kB: 110 },
  // mailauth and postal-mime are optional peers, and are measured with it.
  { name: '@svc/host-kit/email', runtime: 'node', kB: 480 },
  { name: '@svc/host-kit/engine/steps', runtime: 'node', kB: 7 },
  { name: '@svc/host-kit/mounts/a2a', runtime: 'node', kB: 150 },
  { name: '@svc/host-kit/mounts/chat', runtime: 'neutral', kB: 110 },
  { name: '@svc/host-kit/mounts/mcp', runtime: 'node', kB: 250 },
  { name: '@svc/host-kit/node', runtime: 'node', kB: 14 },
  { name: '@svc/host-kit/ports', runtime: 'neutral', kB: 1.5 },
  { name: '@svc/host-kit/changes/postgres', runtime: 'node', kB: 40 },
  { name: '@svc/host-kit/changes/sqlite', runtime: 'node', kB: 3 },
  // The client of the broker is an optional peer, and is measured with it.
  { name: '@svc/host-kit/queues/amqp', runtime: 'node', kB: 60 },
  { name: '@svc/host-kit/queues/nats', runtime: 'node', kB: 80 },
  { name: '@svc/host-kit/queues/pg-boss', runtime: 'node', kB: 80 },
  { name: '@svc/host-kit/queues/postgres', runtime: 'node', kB: 40 },
  { name: '@svc/host-kit/stores/memory', runtime: 'neutral', kB: 17 },
  // 0.4 kB of it keep its functions short; only servers load it.
  { name: '@svc/host-kit/stores/sqlite', runtime: 'node', kB: 43.5 },
  { name: '@svc/host-kit/stores/postgres', runtime: 'node', kB: 71.5 },
  { name: '@svc/host-kit/testing', runtime: 'node', kB: 32.5 },
  // A whole host with its SQLite store, for tests alone.
  { name: '@svc/host-kit/testing/engine', runtime: 'node', kB: 420 },

  { name: '@svc/conformance', runtime: 'node', kB: 205 },

  // Nearly all of it are the compressed files of the page, each in Brotli and gzip.
  { name: '@svc/console', runtime: 'neutral', kB: 90 },
  { name: '@svc/console/portal', runtime: 'neutral', kB: 52 },
  { name: '@svc/console/portal-element', runtime: 'neutral', kB: 1.5 },
  { name: '@svc/console/portal-react', runtime: 'neutral', kB: 2 },

  { name: '@svc/create-host', runtime: 'node', kB: 4 },
];
