/**
 * Every entry of every package, with its runtime and its budget.
 *
 * - `runtime`: `neutral` runs everywhere and imports no module of Node's; `node` needs Node.
 * - `kB`: the most thousand bytes, minified and gzipped, with everything that it imports except Node's own modules. A neutral entry is
 *   measured as a browser gets it.
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
  { name: '@svc/egress-guard/post', runtime: 'node', kB: 280 },
  { name: '@svc/egress-guard/fetch', runtime: 'node', kB: 280 },
  { name: '@svc/egress-guard/dispatcher', runtime: 'node', kB: 280 },
  { name: '@svc/egress-guard/agents', runtime: 'node', kB: 280 },

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

  { name: '@svc/auth', runtime: 'neutral', kB: 7 },
  { name: '@svc/auth/api-key', runtime: 'neutral', kB: 7 },
  { name: '@svc/auth/bearer', runtime: 'neutral', kB: 24 },
  { name: '@svc/auth/dpop', runtime: 'neutral', kB: 20 },
  { name: '@svc/auth/mtls', runtime: 'neutral', kB: 20 },
  { name: '@svc/auth/workload', runtime: 'neutral', kB: 40 },
  { name: '@svc/auth/workload/x509', runtime: 'node', kB: 20 },
  { name: '@svc/auth/rate-limit', runtime: 'neutral', kB: 4 },
  { name: '@svc/auth/rate-limit/postgres', runtime: 'node', kB: 60 },
  { name: '@svc/auth/audit', runtime: 'neutral', kB: 10 },
  { name: '@svc/auth/fetch', runtime: 'neutral', kB: 6 },
  { name: '@svc/auth/hono', runtime: 'neutral', kB: 6 },
  { name: '@svc/auth/node', runtime: 'node', kB: 6 },
  { name: '@svc/auth/express', runtime: 'node', kB: 6 },
  { name: '@svc/auth/fastify', runtime: 'node', kB: 6 },

  { name: '@svc/host-kit', runtime: 'node', kB: 480 },
  { name: '@svc/host-kit/discovery', runtime: 'neutral', kB: 110 },
  { name: '@svc/host-kit/mounts/a2a', runtime: 'node', kB: 150 },
  { name: '@svc/host-kit/mounts/chat', runtime: 'neutral', kB: 110 },
  { name: '@svc/host-kit/mounts/mcp', runtime: 'node', kB: 250 },
  { name: '@svc/host-kit/node', runtime: 'node', kB: 10 },
  { name: '@svc/host-kit/ports', runtime: 'neutral', kB: 1 },
  { name: '@svc/host-kit/stores/memory', runtime: 'neutral', kB: 10 },
  // 0.4 kB of it keep its functions short; only servers load it.
  { name: '@svc/host-kit/stores/sqlite', runtime: 'node', kB: 18 },
  { name: '@svc/host-kit/stores/postgres', runtime: 'node', kB: 60 },
  { name: '@svc/host-kit/testing', runtime: 'node', kB: 12.5 },

  { name: '@svc/conformance', runtime: 'node', kB: 185 },

  { name: '@svc/create-host', runtime: 'node', kB: 4 },
];
