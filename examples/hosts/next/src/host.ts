import { type Authenticator, authenticator } from '@svc/auth';
import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { egressPolicy } from '@svc/egress-guard';
import { createHost, type Host } from '@svc/host-kit';
import { secretKeyFile } from '@svc/host-kit/node';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { engine } from './engine.ts';

/** The versions of the protocol that are served. */
export const protocol = { versions: ['1.1', '2.0'], preferred: '1.1' };

interface Running {
  /** Answers every path of the protocol, and delivers webhooks. */
  readonly host: Host;
  /** Authenticates the callers of the app's own routes as the host does. */
  readonly auth: Authenticator;
}

/** Next.js loads this module more than once in a process, and a store has one owner: so the host is kept here. */
const kept = globalThis as typeof globalThis & { svcHost?: Running };

/** Returns the host of this process. It is made at the first call, because Next.js has no variables while it builds. */
export function running(): Running {
  kept.svcHost ??= make();
  return kept.svcHost;
}

function make(): Running {
  const { API_KEY_HASH, DATABASE = 'svc.db', RECEIVER_PORT } = process.env;
  if (!API_KEY_HASH) throw new Error('API_KEY_HASH: is not set. Run npm run key, which writes it to .env.');
  const keys = memoryKeyStore(
    API_KEY_HASH.split(',').map((hash) => ({
      id: `key_${hash.slice(0, 12)}`,
      hash,
      tenant: 'acme',
      workspaces: ['main'],
      principal: 'p_1',
      scopes: ['runs:*', 'webhooks:manage', 'manifest:read'],
      mode: 'live',
    })),
  );
  const authenticate = [apiKeyLane({ keys })];
  const host = createHost({
    store: sqliteStore(DATABASE),
    // Made at the first start. Back it up together with the database.
    secretKey: secretKeyFile(`${DATABASE}-secret-key`),
    authenticate,
    engine,
    protocol,
    // Next.js removes the header Content-Encoding, so no client could read a compressed answer.
    http: { contentEncodings: [] },
    authorization: { hasWorkspace: (tenant, workspace) => tenant === 'acme' && workspace === 'main' },
    egress: egressPolicy({ allowLoopback: RECEIVER_PORT ? [Number(RECEIVER_PORT)] : false }),
    ports: { log: (record) => console.error(JSON.stringify(record)) },
  });
  return { host, auth: authenticator({ lanes: authenticate }) };
}
