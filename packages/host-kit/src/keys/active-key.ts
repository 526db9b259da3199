import type { Principal } from '@svc/auth';
import { apiKeyState, type StoredApiKey } from '@svc/auth/api-key';
import type { HostPorts } from '../ports/host-ports.ts';

/**
 * Finds the active key of a tenant and mode that began as `keyId`: the key itself, or the one that replaced it. Undefined: it was
 * revoked or has expired.
 */
export async function activeKey(
  { store, clock }: Pick<HostPorts, 'store' | 'clock'>,
  { tenancy }: Pick<Principal, 'tenancy'>,
  keyId: string,
): Promise<StoredApiKey | undefined> {
  const found = (id: string) => store.apiKeys.find({ ...tenancy, workspaces: 'all' }, id);
  let key = await found(keyId);
  for (let left = MOST_ROTATIONS; left > 0 && key !== undefined; left--) {
    if (apiKeyState(key, clock.now()) === 'active') return key;
    const { rotatedTo } = key;
    key = rotatedTo === undefined ? undefined : await found(rotatedTo);
  }
  return undefined;
}

const MOST_ROTATIONS = 64;
