import type { AuthError } from './errors.ts';

/** The most requests of a credential in a calendar period, as `Principal.quota` has it. */
export interface CredentialQuota {
  /** Requests in a period: a whole number, at least 1. */
  readonly limit: number;
  /** The period, in UTC. */
  readonly period: 'day' | 'month';
  /** The id under which the requests are counted. Credentials may share it. */
  readonly account: string;
}

/** Counts requests against the quotas of credentials. `quotaLedger` of `@svc/auth/api-key` makes one. */
export interface QuotaCounter {
  /** Counts a request. Returns the refusal when the quota is used up or cannot be counted, and then counts nothing. */
  consume(quota: CredentialQuota): QuotaRefusal | undefined | Promise<QuotaRefusal | undefined>;
}

/** The refusal of a request by a quota. */
export interface QuotaRefusal {
  /** `rate_limited`, with the time at which the quota renews; or `service_unavailable`. */
  readonly error: AuthError;
  /** To be set on the response. */
  readonly headers: Readonly<Record<string, string>>;
}
