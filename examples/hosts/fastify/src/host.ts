import { authenticator } from '@svc/auth';
import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { egressPolicy } from '@svc/egress-guard';
import { createHost } from '@svc/host-kit';
import { secretKeyFile } from '@svc/host-kit/node';
import { sqliteStore } from '@svc/host-kit/stores/sqlite';
import { served } from '@svc/versioning';
import { engine } from './engine.ts';

const { API_KEY_HASH, DATABASE = 'svc.db', RECEIVER_PORT } = process.env;
if (!API_KEY_HASH) throw new Error('API_KEY_HASH: is not set. Run npm run key, which writes it to .env.');

const keys = memoryKeyStore([
  {
    id: 'key_1',
    hash: API_KEY_HASH,
    tenant: 'acme',
    workspaces: ['main'],
    principal: 'p_1',
    scopes: ['runs:*', 'webhooks:manage', 'manifest:read'],
    mode: 'live',
  },
]);
const authenticate = [apiKeyLane({ keys, now: Date.now })];
const protocol = { versions: ['1.1', '2.0'], preferred: '1.1' };

/** The host. It answers every path of the protocol, and delivers webhooks once it is started. */
export const host = createHost({
  store: sqliteStore(DATABASE),
  // Made at the first start. Back it up together with the database.
  secretKey: secretKeyFile(`${DATABASE}-secret-key`),
  authenticate,
  engine,
  protocol,
  hasWorkspace: (tenant, workspace) => tenant === 'acme' && workspace === 'main',
  egress: egressPolicy({ allowLoopback: RECEIVER_PORT ? [Number(RECEIVER_PORT)] : false }),
  log: (record) => console.error(JSON.stringify(record)),
});

/** Authenticates the callers of the app's own routes as the host does. */
export const auth = authenticator({ lanes: authenticate });

/** The versions of the protocol that the app's own routes serve. */
export const versions = served(protocol);
