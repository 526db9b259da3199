import {
  AuthError,
  type CredentialFacts,
  isWithdrawn,
  type Principal,
  type RoleAssignment,
  type RoleDirectory,
  type Withdrawal,
} from '@svc/auth';
import type { PresentedIdentity } from '@svc/auth/workload';
import { storeUnavailable } from '../errors.ts';
import { A_STORE, requireForms, requireKnown } from '../known-options.ts';
import type { AccessRecord } from '../ports/access.ts';
import {
  ACCESS_CHANGE,
  assignmentLookup,
  bindingLookup,
  lookupOf,
  principalLookup,
  roleLookup,
  tenantOfLookup,
  tokenLookup,
} from '../ports/access-lookup.ts';
import type { FollowedFeed } from '../ports/api-keys.ts';
import { describeError } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { Transaction } from '../ports/transaction.ts';
import { AccessCache } from './access-cache.ts';
import type { AccessParts, ConfiguredRoles, ConfiguredWorkloads, StoredAccess } from './access-model.ts';
import { boundIn, identitiesOf } from './bound-workload.ts';
import { assignmentsIn } from './held-roles.ts';
import { importAccess } from './import.ts';
import { IssuerGrants, type Named } from './issuer-grants.ts';
import { storeWithdrawal } from './withdraw.ts';
import { judgedWithdrawal, termsOf } from './withdrawal.ts';

/** Options of `storedAccess`. */
export interface StoredAccessOptions {
  /** The store of the host. */
  readonly store: Store;
  /**
   * The roles and the assignments of the configuration. The start of the host stores them, and removes those that an
   * earlier configuration had and this one has not. Hosts that share a store need the same ones. Default: roles are not
   * stored, and only credentials can be withdrawn.
   */
  readonly roles?: ConfiguredRoles;
  /**
   * The workloads of the configuration, imported like `roles`, and the identities that the operator grants to tenants. A
   * binding that a caller made holds only while its identity is granted. Default: workloads are not stored.
   */
  readonly workloads?: ConfiguredWorkloads;
  /** Most lookups in memory, about 0.3 KiB each: a whole number, at least 2. Default 100 000. */
  readonly maxCached?: number;
}

const STORED_ACCESS_OPTIONS = { store: true, roles: true, workloads: true, maxCached: true } as const;

/**
 * Makes the roles, the assignments, the bound workloads and the withdrawn credentials in the store of a host: the option
 * `features.access` of `createHost`, a `RoleDirectory` for `roleAuthorizer`, and a resolver for `workloadLane`.
 *
 * @throws {TypeError} for an unknown option, a number out of its range, or an identity that two tenants could bind
 * @example
 * const access = storedAccess({ store, roles: { tenants: ['acme'], catalog, assignments: [] } });
 * const roles = roleAuthorizer({ catalog, directory: access.directory });
 * const host = createHost({ store, authenticate, access, roles, engine, secretKey, hasWorkspace });
 */
export function storedAccess(options: StoredAccessOptions): StoredAccess {
  requireKnown('storedAccess', options, STORED_ACCESS_OPTIONS);
  requireForms('storedAccess', options, { store: A_STORE });
  const { maxCached = 100_000 } = options;
  if (!Number.isSafeInteger(maxCached) || maxCached < 2)
    throw new TypeError('storedAccess: maxCached must be a whole number of at least 2. Leave it out for 100 000.');
  return new AccessOfStore({ ...options, maxCached });
}

class AccessOfStore implements StoredAccess {
  readonly directory: RoleDirectory;
  readonly hasRoles: boolean;
  readonly hasWorkloads: boolean;
  readonly resolveWorkload: StoredAccess['resolveWorkload'];
  readonly #store: Store;
  readonly #roles: ConfiguredRoles | undefined;
  readonly #workloads: ConfiguredWorkloads | undefined;
  readonly #grants: IssuerGrants;
  readonly #cache: AccessCache;
  readonly #listeners: ((tenant: string | undefined) => void)[] = [];
  #parts: AccessParts | undefined;
  #following: FollowedFeed | undefined;

  constructor({ store, roles, workloads, maxCached }: StoredAccessOptions & { readonly maxCached: number }) {
    this.#store = store;
    this.#roles = roles;
    this.#workloads = workloads;
    this.#grants = new IssuerGrants(workloads ?? { grants: [], bindings: [] });
    this.hasRoles = roles !== undefined;
    this.hasWorkloads = workloads !== undefined;
    this.resolveWorkload = (identity) => this.#boundTo(identity);
    const isShared = store.access.feed !== undefined;
    this.#cache = new AccessCache({
      load: (lookups) => store.access.lookUp(lookups),
      lookupOf,
      isCurrent: () => !isShared || this.#following?.isCurrent() === true,
      maxLookups: maxCached,
    });
    this.directory = { rolesOf: (principal, tenant) => this.#rolesOf(principal, tenant) };
  }

  isDenied(credential: CredentialFacts): boolean | Promise<boolean> {
    const now = this.#now();
    let denied = false;
    let pending: Promise<readonly AccessRecord[]>[] | undefined;
    for (const lookup of lookupsOf(credential)) {
      const found = this.#cache.get(lookup);
      if (isKnown(found)) denied ||= denies(found, credential, now);
      else pending = [...(pending ?? []), found];
    }
    if (pending === undefined) return denied;
    return Promise.all(pending).then((found) => denied || denies(found.flat(), credential, now));
  }

  async deny(withdrawal: Withdrawal): Promise<void> {
    const parts = this.#parts;
    if (parts === undefined) throw new Error('storedAccess: deny needs a started host. Call it after begin.');
    const { tenant, ...terms } = termsOf(withdrawal);
    const record = await parts.store.transaction(async (transaction) => {
      await parts.store.access.hold(tenant, transaction);
      return storeWithdrawal({ ...parts, tenant, actor: undefined }, terms, transaction);
    });
    await this.settle(record);
  }

  async begin(parts: AccessParts): Promise<void> {
    this.#parts = parts;
    const changed = await importAccess(parts, { roles: this.#roles, workloads: this.#workloads });
    this.#cache.forget();
    const { feed } = this.#store.access;
    if (feed === undefined) return;
    this.#following = feed.follow({
      clock: parts.clock,
      changed: (change) => {
        if (change === undefined) this.#changed(undefined);
        else if (change.hash === ACCESS_CHANGE) this.#changed(change.id);
      },
      failed: (cause) => this.#report('access.feed-lost', cause),
    });
    if (changed) await feed.confirmed(parts.clock).catch((cause: unknown) => this.#report('access.unconfirmed', cause));
  }

  async settle(...records: readonly AccessRecord[]): Promise<void> {
    for (const record of records) this.#changed(lookupOf(record));
    const { feed } = this.#store.access;
    if (feed === undefined || this.#parts === undefined) return;
    try {
      await feed.confirmed(this.#parts.clock);
    } catch (cause) {
      this.#report('access.unconfirmed', cause);
      throw storeUnavailable();
    }
  }

  async requireAccepted(caller: Principal, transaction: Transaction): Promise<void> {
    const { tenancy, tokens = [], workload } = caller;
    const { tenant, mode } = tenancy;
    const principals = [caller.id, ...(workload === undefined ? [] : [workload.actor.principalId])];
    const credential = { tenant, mode, principals, tokens };
    const identities = this.hasWorkloads ? identitiesOf(caller) : [];
    const lookups = [...lookupsOf(credential), ...identities.map(({ named }) => bindingLookup(tenant, named))];
    const found = await this.#store.access.lookUp(lookups, transaction);
    const isBound = identities.every(({ named, principal }) => {
      const binding = boundIn(found, named, this.#grants);
      return binding?.tenant === tenant && binding.mode === mode && binding.principal === principal;
    });
    if (isBound && !denies(found, credential, this.#now())) return;
    const message = 'The credential was withdrawn. Ask the operator of the host for another one.';
    throw new AuthError('key_revoked', message, undefined);
  }

  isGranted(tenant: string, identity: Named): boolean {
    return this.#grants.granteeOf(identity) === tenant;
  }

  whenChanged(listener: (tenant: string | undefined) => void): void {
    this.#listeners.push(listener);
  }

  async end(): Promise<void> {
    await this.#following?.stop();
  }

  #rolesOf(principal: string, tenant: string): readonly RoleAssignment[] | Promise<readonly RoleAssignment[]> {
    const held = this.#cache.get(assignmentLookup(tenant, principal));
    const roles = this.#cache.get(roleLookup(tenant));
    const named = { principal, tenant };
    if (isKnown(held) && isKnown(roles)) return assignmentsIn(held, roles, named);
    return Promise.all([held, roles]).then(([found, known]) => assignmentsIn(found, known, named));
  }

  #boundTo(identity: PresentedIdentity): ReturnType<StoredAccess['resolveWorkload']> {
    this.#now();
    const tenant = this.#grants.tenantOf(identity);
    // No question to the store for an identity that no tenant may bind.
    if (tenant === undefined) return undefined;
    const found = this.#cache.get(bindingLookup(tenant, identity));
    if (isKnown(found)) return boundIn(found, identity, this.#grants);
    return found.then((records) => boundIn(records, identity, this.#grants));
  }

  /** A host that has not started knows no withdrawal, so that each caller is refused as at an outage. */
  #now(): number {
    if (this.#parts === undefined) throw new Error('storedAccess: the host has not started. Await host.start().');
    return this.#parts.clock.now();
  }

  #changed(lookup: string | undefined): void {
    this.#cache.forget(lookup);
    const tenant = lookup === undefined ? undefined : tenantOfLookup(lookup);
    for (const listener of this.#listeners) listener(tenant);
  }

  #report(event: string, cause: unknown): void {
    this.#parts?.log({ level: 'error', event, ...describeError(cause) });
  }
}

function isKnown(found: readonly AccessRecord[] | Promise<readonly AccessRecord[]>): found is readonly AccessRecord[] {
  return Array.isArray(found);
}

/** The lookups under which a withdrawal of a credential can be. */
function lookupsOf({ tenant, principals, tokens }: CredentialFacts): string[] {
  const lookups = principals.map((principal) => principalLookup(tenant, principal));
  for (const { issuer, jti, sid, subject } of tokens) {
    // Withdrawals of the tenant, and of every tenant.
    for (const owner of [tenant, '']) {
      if (jti !== undefined) lookups.push(tokenLookup(owner, 'token', issuer, jti));
      if (sid !== undefined) lookups.push(tokenLookup(owner, 'session', issuer, sid));
      if (subject !== undefined) lookups.push(tokenLookup(owner, 'subject', issuer, subject));
    }
  }
  return lookups;
}

function denies(found: readonly AccessRecord[], credential: CredentialFacts, now: number): boolean {
  return found.some((record) => record.kind === 'withdrawal' && isWithdrawn(credential, judgedWithdrawal(record), now));
}
