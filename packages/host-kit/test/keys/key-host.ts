import { apiKeyLane } from '@svc/auth/api-key';
import { type AuthorizationOptions, type ConfiguredKey, createHost, storedKeys, systemClock } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';

export interface KeyRequest {
  readonly key: string;
  /** Default: POST. */
  readonly method?: string;
  readonly body?: unknown;
}

export type KeyHost = Awaited<ReturnType<typeof startKeyHost>>;

/** Starts a host in this process, on a store in memory, with the keys of a configuration. */
export async function startKeyHost(
  configured: readonly ConfiguredKey[],
  authorization: Pick<AuthorizationOptions, 'stepUp'> = {},
) {
  const store = memoryStore();
  const keys = storedKeys({ store, configured });
  const host = createHost({
    store,
    authenticate: [apiKeyLane({ keys, now: systemClock.now, onUsed: keys.onUsed })],
    features: { apiKeys: keys },
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    authorization: { hasWorkspace: (_, workspace) => workspace !== 'nowhere', ...authorization },
  });
  await host.start();

  /** Sends a request to a path below `/host/example/keys`. */
  async function send(path: string, { key, method = 'POST', body }: KeyRequest) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await host.fetch(new Request(`http://host.test/host/example/keys${path}`, init));
    return { status: response.status, body: await response.json() };
  }

  return { send, stop: () => host.stop() };
}
