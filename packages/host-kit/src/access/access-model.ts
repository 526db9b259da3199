import type { DenyList, DenyListWriter, Principal, Role, RoleDirectory } from '@svc/auth';
import type { PresentedIdentity, WorkloadBinding, WorkloadSchemeName } from '@svc/auth/workload';
import type { RecordAudit } from '../audit/fact.ts';
import type { AccessRecord } from '../ports/access.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Transaction } from '../ports/transaction.ts';

/** A role of a principal in one workspace of a tenant. */
export interface ConfiguredAssignment {
  /** Id of the principal. */
  readonly principal: string;
  /** Id of the tenant. */
  readonly tenant: string;
  /** Name of the workspace. */
  readonly workspace: string;
  /** Name of the role. */
  readonly role: string;
}

/** The roles of a configuration. */
export interface ConfiguredRoles {
  /** Ids of the tenants that have the roles of `catalog`. */
  readonly tenants: readonly string[];
  /** Roles of every tenant. */
  readonly catalog: readonly Role[];
  /** Roles of principals in workspaces. */
  readonly assignments: readonly ConfiguredAssignment[];
}

/** The identities of an issuer that a tenant may bind to its principals. */
export interface IssuerGrant {
  /** Id of the tenant. */
  readonly tenant: string;
  /** The exact issuer of the identities. For SPIFFE: `spiffe://` and the trust domain. */
  readonly issuer: string;
  /**
   * The beginning of their subjects, for an issuer that several tenants share. It ends with a character that separates
   * names, such as `/` or `:`, so that `repo:acme/` is never the beginning of `repo:acme-evil/`. Default: every subject.
   */
  readonly subjectPrefix?: string | undefined;
}

/** A workload of a configuration. */
export interface ConfiguredWorkload extends WorkloadBinding {
  /** The exact issuer of the identity. */
  readonly issuer: string;
  /** The exact subject of the identity. */
  readonly subject: string;
  /** The scheme of the identity. Default: any. */
  readonly scheme?: WorkloadSchemeName | undefined;
}

/** The workloads of a configuration. */
export interface ConfiguredWorkloads {
  /** The identities that callers bind themselves. No two grants share one. */
  readonly grants: readonly IssuerGrant[];
  /** Workloads that the configuration binds. Each needs no grant, and lies in that of no other tenant. */
  readonly bindings: readonly ConfiguredWorkload[];
}

/** The parts of a host that its access uses. */
export interface AccessParts extends Pick<HostPorts, 'clock' | 'log' | 'store'> {
  /** Writes an audit fact in the transaction of the change that it records. */
  readonly recordAudit: RecordAudit;
}

/** The roles, assignments, workloads and withdrawals in the store of a host. Made by `storedAccess`. */
export interface StoredAccess extends DenyList, DenyListWriter {
  /** The stored roles and assignments. Pass it to `roleAuthorizer`. */
  readonly directory: RoleDirectory;
  /** Whether roles are stored, so that the host serves their operations. */
  readonly hasRoles: boolean;
  /** Whether workload bindings are stored, so that the host serves their operations. */
  readonly hasWorkloads: boolean;
  /**
   * Returns the stored binding of a verified identity; undefined for none. Pass it to `workloadLane` as `resolve`, and no
   * other beside it: callers of another one may change nothing.
   */
  readonly resolveWorkload: (
    identity: PresentedIdentity,
  ) => WorkloadBinding | undefined | Promise<WorkloadBinding | undefined>;
  /** Returns whether a tenant may bind an identity. */
  isGranted(tenant: string, identity: Pick<PresentedIdentity, 'issuer' | 'subject'>): boolean;
  /** Imports the roles of the configuration, and follows the changes of other hosts. The host calls it in its start. */
  begin(parts: AccessParts): Promise<void>;
  /**
   * Makes committed changes known. Resolves when no host of the store answers by the former records any more.
   *
   * @throws {HostError} `service_unavailable` when the store fails meanwhile. The changes are stored.
   */
  settle(...records: readonly AccessRecord[]): Promise<void>;
  /**
   * Requires, in a transaction that holds the tenant, that a caller was not withdrawn, and that a workload is still bound.
   *
   * @throws {AuthError} `key_revoked`
   */
  requireAccepted(caller: Principal, transaction: Transaction): Promise<void>;
  /** Calls `listener` with the tenant of each change, on every host; undefined for a change that may concern every tenant. */
  whenChanged(listener: (tenant: string | undefined) => void): void;
  /** Stops to follow. The host calls it in its stop. */
  end(): Promise<void>;
}
