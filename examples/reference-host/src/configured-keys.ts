import { hashApiKey } from '@svc/auth/api-key';
import type { ConfiguredKey } from '@svc/host-kit';
import type { Config } from './config.ts';
import { defined } from './defined.ts';

/** The keys of a configuration. Each key is hashed, so that the key itself is stored nowhere. */
export function configuredKeys({ apiKeys }: Config): readonly ConfiguredKey[] {
  return apiKeys.map(keyRecord);
}

function keyRecord({
  key,
  hash,
  workspaces,
  principalKind,
  expiresAt,
  revokedAt,
  name,
  rateLimit,
  quota,
  allowedAddresses,
  ...record
}: Config['apiKeys'][number]): ConfiguredKey {
  return {
    ...record,
    ...defined({ name, rateLimit, quota, allowedAddresses }),
    hash: hash ?? hashApiKey(key ?? ''),
    workspaces: workspaces.includes('*') ? ('all' as const) : workspaces,
    ...(principalKind !== undefined && { principalKind }),
    ...(expiresAt != null && { expiresAt: Date.parse(expiresAt) }),
    ...(revokedAt != null && { revokedAt: Date.parse(revokedAt) }),
  };
}
