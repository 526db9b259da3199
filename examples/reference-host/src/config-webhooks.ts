import { z } from 'zod';
import { durationMs } from './config-values.ts';

/** A week. */
const LONGEST_DELAY_MS = 604_800_000;
/** Five minutes: an attempt holds a place of all others. */
const LONGEST_ATTEMPT_MS = 300_000;
/** Ninety days. */
const LONGEST_WINDOW_MS = 7_776_000_000;

const retryPolicy = z.strictObject({
  maxAttempts: z.int().min(1).max(100).default(3).describe('Attempts at a delivery, the first one included.'),
  backoff: z
    .enum(['none', 'fixed', 'exponential'])
    .default('fixed')
    .describe('none: retries at once. fixed: always after delayMs. exponential: delayMs doubles with each retry.'),
  delayMs: z.int().min(0).max(LONGEST_DELAY_MS).default(1000).describe('Delay before the first retry, in ms.'),
  maxDelayMs: z.int().min(0).max(LONGEST_DELAY_MS).default(30_000).describe('Longest delay before a retry, in ms.'),
});

const circuit = z.strictObject({
  failureThreshold: z.int().min(1).default(4).describe('Consecutive failures that open the circuit.'),
  cooldownMs: durationMs
    .max(LONGEST_WINDOW_MS)
    .default(3_600_000)
    .describe('Time for which an open circuit admits no attempt, in ms.'),
  failureLimit: z
    .int()
    .min(1)
    .max(10_000)
    .default(100)
    .describe('Failures within failureWindowMs that mark the subscription failed.'),
  failureWindowMs: durationMs
    .max(LONGEST_WINDOW_MS)
    .default(604_800_000)
    .describe('Time in which failureLimit counts failures, in ms.'),
});

const concurrency = z
  .strictObject({
    total: z.int().min(1).default(64).describe('Most attempts at a time, of the host.'),
    perTenant: z
      .int()
      .min(1)
      .optional()
      .describe(
        'Most attempts at a time, of one tenant while no other tenant has any. At most total. Left out: three quarters of total.',
      ),
    perSubscription: z.int().min(1).default(4).describe('Most attempts at a time, of one subscription.'),
  })
  .refine(({ total, perTenant = 1 }) => perTenant <= total, {
    path: ['perTenant'],
    message: 'is greater than total. Set it to at most total, or leave it out.',
  });

const signatureAlgorithms = z
  .array(z.enum(['v1', 'standard-webhooks-1']))
  .refine((algorithms) => algorithms.includes('v1'), 'must contain v1. Add "v1".')
  .refine(
    (algorithms) => new Set(algorithms).size === algorithms.length,
    'must not repeat an entry. Remove the second one.',
  )
  .default(['v1', 'standard-webhooks-1'])
  .describe('Signature algorithms that subscriptions of major 2 may ask for. v1 must be one of them.');

const secretRotation = z.strictObject({
  overlapSeconds: z
    .int()
    .min(60)
    .max(604_800)
    .default(86_400)
    .describe('Time for which a replaced secret still signs, in seconds.'),
});

const captureAnswers = z
  .strictObject({
    maxBytes: z.int().min(0).max(16_384).default(1024).describe('Most bytes of a body that are stored.'),
    retentionHours: z.int().min(1).max(720).default(72).describe('Time for which an answer is stored, in hours.'),
  })
  .optional()
  .describe(
    'Stores the answers of failing receivers, encrypted, for the owners of their subscriptions. Left out: no answer is stored.',
  );

/** The delivery of events. */
export const webhooks = z
  .strictObject({
    durable: z
      .boolean()
      .default(false)
      .describe('Whether subscriptions of major 1 retry and dead-letter. Those of major 2 always do.'),
    retryPolicy: retryPolicy.prefault({}).describe('Retries of durable subscriptions.'),
    attemptTimeoutMs: durationMs
      .max(LONGEST_ATTEMPT_MS)
      .default(5000)
      .describe('Time in which an attempt must be answered, from the resolution of the name to the last byte, in ms.'),
    circuit: circuit.prefault({}).describe('Circuit breaker of best-effort subscriptions.'),
    failAfterHours: z
      .number()
      .min(0)
      .max(8760)
      .default(120)
      .describe('Time without a success after which a durable subscription moves to failed, in hours. 0: never.'),
    deadLetter: z
      .strictObject({
        retentionDays: z
          .number()
          .positive()
          .max(3650)
          .default(30)
          .describe('Time for which a dead letter is stored, in days.'),
      })
      .prefault({})
      .describe('Deliveries whose attempts have all failed.'),
    concurrency: concurrency.prefault({}).describe('Limits of attempts that are under way.'),
    signatureAlgorithms,
    secretRotation: secretRotation.prefault({}).describe('Replacement of the secret of a subscription.'),
    captureAnswers,
    tenantIdOptional: z
      .boolean()
      .default(false)
      .describe('Accepts requests of major 1 without tenantId, for clients of older documents.'),
  })
  .prefault({})
  .describe('Delivery of events to subscriptions.');
