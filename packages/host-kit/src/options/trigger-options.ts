import { LIMIT_VALUES } from '../discovery/limit-values.ts';
import type { RequestRate } from '../mounts/trigger-ingest.ts';
import type { ChangeTable } from '../ports/changes.ts';
import type { EmailReader } from '../ports/email.ts';
import type { QueueConnection } from '../ports/queues.ts';
import type { TriggerRetryPolicy } from '../ports/triggers.ts';

/**
 * Trigger subscriptions. The defaults are in `TRIGGER_DEFAULTS`.
 *
 * @see Interface: States and transitions, Durable subscription (trigger bridge)
 */
export interface TriggerOptions {
  /** The most triggers of a tenant, in live and in test mode each. Default 1000. */
  readonly maxPerTenant: number;
  /** The largest message, in bytes. A larger one is answered 413. Default 1 048 576. */
  readonly maxBodyBytes: number;
  /**
   * The retries of a message whose run could not be started because of a fault of the host or its engine, for triggers that
   * bring none. Default: three attempts, 250 ms apart.
   */
  readonly retryPolicy: TriggerRetryPolicy;
  /** The time for which a repeated message is recognised, in hours, at least 24. Default 24. */
  readonly dedupHours: number;
  /** The time for which a message that started no run is stored, in days. Default 30. */
  readonly deadLetterRetentionDays: number;
  /** The most messages of one trigger that wait. Further ones are answered 503. Default 10 000. */
  readonly maxWaiting: number;
  /** The most dead letters of one trigger, at least 1. Beyond it the oldest is deleted with each new one. Default 10 000. */
  readonly maxDeadLetters: number;
  /** The messages in a row whose attempts were exhausted that move a trigger to `failed`. Default 10. */
  readonly failAfter: number;
  /** The time for which a replaced secret is accepted, in seconds. Default 86 400. */
  readonly secretOverlapSeconds: number;
  /** The most messages of one client address. Further ones are answered 429. Default 600 in 60 s. */
  readonly perClient: RequestRate;
  /** The most messages of one trigger on one host. Further ones are answered 429. Default 1200 in 60 s. */
  readonly perTrigger: RequestRate;
  /**
   * The connections of the source `queue`, by the names that triggers use. The host closes them when it stops. Default: none, and the
   * host serves no queue.
   */
  readonly queues: Readonly<Record<string, QueueConnection>>;
  /** The source `email`. Default: none, and the host takes no message of a relay. */
  readonly email?: EmailOptions;
  /**
   * The limits of the source `stream`, whose URLs the host reads through its egress guard. `{}` takes every default. Default:
   * `undefined`, and the host reads no stream.
   */
  readonly streams: Partial<StreamReadingOptions> | undefined;
  /**
   * The tables of the source `change`, by the names that triggers use. The host closes them when it stops. Default: none, and the host
   * reads no table.
   */
  readonly changes: Readonly<Record<string, ChangeTable>>;
}

/** The source `email`. The defaults are in `EMAIL_DEFAULTS`. */
export interface EmailOptions {
  /** Verifies and reads messages: `emailReader` of `@svc/host-kit/email`. */
  readonly reader: EmailReader;
  /** The most attachments of a message. Default 10. */
  readonly maxAttachments?: number;
  /** The size of the largest attachment, in bytes. Default 524 288. */
  readonly maxAttachmentBytes?: number;
  /** The size of all attachments of a message, in bytes. Default 786 432, which a message of `maxBodyBytes` can have. */
  readonly maxAttachmentsBytes?: number;
}

/** The defaults of `TriggerOptions.email`. */
export const EMAIL_DEFAULTS: Required<Omit<EmailOptions, 'reader'>> = {
  maxAttachments: 10,
  maxAttachmentBytes: 524_288,
  maxAttachmentsBytes: 786_432,
};

/** The limits of the source `stream`. The defaults are in `STREAM_READING_DEFAULTS`. */
export interface StreamReadingOptions {
  /** The most streams that one host reads at once. Hosts that share a store share the streams. Default 100. */
  readonly maxAtOnce: number;
  /** The most streams of a tenant, in live and in test mode each, that are read: the oldest ones. Default 20. */
  readonly maxPerTenant: number;
  /** The longest time without a complete line, in seconds. The host then connects again. Default 90. */
  readonly idleSeconds: number;
}

/** The defaults of `TriggerOptions.streams`. */
export const STREAM_READING_DEFAULTS: StreamReadingOptions = { maxAtOnce: 100, maxPerTenant: 20, idleSeconds: 90 };

/** The defaults of `FeatureOptions.triggers`: the values of the interface. @see Interface: Events, 4; Limits */
export const TRIGGER_DEFAULTS: TriggerOptions = {
  maxPerTenant: 1000,
  maxBodyBytes: LIMIT_VALUES['triggerBridge.ingestion.maxBodyBytes'],
  retryPolicy: { maxAttempts: 3, backoff: 'fixed' },
  dedupHours: 24,
  deadLetterRetentionDays: LIMIT_VALUES['deadLetter.retentionDays'],
  maxWaiting: 10_000,
  maxDeadLetters: 10_000,
  failAfter: 10,
  secretOverlapSeconds: 86_400,
  perClient: { limit: 600, windowSeconds: 60 },
  perTrigger: { limit: 1200, windowSeconds: 60 },
  queues: {},
  streams: undefined,
  changes: {},
};
