import { z } from 'zod';
import { durationMs } from './config-values.ts';

const retryPolicy = z.strictObject({
  maxAttempts: z.int().min(1).max(100).default(3).describe('Attempts at a delivery, the first one included.'),
  backoff: z
    .enum(['none', 'fixed', 'exponential'])
    .default('fixed')
    .describe('none: retries at once. fixed: always after delayMs. exponential: delayMs doubles with each retry.'),
  delayMs: z.int().min(0).default(1000).describe('Delay before the first retry, in ms.'),
  maxDelayMs: z.int().min(0).default(30_000).describe('Longest delay before a retry, in ms.'),
});

const circuit = z.strictObject({
  failureThreshold: z.int().min(1).default(4).describe('Consecutive failures that open the circuit.'),
  cooldownMs: durationMs.default(3_600_000).describe('Time for which an open circuit admits no attempt, in ms.'),
  failureLimit: z
    .int()
    .min(1)
    .max(10_000)
    .default(100)
    .describe('Failures within failureWindowMs that mark the subscription failed.'),
  failureWindowMs: durationMs.default(604_800_000).describe('Time in which failureLimit counts failures, in ms.'),
});

const concurrency = z.strictObject({
  total: z.int().min(1).default(64).describe('Most attempts at a time, of the host.'),
  perSubscription: z.int().min(1).default(4).describe('Most attempts at a time, of one subscription.'),
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

/** The delivery of events. */
export const webhooks = z
  .strictObject({
    durable: z
      .boolean()
      .default(false)
      .describe('Whether subscriptions of major 1 retry and dead-letter. Those of major 2 always do.'),
    retryPolicy: retryPolicy.prefault({}).describe('Retries of durable subscriptions.'),
    attemptTimeoutMs: durationMs
      .default(5000)
      .describe('Time in which an attempt must be answered, from the resolution of the name to the last byte, in ms.'),
    circuit: circuit.prefault({}).describe('Circuit breaker of best-effort subscriptions.'),
    failAfterHours: z
      .number()
      .min(0)
      .default(120)
      .describe('Time without a success after which a durable subscription moves to failed, in hours. 0: never.'),
    deadLetter: z
      .strictObject({
        retentionDays: z.number().positive().default(30).describe('Time for which a dead letter is stored, in days.'),
      })
      .prefault({})
      .describe('Deliveries whose attempts have all failed.'),
    concurrency: concurrency.prefault({}).describe('Limits of attempts that are under way.'),
    signatureAlgorithms,
    secretRotation: secretRotation.prefault({}).describe('Replacement of the secret of a subscription.'),
    tenantIdOptional: z
      .boolean()
      .default(false)
      .describe('Accepts requests of major 1 without tenantId, for clients of older documents.'),
  })
  .prefault({})
  .describe('Delivery of events to subscriptions.');
