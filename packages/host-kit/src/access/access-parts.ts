import type { Principal } from '@svc/auth';
import type { RecordAudit } from '../audit/fact.ts';
import { requireStanding } from '../keys/authority.ts';
import type { KeyServices } from '../keys/key-services.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { StoredAccess } from './access-model.ts';

/** The parts of a host with which callers manage access. */
export interface AccessServices extends Pick<HostPorts, 'store' | 'clock'>, Pick<KeyServices, 'requireSignIn'> {
  readonly access: Pick<StoredAccess, 'settle' | 'requireAccepted' | 'hasRoles' | 'isGranted'>;
  readonly recordAudit: RecordAudit;
  readonly hasWorkspace: (tenant: string, workspace: string) => boolean;
}

/**
 * Runs a change of the records of the caller's tenant. Changes of one tenant run one after another, so that each is judged
 * by the authority that the caller has left. A request that was authenticated before its caller was withdrawn changes
 * nothing afterwards.
 *
 * @throws {AuthError} `key_revoked`
 */
export function changeOf<T>(
  services: AccessServices,
  caller: Principal,
  change: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const { store } = services;
  return store.transaction(async (transaction) => {
    // Holds the tenant, too.
    await requireStanding(services, caller, transaction);
    return change(transaction);
  });
}
