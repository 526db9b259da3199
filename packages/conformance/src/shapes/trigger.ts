import { z } from 'zod';
import type { Major } from '../rule.ts';
import { resourceId, time } from './id.ts';

const STATE = z.enum(['active', 'paused', 'failed', 'dead-lettered']);
const SOURCE = z.enum(['queue', 'webhook', 'email', 'form', 'stream', 'change', 'schedule']);
const RETRY_POLICY = z.strictObject({
  maxAttempts: z.int().min(1),
  backoff: z.enum(['none', 'fixed', 'exponential']),
});

const RECORD = (major: Major) => ({
  subscriptionId: resourceId[major],
  source: SOURCE,
  state: STATE,
  dedupEnabled: z.boolean().optional(),
  retryPolicy: RETRY_POLICY.optional(),
  webhookId: z.string().optional(),
  secretFingerprint: z.string().max(32).optional(),
});

const REGISTERED = (major: Major) =>
  z.strictObject({
    subscription: z.strictObject(RECORD(major)),
    binding: z.strictObject({
      ingestUrl: z.url(),
      secretFingerprint: z.string().min(1).max(32),
    }),
    secret: z.string().min(16).optional(),
  });

/** The response to the registration of a trigger of the source `webhook`. The record is closed. */
export const registeredTrigger = { 1: REGISTERED(1), 2: REGISTERED(2) } as const;

/** A trigger as an operator sees it. */
export const triggerView = { 1: z.looseObject(RECORD(1)), 2: z.looseObject(RECORD(2)) } as const;

const LETTER = (major: Major) =>
  z.strictObject({
    subscriptionId: resourceId[major],
    attemptEventId: resourceId[major],
    attempt: z.looseObject({ outcome: z.literal('dead-lettered') }),
    stateChange: z.looseObject({}).optional(),
    reason: z.enum(['verification_failed', 'retries_exhausted']),
    deadLetteredAt: time,
    expiresAt: time,
  });

const PAGE = (major: Major) =>
  z.strictObject({ deliveries: z.array(LETTER(major)), nextCursor: z.string().min(1).max(2048).optional() });

/** A page of dead letters of a trigger. */
export const triggerDeadLetters = { 1: PAGE(1), 2: PAGE(2) } as const;

const TAKEN = (major: Major) =>
  z.looseObject({
    deliveryId: resourceId[major],
    outcome: z.enum(['delivered', 'retrying', 'dead-lettered']),
    repeated: z.boolean(),
    runId: resourceId[major].optional(),
  });

/** The response to the sender of a message. */
export const takenMessage = { 1: TAKEN(1), 2: TAKEN(2) } as const;

/** The members of the discovery record that the interface prints. */
export const triggerBridge: z.ZodType<{ readonly sources: readonly string[] }> = z.looseObject({
  sources: z.array(SOURCE).min(1),
  dedupEnabled: z.boolean(),
  retryPolicy: RETRY_POLICY,
  deadLetter: z.looseObject({ retentionDays: z.number().positive() }),
  ingestion: z.looseObject({
    registrationEndpoint: z.literal('/trigger-subscriptions'),
    verification: z.array(z.enum(['webhook-signature', 'email-dmarc', 'form-origin'])).min(1),
    maxBodyBytes: z.int().min(1),
  }),
});
