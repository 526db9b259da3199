import type { Principal } from '@svc/auth';
import { factAbout, factAboutAccess, type RecordAudit } from '../audit/fact.ts';
import { HostError, invalid } from '../errors.ts';
import type { StoredWithdrawal } from '../ports/access.ts';
import type { HostPorts } from '../ports/host-ports.ts';
import type { Transaction } from '../ports/transaction.ts';
import { type AccessServices, changeOf } from './access-parts.ts';
import { type WithdrawalTerms, widened, withdrawalId } from './withdrawal.ts';

/** The most withdrawals of a tenant. */
export const MOST_WITHDRAWALS = 10_000;

/** The most withdrawals that hold for every tenant: an issuer with many people ends many sessions in the life of a token. */
export const MOST_OF_HOST = 100_000;

export interface WithdrawingParts extends Pick<HostPorts, 'store' | 'clock'> {
  readonly recordAudit: RecordAudit;
  /** `''`: every tenant. */
  readonly tenant: string;
  /** Undefined: the host itself, such as for the issuer that ended a session. */
  readonly actor: Principal | undefined;
}

/**
 * Stores a withdrawal, or extends the same one, in a transaction that holds the tenant.
 *
 * @throws {HostError} `validation_error` at the bound of the tenant
 */
export async function storeWithdrawal(
  { store, clock, recordAudit, tenant, actor }: WithdrawingParts,
  terms: WithdrawalTerms,
  transaction: Transaction,
): Promise<StoredWithdrawal> {
  const now = clock.now();
  const id = withdrawalId(terms);
  const before = await store.access.find('withdrawal', tenant, id, transaction);
  const most = tenant === '' ? MOST_OF_HOST : MOST_WITHDRAWALS;
  if (before === undefined && (await store.access.count('withdrawal', tenant, transaction)) >= most) {
    throw invalid({ field: 'body', problem: `exceeds ${most} withdrawals. Remove those that you do not need` });
  }
  const base = {
    kind: 'withdrawal',
    id,
    tenant,
    epoch: 1,
    source: 'operation',
    createdAt: now,
    updatedAt: now,
  } as const;
  const record = before?.kind === 'withdrawal' ? widened(before, terms, now) : { ...base, ...terms };
  await store.access.put(record, transaction);
  const performed = {
    action: 'credential.withdrawn',
    target: id,
    at: now,
    details: { withdraws: terms.withdraws },
  } as const;
  const fact = actor === undefined ? factAboutAccess(record, performed) : factAbout(actor, performed);
  await recordAudit(fact, transaction);
  return record;
}

/**
 * Withdraws credentials of the caller's tenant and mode. When it resolves, no host accepts them any more.
 *
 * @throws {HostError} `validation_error` for the caller itself
 */
export async function withdraw(
  services: AccessServices,
  caller: Principal,
  asked: Omit<WithdrawalTerms, 'mode'>,
): Promise<StoredWithdrawal> {
  const { tenant, mode } = caller.tenancy;
  const now = services.clock.now();
  if (asked.withdraws === 'principal' && isOwn(caller, asked.name)) {
    throw invalid({
      field: 'principal',
      problem: 'must not be the caller, who could not end the withdrawal. Use another one',
    });
  }
  if (asked.until !== undefined && !(asked.until > now)) {
    throw invalid({ field: 'until', problem: 'must be in the future' });
  }
  const until = asked.until ?? (asked.withdraws === 'principal' ? undefined : now + LONGEST_TOKEN_MS);
  const terms = { ...asked, mode, ...(until !== undefined && { until }) };
  const record = await changeOf(services, caller, (transaction) =>
    storeWithdrawal({ ...services, tenant, actor: caller }, terms, transaction),
  );
  await services.access.settle(record);
  return record;
}

/** Tokens end within a day, unless an issuer has `maxLifetimeSeconds`. */
const LONGEST_TOKEN_MS = 30 * 86_400_000;

/** Returns a withdrawal of the caller's tenant and mode. @throws {HostError} `not_found` */
export async function reachedWithdrawal(
  { store }: Pick<AccessServices, 'store'>,
  { tenancy }: Principal,
  id: string,
  transaction?: Transaction,
): Promise<StoredWithdrawal> {
  const found = await store.access.find('withdrawal', tenancy.tenant, id, transaction);
  if (found?.kind === 'withdrawal' && found.mode === tenancy.mode) return found;
  throw new HostError('not_found', 'There is no such withdrawal.', { details: undefined });
}

/** Ends a withdrawal: what has not expired is accepted again. */
export async function restore(services: AccessServices, caller: Principal, id: string): Promise<void> {
  const { store, recordAudit, clock } = services;
  const record = await changeOf(services, caller, async (transaction) => {
    const found = await reachedWithdrawal(services, caller, id, transaction);
    await store.access.remove(found, transaction);
    await recordAudit(factAbout(caller, { action: 'credential.restored', target: id, at: clock.now() }), transaction);
    return found;
  });
  await services.access.settle(record);
}

export function isOwn({ id, workload }: Principal, principal: string): boolean {
  return principal === id || principal === workload?.actor.principalId;
}
