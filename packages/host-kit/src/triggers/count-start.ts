import type { Principal } from '@svc/auth';
import { periodAt, quotaCountName } from '@svc/auth/api-key';
import type { Store } from '../ports/store.ts';
import type { StoreClock } from '../ports/store-clock.ts';
import type { Transaction } from '../ports/transaction.ts';

/** Thrown to undo a run that the quota of the key does not allow. */
export class QuotaUsedUp extends Error {
  /** The time at which the quota renews, in ms since the epoch. */
  readonly renewsAt: number;

  constructor(renewsAt: number) {
    super('The quota of the API key is used up.');
    this.renewsAt = renewsAt;
  }
}

/**
 * Counts a run against the quota of the key for which it is started, in the transaction of the run: a run that is undone is
 * not counted. A principal without a quota is not counted.
 *
 * @throws {QuotaUsedUp} when no request is left. Nothing must be stored then.
 */
export async function countStart(
  { store, storeClock }: { readonly store: Pick<Store, 'apiKeys'>; readonly storeClock: Pick<StoreClock, 'now'> },
  { quota }: Pick<Principal, 'quota'>,
  transaction: Transaction,
): Promise<void> {
  if (quota === undefined) return;
  const { limit, period } = quota;
  const span = periodAt(period, storeClock.now());
  const draw = { account: quotaCountName(quota), limit, period, ...span, wanted: 0, used: 0, returned: 0 };
  // The second or the third draw tells that the request is used. The count of a host whose clock is ahead is of the next period.
  const [grant] = await store.apiKeys.draw(
    [
      { ...draw, wanted: 1 },
      { ...draw, reservedIn: span.startsAt, used: 1 },
      { ...draw, reservedIn: span.endsAt, used: 1 },
    ],
    transaction,
  );
  if (grant?.granted !== 1) throw new QuotaUsedUp(span.endsAt);
}
