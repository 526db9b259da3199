import type { SignatureAlgorithm } from '../ports/subscriptions.ts';
import type { RetryPolicy } from '../webhooks/retry.ts';
import type { CaptureOptions } from './capture-options.ts';

/**
 * The delivery of events. The defaults are in `WEBHOOK_DEFAULTS`.
 *
 * @see Interface: Events, Webhook delivery of events
 */
export interface WebhookOptions {
  /**
   * Whether subscriptions of major 1 retry and dead-letter. Those of major 2 always do. False makes one attempt at each
   * delivery of major 1, and drops those that fail. Default true.
   */
  readonly durable: boolean;
  /**
   * The retries of durable subscriptions. Default: 18 attempts over about 21 hours. The first delay is 1 s; each is twice
   * as long as the one before, up to 6 hours.
   */
  readonly retryPolicy: RetryPolicy;
  /**
   * The time in which an attempt must be answered, from the resolution of the name to the last byte, in ms. Default
   * 5000.
   */
  readonly attemptTimeoutMs: number;
  /** The circuit of best-effort subscriptions. */
  readonly circuit: {
    /** Consecutive failures that open the circuit. Default 4. */
    readonly failureThreshold: number;
    /** The time for which an open circuit admits no attempt, in ms. Default one hour. */
    readonly cooldownMs: number;
    /** Failures within `failureWindowMs` that mark the subscription `failed`. Default 100. */
    readonly failureLimit: number;
    /** In ms. Default seven days. */
    readonly failureWindowMs: number;
  };
  /**
   * The time without a success after which a durable subscription moves to `failed`, in hours: when an attempt fails,
   * and every attempt has failed for this time. 0: never. Default 120.
   */
  readonly failAfterHours: number;
  /** The time for which a dead letter is stored, in days. Default 30. */
  readonly deadLetterRetentionDays: number;
  /** The signature algorithms that subscriptions of major 2 may ask for. Default `v1` and `standard-webhooks-1`. */
  readonly signatureAlgorithms: readonly SignatureAlgorithm[];
  /** The rotation of secrets of `standard-webhooks-1`. */
  readonly secretRotation: {
    /** The time for which a replaced secret still signs, in seconds, from 60 to 604 800. Default 86 400. */
    readonly overlapSeconds: number;
  };
  /**
   * Stores the answers of failing receivers, encrypted, for the owners of their subscriptions: the beginning of the body
   * and a few headers of the last 100 of each subscription. Default: no answer is stored.
   */
  readonly captureAnswers?: Partial<CaptureOptions> | undefined;
  /** Accepts requests of major 1 without `tenantId`, for clients of older documents. Default false. */
  readonly tenantIdOptional: boolean;
  /** The most attempts at a time. */
  readonly concurrency: {
    /** The most attempts of the host. Default 64. */
    readonly total: number;
    /**
     * The most attempts of one tenant while no other tenant has any, at most `total`. The more tenants have attempts
     * under way, the fewer of them each may have: some stay free for a tenant that has none. Default: three quarters of
     * `total`.
     */
    readonly perTenant?: number | undefined;
    /** The most attempts of one subscription. After an attempt that timed out: one, until one ends in time. Default 4. */
    readonly perSubscription: number;
  };
}

const HOUR_MS = 3_600_000;

/**
 * The defaults of `HostOptions.webhooks`: the values of the interface, but for `durable` and `retryPolicy`. Those outlast
 * a receiver that is away for a night.
 *
 * @see Interface: Limits
 */
export const WEBHOOK_DEFAULTS: WebhookOptions = {
  durable: true,
  retryPolicy: { maxAttempts: 18, backoff: 'exponential', delayMs: 1000, maxDelayMs: 6 * HOUR_MS },
  attemptTimeoutMs: 5000,
  circuit: { failureThreshold: 4, cooldownMs: HOUR_MS, failureLimit: 100, failureWindowMs: 7 * 24 * HOUR_MS },
  failAfterHours: 120,
  deadLetterRetentionDays: 30,
  signatureAlgorithms: ['v1', 'standard-webhooks-1'],
  secretRotation: { overlapSeconds: 86_400 },
  tenantIdOptional: false,
  concurrency: { total: 64, perSubscription: 4 },
};

/** The options of `HostOptions.webhooks`: each may be left out, also within a group. */
export type WebhookSettings = {
  readonly [Name in keyof WebhookOptions]?: WebhookOptions[Name] extends
    | RetryPolicy
    | WebhookOptions['circuit' | 'secretRotation' | 'concurrency']
    ? Partial<WebhookOptions[Name]> | undefined
    : WebhookOptions[Name] | undefined;
};

/** Adds the defaults. An option that is undefined has its default, too. */
export function webhookOptions(given: WebhookSettings = {}): WebhookOptions {
  const { retryPolicy, circuit, secretRotation, concurrency } = WEBHOOK_DEFAULTS;
  return {
    ...withDefaults(WEBHOOK_DEFAULTS, given),
    retryPolicy: withDefaults(retryPolicy, given.retryPolicy),
    circuit: withDefaults(circuit, given.circuit),
    secretRotation: withDefaults(secretRotation, given.secretRotation),
    concurrency: withDefaults(concurrency, given.concurrency),
  };
}

function withDefaults<Options extends object>(
  defaults: Options,
  given: { readonly [Name in keyof Options]?: unknown } = {},
): Options {
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
}
