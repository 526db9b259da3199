import { DEAD_LETTERS_PER_PAGE } from '../ports/deliveries.ts';
import type { Facets } from './families.ts';
import type { DiscoveryInput } from './input.ts';

/** The transports over which the event log of a run is read, in both majors. */
export const EVENT_LOG: NonNullable<Facets['eventLog']> = { transports: ['poll', 'sse'] };

/** The page size and filters of the run list of major 2. Other filters are ignored. */
export const RUN_LIST: NonNullable<Facets['runList']> = { maxPageSize: 100, filters: ['workflowId', 'status'] };

/** The `restTransport` record of both documents. */
export function restTransportOf({ contentEncodings }: DiscoveryInput): NonNullable<Facets['restTransport']> {
  return { conditionalRunGet: true, ...(contentEncodings.length > 0 && { contentEncodings: [...contentEncodings] }) };
}

/**
 * The retry policy and the dead-letter retention of durable delivery. @see Interface: Events, Webhook delivery of
 * events, 3
 */
export function durableDelivery({
  webhooks,
}: Pick<DiscoveryInput, 'webhooks'>): Pick<NonNullable<Facets['webhooks']>, 'retryPolicy' | 'deadLetter'> {
  const { maxAttempts, backoff } = webhooks.retryPolicy;
  return {
    retryPolicy: { maxAttempts, backoff },
    deadLetter: { retentionDays: webhooks.deadLetterRetentionDays, maxPageSize: DEAD_LETTERS_PER_PAGE },
  };
}
