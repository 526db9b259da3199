import { type Authenticator, authenticator } from '@svc/auth';
import { apiKeyLane, memoryKeyStore } from '@svc/auth/api-key';
import { egressPolicy } from '@svc/egress-guard';
import { createHost, type Host, type Store } from '@svc/host-kit';
import { type Served, served } from '@svc/versioning';
import { engine } from './engine.ts';

export interface HostOptions {
  /** The hashes of the API keys. */
  readonly keyHashes: readonly string[];
  readonly store: Store;
  /** Encrypts the secrets in the store. */
  readonly secretKey: Uint8Array;
  /** Development only: the port of a receiver of webhooks on this machine. */
  readonly receiverPort?: number | undefined;
}

export interface AppHost {
  /** Answers every path of the protocol, and delivers webhooks once it is started. */
  readonly host: Host;
  /** Authenticates the callers of the app's own routes as the host does. */
  readonly auth: Authenticator;
  /** The versions of the protocol that the app's own routes serve. */
  readonly versions: Served;
}

/** Makes the host. `main.ts` starts it, and the tests make one that forgets. */
export function makeHost({ keyHashes, store, secretKey, receiverPort }: HostOptions): AppHost {
  const keys = memoryKeyStore(
    keyHashes.map((hash) => ({
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
  const protocol = { versions: ['1.1', '2.0'], preferred: '1.1' };
  const host = createHost({
    store,
    secretKey,
    authenticate,
    engine,
    protocol,
    authorization: { hasWorkspace: (tenant, workspace) => tenant === 'acme' && workspace === 'main' },
    egress: egressPolicy({ allowLoopback: receiverPort === undefined ? false : [receiverPort] }),
    ports: { log: (record) => console.error(JSON.stringify(record)) },
  });
  return { host, auth: authenticator({ lanes: authenticate }), versions: served(protocol) };
}
