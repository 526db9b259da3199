import { apiKeyLane, hashApiKey, memoryKeyStore } from '@svc/auth/api-key';
import { createHost, type HostOptions, type LogRecord, storedKeys } from '@svc/host-kit';
import { memoryStore } from '@svc/host-kit/stores/memory';
import { describe, expect, test } from 'vitest';

const hash = hashApiKey('development-key-of-this-machine-only');
const keyWith = (...scopes: string[]) => ({
  ...{ id: 'key_1', hash, tenant: 'acme', workspaces: ['main'], principal: 'p_1', scopes },
  mode: 'live' as const,
});

/** Starts a host, and returns the messages about scopes in its log. */
async function warningsOf(scopes: readonly string[], more: Partial<HostOptions> = {}) {
  const records: LogRecord[] = [];
  const host = createHost({
    store: memoryStore(),
    authenticate: [apiKeyLane({ keys: memoryKeyStore([keyWith(...scopes)]) })],
    engine: async () => ({}),
    secretKey: new Uint8Array(32),
    ...more,
    authorization: { hasWorkspace: () => true, ...more.authorization },
    ports: { log: (record) => records.push(record), ...more.ports },
  });
  await host.start();
  await host.stop();
  return records.filter(({ event }) => event === 'key.unknown-scope').map(({ message }) => message);
}

const warning = (scope: string, nearest: string) =>
  `${scope}: is no scope. Did you mean ${nearest}? Name scopes of your own in authorization.ownScopes.`;

describe('a host warns at its start of a scope of a key that opens nothing', () => {
  test.each([
    ['approvals:answer', 'approvals:respond'],
    ['run:create', 'runs:create'],
    ['runs:Read', 'runs:read'],
    ['webhook:manage', 'webhooks:manage'],
    ['runs:reed', 'runs:read'],
  ])('%s', async (scope, nearest) => {
    expect(await warningsOf([scope, 'runs:read'])).toEqual([warning(scope, nearest)]);
  });

  test.each([
    ['run:*', 'runs:*'],
    ['webhook:*', 'webhooks:*'],
    ['*:reed', '*:read'],
    ['runz:*', 'runs:*'],
  ])('%s, a wildcard that covers nothing', async (scope, meant) => {
    expect(await warningsOf([scope, 'runs:read'])).toEqual([
      `${scope}: covers no scope. Did you mean ${meant}? Name scopes of your own in authorization.ownScopes.`,
    ]);
  });

  test('once for each scope', async () => {
    const second = { ...keyWith('run:create'), id: 'key_2', hash: hashApiKey('another-key-of-this-machine-only') };
    const lane = apiKeyLane({ keys: memoryKeyStore([keyWith('run:create', 'orders:read'), second]) });
    expect(await warningsOf([], { authenticate: [lane] })).toHaveLength(2);
  });

  test('also of the keys of a configuration that are stored', async () => {
    const store = memoryStore();
    const keys = storedKeys({ store, configured: [keyWith('run:create')] });
    const authenticate = [apiKeyLane({ keys })];
    expect(await warningsOf([], { store, authenticate, features: { apiKeys: keys } })).toEqual([
      warning('run:create', 'runs:create'),
    ]);
  });
});

describe('a host does not warn of', () => {
  test.each<[string, readonly string[], Partial<HostOptions>?]>([
    ['the scopes of the host, and wildcards that cover one', ['runs:*', '*:*', 'keys:assign', 'packs:publish']],
    [
      'scopes of your own that are declared',
      ['orders:read', 'orders:*'],
      { authorization: { ownScopes: ['orders:read'] } },
    ],
    [
      'the scope of a mount of your own',
      ['orders:write'],
      {
        mounts: [
          () => ({
            name: 'orders',
            path: '/orders',
            routes: [
              {
                ...{ method: 'POST' as const, path: '', scope: 'orders:write', takesBody: false },
                serve: async () => ({ status: 204 }),
              },
            ],
          }),
        ],
      },
    ],
  ])('%s', async (_, scopes, more = {}) => {
    expect(await warningsOf(scopes, more)).toEqual([]);
  });
});

test('a declared scope with a wildcard is refused', async () => {
  await expect(warningsOf([], { authorization: { ownScopes: ['orders:*'] } })).rejects.toThrow(
    "createHost: authorization.ownScopes must be a list of scopes. Pass scopes without wildcards: ['orders:read'].",
  );
});
