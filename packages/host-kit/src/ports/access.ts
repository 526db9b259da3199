import type { WorkloadSchemeName } from '@svc/auth/workload';
import type { ApiKeyFeed } from './api-keys.ts';
import type { Transaction } from './transaction.ts';

/** The fields of every record of access. */
export interface AccessRecordBase {
  /** Unique among the records of the same kind and tenant. */
  readonly id: string;
  /** Id of the tenant. `''`: a withdrawal that holds for every tenant. */
  readonly tenant: string;
  /** By how many changes the record came to be as it is: 1 for a new one. */
  readonly epoch: number;
  /** `configuration`: imported from the configuration of a host, which changes it at every start. */
  readonly source: 'operation' | 'configuration';
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** A role of a tenant. Its id is its name. */
export interface StoredRole extends AccessRecordBase {
  readonly kind: 'role';
  readonly scopes: readonly string[];
}

/** A role of a principal in one workspace. */
export interface StoredAssignment extends AccessRecordBase {
  readonly kind: 'assignment';
  readonly principal: string;
  readonly workspace: string;
  /** The id of the role. */
  readonly role: string;
}

/** A withdrawal of credentials. */
export interface StoredWithdrawal extends AccessRecordBase {
  readonly kind: 'withdrawal';
  readonly mode?: 'live' | 'test' | undefined;
  readonly withdraws: 'principal' | 'token' | 'session' | 'subject';
  /** The id of a principal, a `jti`, a `sid`, or a `sub`. */
  readonly name: string;
  /** Absent for a principal. */
  readonly issuer?: string | undefined;
  /** For a subject, in ms since the epoch. */
  readonly issuedBefore?: number | undefined;
  /** The end of the withdrawal, in ms since the epoch. Default: never. */
  readonly until?: number | undefined;
}

/** A workload of a tenant: the principal of an identity, with its grants. Its id is made of issuer and subject. */
export interface StoredBinding extends AccessRecordBase {
  readonly kind: 'binding';
  /** The exact issuer of the identity. For SPIFFE: `spiffe://` and the trust domain. */
  readonly issuer: string;
  /** The exact subject of the identity. */
  readonly subject: string;
  /** The scheme of the identity. Default: any. */
  readonly scheme?: WorkloadSchemeName | undefined;
  readonly principal: string;
  /** Default: a workload. */
  readonly principalKind?: 'user' | 'agent' | undefined;
  readonly workspaces: 'all' | readonly string[];
  readonly scopes: readonly string[];
  readonly mode: 'live' | 'test';
}

/** A record of access. */
export type AccessRecord = StoredRole | StoredAssignment | StoredWithdrawal | StoredBinding;

/** The kind of a record of access. */
export type AccessKind = AccessRecord['kind'];

/** A page of records. */
export interface AccessPage {
  /** The id after which the page begins. `''`: the first page. */
  readonly after: string;
  /** The most records of the page. */
  readonly limit: number;
  /** Records of this principal alone: assignments, bindings, and withdrawals of it. Default: all. */
  readonly principal?: string | undefined;
  /** Assignments of this role alone. Default: all. */
  readonly role?: string | undefined;
}

/** Roles, their assignments, bound workloads, and withdrawn credentials, of all tenants. */
export interface AccessStore {
  /** Until the transaction ends, no other one that holds the same tenant goes on. Changes of its records need it. */
  hold(tenant: string, transaction: Transaction): Promise<void>;
  /**
   * Adds a record, or replaces that of the same kind, tenant and id. Hosts that follow the feed learn of it when the
   * transaction commits.
   */
  put(record: AccessRecord, transaction: Transaction): Promise<void>;
  /** Removes a record. Hosts that follow the feed learn of it when the transaction commits. */
  remove(record: AccessRecord, transaction: Transaction): Promise<void>;
  /** Returns a record. */
  find(kind: AccessKind, tenant: string, id: string, transaction?: Transaction): Promise<AccessRecord | undefined>;
  /** Returns the records with one of these lookups, as `lookupOf` gives them: at most 256 lookups. */
  lookUp(lookups: readonly string[], transaction?: Transaction): Promise<readonly AccessRecord[]>;
  /** Returns records of a kind and a tenant, by ascending id. */
  list(kind: AccessKind, tenant: string, page: AccessPage, transaction?: Transaction): Promise<readonly AccessRecord[]>;
  /** Returns how many records of a kind a tenant has. */
  count(kind: AccessKind, tenant: string, transaction: Transaction): Promise<number>;
  /** Returns every record that was imported from a configuration, of all tenants. For the import. */
  configured(): Promise<readonly AccessRecord[]>;
  /** Deletes up to `limit` withdrawals that ended by `now`, in ms since the epoch. Returns how many. */
  removeEnded(now: number, limit: number): Promise<number>;
  /** The feed of changes. A change has `hash` `access` and the lookup as its `id`. Absent: the store belongs to one process. */
  readonly feed?: ApiKeyFeed;
}
