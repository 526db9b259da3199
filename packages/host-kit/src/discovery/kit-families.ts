import { DEAD_LETTERS_PER_PAGE } from '../ports/deliveries.ts';
import type { TriggerRetryPolicy } from '../ports/triggers.ts';
import type { Facets } from './families.ts';
import type { DiscoveryInput } from './input.ts';

/** The transports over which the event log of a run is read, in both majors. */
export const EVENT_LOG: NonNullable<Facets['eventLog']> = { transports: ['poll', 'sse'] };

/** The annotations of runs, in both majors. */
export const FEEDBACK: NonNullable<Facets['feedback']> = {
  targets: ['run', 'event', 'node'],
  signals: ['rating', 'correction', 'label', 'flag'],
};

/** The page size and filters of the run list of major 2. Other filters are ignored. */
export const RUN_LIST: NonNullable<Facets['runList']> = { maxPageSize: 100, filters: ['workflowId', 'status'] };

/** The `restTransport` record of both documents. */
export function restTransportOf({ contentEncodings }: DiscoveryInput): NonNullable<Facets['restTransport']> {
  return { conditionalRunGet: true, ...(contentEncodings.length > 0 && { contentEncodings: [...contentEncodings] }) };
}

/** The triggers of a host, in both majors. @see Interface: Events; Limits */
export function triggerBridgeOf({
  retryPolicy,
  deadLetterRetentionDays,
  maxBodyBytes,
  queues,
  email,
  streams,
  changes,
}: TriggerFacts): NonNullable<Facets['triggerBridge']> {
  const { maxAttempts, backoff } = retryPolicy;
  return {
    sources: [
      ...(['webhook', 'schedule', 'form'] as const),
      ...(Object.keys(queues).length > 0 ? (['queue'] as const) : []),
      ...(email === undefined ? [] : (['email'] as const)),
      ...(streams === undefined ? [] : (['stream'] as const)),
      ...(Object.keys(changes).length > 0 ? (['change'] as const) : []),
    ],
    dedupEnabled: true,
    retryPolicy: { maxAttempts, backoff },
    deadLetter: { retentionDays: deadLetterRetentionDays },
    ingestion: {
      registrationEndpoint: '/trigger-subscriptions',
      verification: ['webhook-signature', ...(email === undefined ? [] : (['email-dmarc'] as const)), 'form-origin'],
      maxBodyBytes,
    },
  };
}

/** The facts of triggers that the documents state. */
export interface TriggerFacts {
  readonly retryPolicy: TriggerRetryPolicy;
  readonly deadLetterRetentionDays: number;
  readonly maxBodyBytes: number;
  /** The connections of the source `queue`. */
  readonly queues: Readonly<Record<string, unknown>>;
  /** The options of the source `email`. Undefined: the host does not serve it. */
  readonly email?: unknown;
  /** The limits of the source `stream`. Undefined: the host reads none. */
  readonly streams: object | undefined;
  /** The tables of the source `change`. */
  readonly changes: Readonly<Record<string, unknown>>;
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
