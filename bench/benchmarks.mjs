/**
 * The benchmarks by name. Each prints and returns its figures, and is loaded only when it runs, so that none slows
 * another.
 */
export const BENCHMARKS = {
  verify: async () => (await import('./webhook-verify/verify.mjs')).default(),
  'verify-runtimes': async () => (await import('./webhook-verify/runtimes.mjs')).default(),
  'verify-portable': async () => (await import('./webhook-verify/portable.mjs')).default(),
  judgement: async () => (await import('./egress-guard/judgement.mjs')).default(),
  post: async () => (await import('./egress-guard/post.mjs')).default(),
  negotiate: async () => (await import('./versioning/negotiate.mjs')).default(),
  'api-key': async () => (await import('./auth/api-key.mjs')).default(),
  tokens: async () => (await import('./auth/tokens.mjs')).default(),
  middleware: async () => (await import('./auth/middleware.mjs')).default(),
  proofs: async () => (await import('./auth/proofs.mjs')).default(),
  keys: async () => (await import('./host-kit/keys.mjs')).default(),
  revoke: async () => (await import('./host-kit/revoke.mjs')).default(),
  pipeline: async () => (await import('./host-kit/pipeline.mjs')).default(),
  streams: async () => (await import('./host-kit/streams.mjs')).default(),
  redaction: async () => (await import('./host-kit/redaction.mjs')).default(),
  deliver: async () => (await import('./host-kit/deliver.mjs')).default(),
  engines: async () => (await import('./engines/engines.mjs')).default(),
  'two-hosts': async () => (await import('./host-kit/two-hosts.mjs')).default(),
  noisy: async () => (await import('./host-kit/noisy.mjs')).default(),
  neighbours: async () => (await import('./host-kit/neighbours.mjs')).default(),
  snapshot: async () => (await import('./host-kit/snapshot.mjs')).default(),
  growth: async () => (await import('./host-kit/growth.mjs')).default(),
  memory: async () => (await import('./host-kit/memory.mjs')).default(),
  year: async () => (await import('./host-kit/year.mjs')).default(),
  size: async () => (await import('./size.mjs')).default(),
  import: async () => (await import('./import-time.mjs')).default(),
};
