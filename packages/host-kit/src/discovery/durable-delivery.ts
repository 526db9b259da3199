import { DEAD_LETTERS_PER_PAGE } from '../webhooks/delivery.ts';
import type { HostFacts } from './facts.ts';
import type { Facets } from './families.ts';

/** What a subscriber may rely on where failed deliveries are tried again. @see Interface: Events, Webhook delivery of events, 3 */
export function durableDelivery({
  webhooks,
}: Pick<HostFacts, 'webhooks'>): Pick<NonNullable<Facets['webhooks']>, 'retryPolicy' | 'deadLetter'> {
  const { maxAttempts, backoff } = webhooks.retryPolicy;
  return {
    retryPolicy: { maxAttempts, backoff },
    deadLetter: { retentionDays: webhooks.deadLetterRetentionDays, maxPageSize: DEAD_LETTERS_PER_PAGE },
  };
}
