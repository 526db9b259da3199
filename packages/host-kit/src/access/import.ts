import { isDeepStrictEqual } from 'node:util';
import { factAboutAccess } from '../audit/fact.ts';
import type { AccessKind, AccessRecord } from '../ports/access.ts';
import type { AccessParts, ConfiguredRoles, ConfiguredWorkload, ConfiguredWorkloads } from './access-model.ts';
import { bindingId } from './bound-workload.ts';
import { assignmentId } from './held-roles.ts';

/** The records of a configuration. An absent part is neither imported nor removed. */
export interface ConfiguredAccess {
  readonly roles?: ConfiguredRoles | undefined;
  readonly workloads?: Pick<ConfiguredWorkloads, 'bindings'> | undefined;
}

/**
 * Stores the roles, the assignments and the bindings of a configuration, and removes those that an earlier configuration had
 * and this one has not. A record that an operation made under the same name becomes one of the configuration. Does nothing
 * when nothing has changed.
 *
 * @returns whether a stored record was changed or removed
 */
export async function importAccess(
  { store, clock, recordAudit, log }: AccessParts,
  { roles, workloads }: ConfiguredAccess,
): Promise<boolean> {
  const now = clock.now();
  const records = [
    ...(roles === undefined ? [] : roleRecords(roles, now)),
    ...(workloads?.bindings ?? []).map((workload) => bindingRecord(workload, now)),
  ];
  const wanted = new Map(records.map((record) => [nameOf(record), record]));
  const isImported: Readonly<Record<AccessKind, boolean>> = {
    role: roles !== undefined,
    assignment: roles !== undefined,
    binding: workloads !== undefined,
    withdrawal: false,
  };
  const stored = (await store.access.configured()).filter(({ kind }) => isImported[kind]);
  const known = new Map(stored.map((record) => [nameOf(record), record]));
  const isSame = (name: string, record: AccessRecord) => {
    const before = known.get(name);
    return before !== undefined && isDeepStrictEqual(contentOf(before), contentOf(record));
  };
  const missing = [...wanted].filter(([name, record]) => !isSame(name, record)).map(([, record]) => record);
  const removed = stored.filter((record) => !wanted.has(nameOf(record)));
  if (missing.length + removed.length === 0) return false;
  const tenants = [...new Set([...missing, ...removed].map(({ tenant }) => tenant))].sort();
  let changed = removed.length > 0;
  await store.transaction(async (transaction) => {
    // All before the first change, in one order: hosts that start at the same time do not wait for each other in a circle.
    for (const tenant of tenants) await store.access.hold(tenant, transaction);
    for (const record of removed) {
      await store.access.remove(record, transaction);
      const action = ACTIONS[record.kind].removed;
      await recordAudit(factAboutAccess(record, { action, at: now }), transaction);
    }
    for (const record of missing) {
      const before = await store.access.find(record.kind, record.tenant, record.id, transaction);
      if (before !== undefined && isDeepStrictEqual(contentOf(before), contentOf(record))) continue;
      if (before !== undefined) changed = true;
      const { createdAt = now, epoch = 0 } = before ?? {};
      await store.access.put({ ...record, createdAt, epoch: epoch + 1 }, transaction);
      const action = ACTIONS[record.kind][before === undefined ? 'created' : 'updated'];
      await recordAudit(factAboutAccess(record, { action, at: now }), transaction);
    }
  });
  log({ level: 'info', event: 'access.imported', stored: missing.length, removed: removed.length });
  return changed;
}

/** An assignment is never changed, only taken over from an operation. */
const ACTIONS = {
  role: { created: 'role.created', updated: 'role.updated', removed: 'role.removed' },
  assignment: { created: 'assignment.created', updated: 'assignment.created', removed: 'assignment.removed' },
  binding: { created: 'binding.created', updated: 'binding.updated', removed: 'binding.removed' },
  withdrawal: { created: 'credential.withdrawn', updated: 'credential.withdrawn', removed: 'credential.restored' },
} as const;

function bindingRecord({ tenant, ...workload }: ConfiguredWorkload, now: number): AccessRecord {
  const { issuer, subject, scheme, principal, principalKind, workspaces, scopes, mode } = workload;
  return {
    ...{ kind: 'binding', tenant, id: bindingId({ issuer, subject }) },
    ...{ epoch: 1, source: 'configuration', createdAt: now, updatedAt: now },
    ...{ issuer, subject, principal, workspaces, scopes: [...scopes], mode },
    ...(scheme !== undefined && { scheme }),
    ...(principalKind !== undefined && { principalKind }),
  };
}

function roleRecords({ tenants, catalog, assignments }: ConfiguredRoles, now: number): AccessRecord[] {
  const base = { epoch: 1, source: 'configuration', createdAt: now, updatedAt: now } as const;
  return [
    ...tenants.flatMap((tenant) =>
      catalog.map(
        ({ role, scopes }): AccessRecord => ({ ...base, kind: 'role', tenant, id: role, scopes: [...scopes] }),
      ),
    ),
    ...assignments.map(
      ({ principal, tenant, workspace, role }): AccessRecord => ({
        ...base,
        kind: 'assignment',
        tenant,
        id: assignmentId({ principal, workspace, role }),
        ...{ principal, workspace, role },
      }),
    ),
  ];
}

function nameOf({ kind, tenant, id }: AccessRecord): string {
  return JSON.stringify([kind, tenant, id]);
}

/** A record without its history. */
function contentOf({ epoch: _, createdAt: _c, updatedAt: _u, ...value }: AccessRecord): object {
  return value;
}
