/** The limits on attempts at the same time. */
export interface Concurrency {
  /** Attempts of all tenants together. */
  readonly total: number;
  /** Attempts of one tenant while no other tenant has any. The difference to `total` stays free for the others. */
  readonly perTenant: number;
  /** Attempts of one subscription. */
  readonly perSubscription: number;
}

/** The limits on attempts at the same time, as a host is given them. */
export type AskedConcurrency = Omit<Concurrency, 'perTenant'> & { readonly perTenant?: number | undefined };

/**
 * Applies the default of `perTenant`, three quarters of `total`.
 *
 * @throws {TypeError} when a limit is no whole number above 0, or `perTenant` is greater than `total`
 */
export function concurrencyOf({
  total,
  perSubscription,
  perTenant = Math.max(1, Math.floor((3 * total) / 4)),
}: AskedConcurrency): Concurrency {
  for (const [name, value] of Object.entries({ total, perTenant, perSubscription })) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new TypeError(`webhooks.concurrency.${name}: must be a whole number of at least 1. Pass such a number.`);
    }
  }
  if (perTenant > total) {
    throw new TypeError(
      `webhooks.concurrency.perTenant: must be at most total, which is ${total}. Pass less, or leave it out for three quarters of total.`,
    );
  }
  return { total, perTenant, perSubscription };
}
