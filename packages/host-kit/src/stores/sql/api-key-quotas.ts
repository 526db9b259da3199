import { drawn, type QuotaCount, type QuotaDraw, type QuotaGrant } from '@svc/auth/api-key';
import { integer, type Row, text } from './row.ts';

/** Reads the count of an account. */
export function quotaCountOf(row: Row): QuotaCount {
  return {
    period: text(row, 'period') === 'day' ? 'day' : 'month',
    startsAt: integer(row, 'starts_at'),
    taken: integer(row, 'taken'),
    used: integer(row, 'used'),
  };
}

/** Decides on draws in their order, and collects the counts that they leave in `counts`. */
export function grantsOf(draws: readonly QuotaDraw[], counts: Map<string, QuotaCount>): QuotaGrant[] {
  return draws.map((draw) => {
    const grant = drawn(counts.get(draw.account), draw);
    counts.set(draw.account, grant.count);
    return grant;
  });
}
