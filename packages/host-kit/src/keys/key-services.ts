import type { Principal } from '@svc/auth';
import type { RecordAudit } from '../audit/fact.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Transaction } from '../ports/transaction.ts';
import type { StoredKeys } from './stored-keys.ts';

/** The parts with which keys are managed. */
export interface KeyServices extends Pick<HostPorts, 'store' | 'clock' | 'random'> {
  readonly keys: Pick<StoredKeys, 'settle'>;
  readonly recordAudit: RecordAudit;
  /** Knows withdrawn callers. Absent: none is withdrawn. */
  readonly access?: WithdrawnCallers | undefined;
  readonly hasWorkspace: (tenant: string, workspace: string) => boolean;
  /** Requires the sign-in that the use of a scope needs. Absent: none needs one. @throws {AuthError} `unauthenticated` */
  readonly requireSignIn?: ((scope: string, caller: Principal) => void) | undefined;
}

/** Knows callers that were withdrawn since their request was authenticated. */
export interface WithdrawnCallers {
  /** To be called in a transaction that holds the tenant. @throws {AuthError} `key_revoked` */
  requireAccepted(caller: Principal, transaction: Transaction): Promise<void>;
}
