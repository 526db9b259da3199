import { createHash } from 'node:crypto';
import type { Withdrawal } from '@svc/auth';
import type { StoredWithdrawal } from '../ports/access.ts';

/** The fields of a withdrawal that its caller gives. */
export type WithdrawalTerms = Pick<
  StoredWithdrawal,
  'withdraws' | 'name' | 'issuer' | 'issuedBefore' | 'mode' | 'until'
>;

/** Returns a stored withdrawal as the deny list judges it. */
export function judgedWithdrawal({ withdraws, name, issuer = '', ...record }: StoredWithdrawal): Withdrawal {
  const { tenant: stored, mode, until } = record;
  const tenant = stored === '' ? undefined : stored;
  const bounds = { tenant, mode, until };
  switch (withdraws) {
    case 'principal':
      return { ...bounds, kind: 'principal', principal: name, tenant: stored };
    case 'token':
      return { ...bounds, kind: 'token', issuer, jti: name };
    case 'session':
      return { ...bounds, kind: 'session', issuer, sid: name };
    case 'subject':
      return { ...bounds, kind: 'subject', issuer, subject: name, issuedBefore: record.issuedBefore ?? 0 };
  }
}

/** Returns the terms of a withdrawal, and its tenant: `''` for every one. */
export function termsOf(withdrawal: Withdrawal): WithdrawalTerms & { readonly tenant: string } {
  const { tenant = '', mode, until } = withdrawal;
  const bounds = { tenant, ...(mode !== undefined && { mode }), ...(until !== undefined && { until }) };
  switch (withdrawal.kind) {
    case 'principal':
      return { ...bounds, withdraws: 'principal', name: withdrawal.principal };
    case 'token':
      return { ...bounds, withdraws: 'token', issuer: withdrawal.issuer, name: withdrawal.jti };
    case 'session':
      return { ...bounds, withdraws: 'session', issuer: withdrawal.issuer, name: withdrawal.sid };
    case 'subject': {
      const { issuer, subject, issuedBefore } = withdrawal;
      return { ...bounds, withdraws: 'subject', issuer, name: subject, issuedBefore };
    }
  }
}

/** Names a withdrawal by all that it withdraws, so that a repeated one is the same record. */
export function withdrawalId({ withdraws, issuer, name, mode }: WithdrawalTerms): string {
  const parts = JSON.stringify([withdraws, issuer ?? null, name, mode ?? null]);
  return `wdr_${createHash('sha256').update(parts).digest('hex').slice(0, 32)}`;
}

/** Returns a withdrawal that holds wherever one of the two does: a repetition never shortens the first. */
export function widened(before: StoredWithdrawal, terms: WithdrawalTerms, now: number): StoredWithdrawal {
  const { until: end, issuedBefore: time, ...kept } = before;
  const until = end === undefined || terms.until === undefined ? undefined : Math.max(end, terms.until);
  const issuedBefore = time === undefined ? terms.issuedBefore : Math.max(time, terms.issuedBefore ?? 0);
  return {
    ...kept,
    epoch: before.epoch + 1,
    updatedAt: now,
    ...(until !== undefined && { until }),
    ...(issuedBefore !== undefined && { issuedBefore }),
  };
}
