import { z } from 'zod';
import { changes } from './config-changes.ts';
import { email } from './config-email.ts';
import { queues } from './config-queues.ts';
import { durationSeconds } from './config-values.ts';

const rate = (limit: number, of: string) =>
  z
    .strictObject({
      limit: z.int().min(1).default(limit).describe('Most messages in a window.'),
      windowSeconds: durationSeconds.max(86_400).default(60).describe('Length of the window, in seconds.'),
    })
    .prefault({})
    .describe(`Limit of ${of}. Further messages are answered 429.`);

/** Trigger subscriptions: messages of other systems that start runs. */
export const triggers = z.strictObject({
  maxPerTenant: z.int().min(1).max(100_000).default(1000).describe('Most triggers of a tenant, in each mode.'),
  maxBodyBytes: z.int().min(1024).max(16_777_216).default(1_048_576).describe('Largest message, in bytes.'),
  dedupHours: z
    .int()
    .min(24)
    .max(8760)
    .default(24)
    .describe('Time for which a repeated message is recognised, in hours.'),
  deadLetterRetentionDays: z
    .int()
    .min(1)
    .max(3650)
    .default(30)
    .describe('Time for which a message that started no run is stored, in days.'),
  maxWaiting: z.int().min(1).max(1_000_000).default(10_000).describe('Most messages of a trigger that wait.'),
  maxDeadLetters: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(10_000)
    .describe('Most messages of a trigger that started no run. The oldest is deleted with each further one.'),
  failAfter: z
    .int()
    .min(1)
    .max(1000)
    .default(10)
    .describe('Messages in a row whose attempts were exhausted that end a trigger.'),
  secretOverlapSeconds: z
    .int()
    .min(60)
    .max(604_800)
    .default(86_400)
    .describe('Time for which a replaced secret is accepted, in seconds.'),
  perClient: rate(600, 'each client address'),
  perTrigger: rate(1200, 'each trigger, on one host'),
  queues,
  email: email.optional(),
  changes,
  streams: z
    .strictObject({
      maxAtOnce: z.int().min(1).max(10_000).default(100).describe('Most streams that this host reads at once.'),
      maxPerTenant: z
        .int()
        .min(1)
        .max(10_000)
        .default(20)
        .describe('Most streams of a tenant, in each mode, that are read.'),
      idleSeconds: durationSeconds
        .max(86_400)
        .default(90)
        .describe('Longest time without a line of a stream, in seconds. The host then connects again.'),
    })
    .optional()
    .describe('Reading of streams whose messages start runs. Default: absent, and no stream starts runs.'),
});
