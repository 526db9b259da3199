import type { ConformanceOptions, KeyName } from '@svc/conformance';
import { type BootedHost, bootHost, scratch } from '../booted-host.ts';

const ALL = [
  'runs:create',
  'runs:read',
  'runs:cancel',
  'artifacts:read',
  'approvals:respond',
  'manifest:read',
  'audit:read',
  'webhooks:manage',
  'workspace:read',
  'workspace:write',
];

export const KEYS: Readonly<Record<KeyName, string>> = {
  main: 'operator_brought_key_of_the_suite_itself',
  otherTenant: 'operator_brought_key_of_another_tenant_x',
  otherWorkspace: 'operator_brought_key_of_another_workspace',
  test: 'operator_brought_key_of_the_test_mode_xx',
  readOnly: 'operator_brought_key_that_may_only_read_it',
  expired: 'operator_brought_key_that_has_expired_xxx',
  revoked: 'operator_brought_key_that_was_revoked_xxx',
  spare: 'operator_brought_key_that_may_be_used_up',
};

/** Settings of the host that are short enough to wait for. */
export const DURATIONS: NonNullable<ConformanceOptions['durations']> = {
  attemptTimeoutMs: 3000,
  circuitCooldownMs: 2000,
  keepAliveMs: 1000,
};

export interface ConformingHost {
  readonly url: string;
  stop(): Promise<void>;
}

/** Configurations of the hosts under test. */
export const HOSTS = {
  durable: { webhooks: { durable: true } },
  'best-effort': { webhooks: { durable: false } },
  /** Rejects loopback receivers. */
  closed: { egress: { allowLoopback: false } },
  limited: { rateLimit: { limit: 300, windowSeconds: 60 } },
  floor: { protocol: { minClientVersion: '1.0' } },
  retired: { protocol: { versions: ['2.0'] } },
  tokens: {
    baseUrl: 'https://svc.example.com',
    oidc: { issuers: [{ issuer: 'https://idp.example.invalid', audience: 'svc', pseudonymous: true }] },
  },
} as const;

export type HostName = keyof typeof HOSTS;

/** Boots the reference host with all keys of the suite. */
export async function bootConforming(changes: object = {}): Promise<ConformingHost> {
  const folder = scratch();
  const key = (id: string, name: KeyName, fields: object = {}) => ({
    id,
    key: KEYS[name],
    tenant: 'acme',
    workspaces: ['acme-prod'],
    principal: `p_${id}`,
    scopes: ALL,
    ...fields,
  });
  const host: BootedHost = await bootHost(folder.path('config.json'), {
    listen: { port: 0 },
    store: `sqlite:${folder.path('svc.db')}`,
    tenants: [
      { id: 'acme', workspaces: ['acme-prod', 'acme-dev'] },
      { id: 'umbrella', workspaces: ['hive'] },
    ],
    apiKeys: [
      key('key_1', 'main'),
      key('key_2', 'otherTenant', { tenant: 'umbrella', workspaces: ['hive'] }),
      key('key_3', 'otherWorkspace', { workspaces: ['acme-dev'] }),
      key('key_4', 'test', { mode: 'test' }),
      key('key_5', 'readOnly', { scopes: ['runs:read'] }),
      key('key_6', 'expired', { expiresAt: '2020-01-01T00:00:00Z' }),
      key('key_7', 'revoked', { revokedAt: '2020-01-01T00:00:00Z' }),
      key('key_8', 'spare', { scopes: ['runs:read'] }),
    ],
    egress: { allowLoopback: true },
    audit: { checkpointIntervalEntries: 20 },
    streams: { keepAliveMs: DURATIONS.keepAliveMs },
    ...changes,
    webhooks: {
      attemptTimeoutMs: DURATIONS.attemptTimeoutMs,
      retryPolicy: { maxAttempts: 3, backoff: 'fixed', delayMs: 100 },
      circuit: { cooldownMs: DURATIONS.circuitCooldownMs },
      ...('webhooks' in changes ? Object(changes.webhooks) : {}),
    },
  });
  return {
    url: host.url,
    async stop() {
      host.process.kill('SIGKILL');
      await host.ended;
      folder.remove();
    },
  };
}
