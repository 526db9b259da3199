import type { ConformanceOptions, KeyName } from '@svc/conformance';

const ALL = [
  'runs:create',
  'runs:read',
  'runs:cancel',
  'runs:annotate',
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
  // A busy machine takes seconds for an answer or an event, and the circuit must be open still.
  attemptTimeoutMs: 6000,
  circuitCooldownMs: 8000,
  keepAliveMs: 2000,
};

/** Configuration of a reference host with all keys of the suite, on a SQLite file. */
export function conformingConfig(database: string, changes: object = {}): object {
  const key = (id: string, name: KeyName, fields: object = {}) => ({
    id,
    key: KEYS[name],
    tenant: 'acme',
    workspaces: ['acme-prod'],
    principal: `p_${id}`,
    scopes: ALL,
    ...fields,
  });
  return {
    listen: { port: 0 },
    store: `sqlite:${database}`,
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
  };
}
