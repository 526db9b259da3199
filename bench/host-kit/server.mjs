// One server of the benchmark as a process of its own: `node server.mjs bare|ours|audited`. Prints its port.

import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { argv } from 'node:process';
import { getRequestListener } from '@hono/node-server';
import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { ed25519Signer } from '@svc/auth/audit';
import { memoryRateLimiter } from '@svc/auth/rate-limit';
import { createHost, systemRandom } from '@svc/host-kit';
import { toNodeListener } from '@svc/host-kit/node';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { Hono } from 'hono';
import { KEY, RUN } from './fixtures.mjs';

const LISTENERS = {
  bare: async () => {
    const app = new Hono();
    app.get('/v1/runs/:runId', (context) => context.json(RUN));
    return getRequestListener(app.fetch, { overrideGlobalObjects: false });
  },
  ours: async () => toNodeListener(await host({})),
  audited: async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const signer = await ed25519Signer(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    return toNodeListener(await host({ audit: { signer } }));
  },
};

/** Starts a host with one run and one API key that can read it. */
async function host(options) {
  const store = memoryStore();
  await store.transaction((transaction) => store.runs.insert(RUN, transaction));
  const record = {
    id: 'key_1',
    hash: hashApiKey(KEY),
    tenant: 'acme',
    workspaces: ['acme-prod'],
    principal: 'p_7f3a',
    scopes: ['runs:read'],
    mode: 'live',
  };
  const made = createHost({
    store,
    authenticate: [apiKeyLane({ keys: memoryKeyStore([record]) })],
    engine: async () => ({}),
    secretKey: systemRandom(32),
    http: { rateLimit: memoryRateLimiter({ limit: 1_000_000_000, windowSeconds: 60 }) },
    ...options,
  });
  await made.start();
  return made;
}

const server = createServer(await LISTENERS[argv[2]]());
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
